#!/usr/bin/env python3
"""Writes a Hugging Face directory of a Qwen3 model as a GGUF file in F32, without torch.

    python to_gguf.py MODEL_DIR OUT.gguf

Every weight keeps its value (bfloat16 and float16 are widened), so a server on the file must give the reference
runtime's tokens. `generation_config.json` is left out on purpose: sampling values in a GGUF become the server's
defaults, and a suite should see the defaults that the server has by itself. What llama.cpp would read differently is
refused with the reason.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np

# llama.cpp knows a pre-tokenizer by name only; src/llama-vocab.cpp has the patterns. `qwen2` splits every digit off.
PRE_TOKENIZERS = {
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+": "qwen2",
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt-2",
}
GPT2_PATTERN = list(PRE_TOKENIZERS)[1]

# Names of safetensors and of GGUF for the tensors of one layer.
LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


class Unknown(Exception):
    """The directory holds something that this converter cannot write faithfully."""


def read_json(path, needed=True):
    """The parsed file; `{}` for an absent one that is not needed."""
    if not path.is_file():
        if needed:
            raise Unknown(f"{path} is missing")
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Unknown(f"{path} is not JSON: {error}") from error


def expect(value, allowed, what):
    """Refuses a value that is not among `allowed`."""
    if value not in allowed:
        raise Unknown(f"{what} is {value!r}; known: {', '.join(map(repr, allowed))}")


def read_tensors(directory):
    """Yields (name, array in float32) for all `*.safetensors` of a directory, in the shapes of the file."""
    files = sorted(directory.glob("*.safetensors"))
    if not files:
        raise Unknown(f"{directory} has no *.safetensors")
    for path in files:
        raw = np.fromfile(path, np.uint8)
        start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
        try:
            header = json.loads(raw[8:start].tobytes())
        except ValueError as error:
            raise Unknown(f"{path} is not a safetensors file") from error
        for name, tensor in header.items():
            if name == "__metadata__":
                continue
            begin, end = tensor["data_offsets"]
            data = raw[start + begin : start + end]
            if len(data) != end - begin:
                raise Unknown(f"{path} ends inside {name}; it is incomplete")
            if tensor["dtype"] == "BF16":  # The upper half of a float32, which numpy has no type for.
                array = (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
            elif tensor["dtype"] in ("F16", "F32"):
                array = data.view("<f2" if tensor["dtype"] == "F16" else "<f4").astype(np.float32)
            else:
                raise Unknown(f"{path}: {name} is {tensor['dtype']}; known: F32, F16, BF16")
            yield name, array.reshape(tensor["shape"])


def gguf_name(name):
    """The GGUF name of a tensor (llama.cpp, `MODEL_ARCH.QWEN3`)."""
    fixed = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if name in fixed:
        return fixed[name]
    prefix, _, rest = name.removeprefix("model.layers.").partition(".")
    part = rest.removesuffix(".weight")
    if not name.startswith("model.layers.") or not prefix.isdigit() or part not in LAYER or part == rest:
        raise Unknown(f"tensor {name} has no place in a Qwen3 model")
    return f"blk.{prefix}.{LAYER[part]}.weight"


def write_architecture(out, config):
    """Sizes, rotary base and epsilon from config.json."""
    expect(config.get("model_type"), ["qwen3"], "config.json: model_type")
    expect(config.get("hidden_act"), ["silu"], "config.json: hidden_act")
    expect(config.get("attention_bias", False), [False], "config.json: attention_bias")
    expect(config.get("use_sliding_window", False), [False], "config.json: use_sliding_window")
    expect(config.get("quantization_config"), [None], "config.json: quantization_config")
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    expect(rope.get("rope_type", rope.get("type", "default")), ["default"], "config.json: the RoPE type")
    base = rope.get("rope_theta", config.get("rope_theta"))
    if base is None:
        raise Unknown("config.json names no rope_theta")
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    head = config.get("head_dim") or hidden // heads
    out.add_block_count(config["num_hidden_layers"])
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(hidden)
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(heads)
    out.add_head_count_kv(config.get("num_key_value_heads") or heads)
    out.add_layer_norm_rms_eps(config["rms_norm_eps"])
    out.add_vocab_size(config["vocab_size"])
    out.add_key_length(head)
    out.add_value_length(head)
    out.add_rope_freq_base(base)
    out.add_file_type(gguf.LlamaFileType.ALL_F32)


def pre_tokenizer(tokenizer):
    """llama.cpp's name for what splits the text before the merges."""
    step = tokenizer.get("pre_tokenizer") or {}
    steps = step.get("pretokenizers", [step])
    patterns = [s.get("pattern", {}).get("Regex") for s in steps if s.get("type") == "Split"]
    levels = [s for s in steps if s.get("type") == "ByteLevel"]
    if len(levels) != 1 or len(patterns) + 1 != len(steps) or levels[0].get("add_prefix_space"):
        raise Unknown("tokenizer.json: the pre-tokenizer is not a byte level one without a prefix space")
    if levels[0].get("use_regex", True):
        patterns.append(GPT2_PATTERN)
    if len(patterns) != 1 or patterns[0] not in PRE_TOKENIZERS:
        raise Unknown(f"tokenizer.json: no llama.cpp name is known for the split pattern {patterns}")
    return PRE_TOKENIZERS[patterns[0]]


def added_to_every_text(tokenizer):
    """Token names that the post-processor puts around each text."""
    step = tokenizer.get("post_processor") or {}
    steps = step.get("processors", [step])
    return [p["SpecialToken"]["id"] for s in steps for p in s.get("single", []) if "SpecialToken" in p]


