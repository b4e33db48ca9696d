"""Checks what runs of `specs/` on llama.cpp saw, against a run in process.

    python seen.py WORK differences.tsv

WORK holds evidence folders and JSON reports named in-process, pinned, defaults and real; differences.tsv lists the cases
that llama.cpp answers otherwise than the accepted snapshots say, with the first boundary that differs.
"""

import glob
import json
import sys

work, table = sys.argv[1:3]


def exchanges(name):
    """The exchanges of a run by case, turn and number."""
    found = {}
    (path,) = glob.glob(f"{work}/{name}/*/evidence.jsonl")
    for line in open(path, encoding="utf-8"):
        record = json.loads(line).get("exchange")
        if record:
            seen = record["seen"]
            found[record["case"], record["run"], record.get("twin", False), seen["turn"]] = seen
    return found


def prompt_ids(seen):
    return [token["id"] for token in seen["input"]["seen"]["tokens"]["seen"]]


def output_ids(seen):
    return [token["id"] for token in seen["generation"]["seen"]["tokens"]["seen"]]


def verdicts(name):
    """First differing boundary, or the status where there is none, of every case that did not simply pass."""
    found = {}
    for line in open(f"{work}/{name}.jsonl", encoding="utf-8"):
        event = json.loads(line)
        if event["event"] == "case" and event["status"] not in ("passed", "known_failure"):
            found[event["id"]] = event["boundary"] or event["status"]
    return found


# Exactly the known differences of a server that leaves nothing open.
known = dict(line.split("\t")[:2] for line in open(table, encoding="utf-8").read().splitlines() if line and line[0] != "#")
actual = verdicts("pinned")
assert actual == known, f"only now: {actual.items() - known.items()}; no more: {known.items() - actual.items()}"
print(f"pinned: {len(known)} cases differ, each first at the boundary in {table.rsplit('/', 1)[-1]}")

# Prompt ids are seen everywhere and equal our own rendering; greedy output ids equal those in process.
reference, pinned = exchanges("in-process"), exchanges("pinned")
own = same_prompt = same_output = 0
for key, seen in pinned.items():
    own += seen["input"]["seen"]["rung"] == "applied template, tokenized, equal to our own rendering"
    if key in reference and key[0] not in known:
        assert prompt_ids(seen) == prompt_ids(reference[key]), key
        same_prompt += 1
        if seen["request"]["settings"].get("temperature") == 0:
            assert output_ids(seen) == output_ids(reference[key]), key
            same_output += 1
different = [key[0] for key, seen in pinned.items() if "rendered" in seen["input"]["seen"]]
assert set(different) == {"stopping/sampling.prefill"}, different
assert own == len(pinned) - len(different) and same_prompt > 60 and same_output > 60
print(f"pinned: {own} of {len(pinned)} prompts are our own rendering, the other is a continued message; {same_output} greedy outputs equal those in process, token by token")

# What a spec leaves open is the server's own default, and said so.
(seen,) = [s for key, s in exchanges("defaults").items() if key[0] == "stopping/sampling.defaults_are_not_greedy"]
settings = {setting["name"]: setting["resolved"].get("seen") for setting in seen["settings"]["seen"]}
assert (settings["temperature"], settings["top_k"]) == (0.8, 40), settings
assert settings["min_tokens"] is None and settings["eos_token_ids"] is None, settings
first = list(verdicts("defaults").values())
assert first.count("input") >= 15, first
print(f"defaults: temperature 0.8 and top_k 40 are in force; {first.count('input')} cases differ first at input, where the server opens a think block")

# Another model, of which only the server has the tokenizer: ids are seen all the same.
real = exchanges("real")
for key, seen in real.items():
    assert prompt_ids(seen) and output_ids(seen), key
print(f"real: prompt and output ids of all {len(real)} exchanges were seen")