def write_tokenizer(out, directory, config):
    """Vocabulary, token types, merges, special ids and the chat template."""
    tokenizer = read_json(directory / "tokenizer.json")
    settings = read_json(directory / "tokenizer_config.json", needed=False)
    model = tokenizer["model"]
    expect(model.get("type"), ["BPE"], "tokenizer.json: model.type")
    for flag in ("byte_fallback", "fuse_unk", "ignore_merges", "unk_token", "dropout"):
        expect(model.get(flag) or None, [None], f"tokenizer.json: model.{flag}")
    expect((tokenizer.get("normalizer") or {}).get("type"), [None, "NFC"], "tokenizer.json: normalizer")
    if tokenizer.get("normalizer"):
        print("note: llama.cpp applies no NFC; text in another form gets other ids", file=sys.stderr)
    expect(added_to_every_text(tokenizer), [[]], "tokenizer.json: the tokens around every text")

    vocabulary = dict(model["vocab"])
    kinds = dict.fromkeys(vocabulary.values(), gguf.TokenType.NORMAL)
    for token in tokenizer.get("added_tokens", []):
        if token.get("lstrip") or token.get("rstrip") or token.get("single_word"):
            raise Unknown(f"tokenizer.json: {token['content']!r} strips or needs word bounds, which llama.cpp does not")
        vocabulary[token["content"]] = token["id"]
        # A control token is text only to a request that asks for special tokens, a user-defined one always is.
        kinds[token["id"]] = gguf.TokenType.CONTROL if token.get("special") else gguf.TokenType.USER_DEFINED
    names = {number: text for text, number in vocabulary.items()}
    if max(names) >= config["vocab_size"] or len(names) != len(vocabulary):
        raise Unknown("tokenizer.json: ids are used twice or exceed vocab_size of config.json")
    numbers = range(config["vocab_size"])
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre(pre_tokenizer(tokenizer))
    out.add_token_list([names.get(n, f"[PAD{n}]") for n in numbers])
    out.add_token_types([kinds.get(n, gguf.TokenType.UNUSED) for n in numbers])
    out.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in model["merges"]])
    write_special_ids(out, vocabulary, settings, config)
    template = directory / "chat_template.jinja"
    text = template.read_text(encoding="utf-8") if template.is_file() else settings.get("chat_template")
    if isinstance(text, str):
        out.add_chat_template(text)
    elif text is not None:
        raise Unknown("tokenizer_config.json: several chat templates; put the one to use into chat_template.jinja")


def write_special_ids(out, vocabulary, settings, config):
    """Begin, end and padding ids: the tokenizer's word counts before the configuration's.

    llama.cpp ends a generation at its end-of-generation set, not at the end id alone. It adds every token to that set whose
    text it knows (`<|im_end|>`, `<|endoftext|>`, `</s>`, ...), so further ids of `eos_token_id` need no key of their own.
    """
    end = special_id("eos", vocabulary, settings, config)
    if end is None:
        raise Unknown("neither tokenizer_config.json nor config.json names an end token")
    out.add_eos_token_id(end)
    out.add_eot_token_id(end)
    for kind, write in (("bos", out.add_bos_token_id), ("pad", out.add_pad_token_id)):
        number = special_id(kind, vocabulary, settings, config)
        if number is not None:
            write(number)
    # The tokenizers library adds nothing here (see `added_to_every_text`), whatever the default of llama.cpp is.
    out.add_add_bos_token(False)
    out.add_add_eos_token(False)


def special_id(kind, vocabulary, settings, config):
    """The id of the bos, eos or pad token, or None."""
    token = settings.get(f"{kind}_token")
    text = token.get("content") if isinstance(token, dict) else token
    if text is not None:
        if text not in vocabulary:
            raise Unknown(f"tokenizer_config.json: {kind}_token {text!r} is not in the vocabulary")
        return vocabulary[text]
    number = config.get(f"{kind}_token_id")
    return number[0] if isinstance(number, list) and number else number


def convert(directory, target):
    """Writes the file; it appears under its name only when it is whole."""
    config = read_json(directory / "config.json")
    partial = target.with_name(target.name + ".part")
    out = gguf.GGUFWriter(partial, "qwen3")
    out.add_name(directory.resolve().name)
    write_architecture(out, config)
    write_tokenizer(out, directory, config)
    tied, names = config.get("tie_word_embeddings", False), set()
    for name, array in read_tensors(directory):
        if tied and name == "lm_head.weight":
            continue
        if gguf_name(name) in names:
            raise Unknown(f"two *.safetensors hold {name}")
        names.add(gguf_name(name))
        out.add_tensor(gguf_name(name), array)
    wanted = {"token_embd.weight", "output_norm.weight"} | (set() if tied else {"output.weight"})
    wanted |= {f"blk.{n}.{part}.weight" for n in range(config["num_hidden_layers"]) for part in LAYER.values()}
    if names != wanted:
        raise Unknown(f"the weights do not fit config.json: missing or extra {sorted(names ^ wanted)[:6]}")
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    partial.replace(target)
    print(f"{target}: {len(names)} tensors, {target.stat().st_size:,} bytes")


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: {Path(sys.argv[0]).name} MODEL_DIR OUT.gguf")
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except (Unknown, OSError) as error:
        sys.exit(f"to_gguf.py: {sys.argv[1]}: {error}")
    except KeyError as error:
        sys.exit(f"to_gguf.py: {sys.argv[1]}: a file names no {error}")


if __name__ == "__main__":
    main()
