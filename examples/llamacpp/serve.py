#!/usr/bin/env python3
"""Serves a GGUF file over HTTP on 127.0.0.1 with llama.cpp's own server (the `xllamacpp` wheel).

    python serve.py MODEL.gguf PORT [--ctx N] [--parallel N] [--alias NAME] [--template FILE] [--key-env NAME]
                    [--template-kwargs JSON] [--exact]

Prints one line when it listens and ends on SIGTERM or SIGINT. Everything that is not an option keeps llama.cpp's default.

One of those defaults changes prompts: with a template that knows `enable_thinking`, llama.cpp passes `true` to requests
that do not mention it. `--template-kwargs '{"enable_thinking": null}'` leaves the choice to the template, as transformers
does. Another one rounds: the cache of keys and values is float16. On a float32 file, logarithms of probabilities then differ
from the reference by 1e-3 for likely tokens and by 0.1 for unlikely ones; with `--exact` by less than 1e-4.
"""

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(description="Serve a GGUF file on 127.0.0.1.")
    parser.add_argument("model", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--ctx", type=int, default=4096, metavar="N", help="tokens of context, shared by the slots")
    parser.add_argument("--parallel", type=int, default=1, metavar="N", help="slots, that is requests at a time")
    parser.add_argument("--alias", metavar="NAME", help="name of the model in /v1/models; default: the file's stem")
    parser.add_argument("--template", type=Path, metavar="FILE", help="chat template instead of the file's own")
    parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the API key to demand")
    parser.add_argument("--template-kwargs", type=json_object, default={}, metavar="JSON", help="template variables")
    parser.add_argument("--exact", action="store_true", help="float32 key-value cache and no flash attention")
    return parser.parse_args()


def json_object(text):
    """A JSON object, each value as JSON text, the form in which llama.cpp takes template variables."""
    value = json.loads(text)  # A ValueError becomes argparse's message.
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{text} is not a JSON object")
    return {name: json.dumps(item) for name, item in value.items()}


def parameters(options, llama):
    """The server's parameters. A bad option ends the program with a sentence."""
    if not options.model.is_file():
        sys.exit(f"serve.py: {options.model} is not a file")
    p = llama.CommonParams()
    p.model.path = str(options.model)
    p.model_alias = {options.alias or options.model.stem}
    p.hostnames = ["127.0.0.1"]
    p.port = options.port
    p.n_ctx = options.ctx
    p.n_parallel = options.parallel
    # One thread: llama.cpp's threads spin at every barrier, so on a shared machine more of them are slower. It also keeps
    # the order of additions, and with it the logits, the same from run to run.
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
    p.default_template_kwargs = options.template_kwargs
    if options.exact:
        p.cache_type_k = p.cache_type_v = llama.ggml_type.GGML_TYPE_F32
        p.flash_attn_type = llama.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    p.endpoint_props = p.endpoint_slots = p.endpoint_metrics = True
    if options.template:
        try:
            p.chat_template = options.template.read_text(encoding="utf-8")
        except OSError as error:
            sys.exit(f"serve.py: {options.template}: {error.strerror}")
    if options.key_env:
        key = os.environ.get(options.key_env)
        if not key:
            sys.exit(f"serve.py: the environment variable {options.key_env} is not set")
        p.api_keys = [key]
    return p


def main():
    options = arguments()
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end.set())
    import xllamacpp  # Late, so that a wrong option is answered without loading the library.

    try:
        server = xllamacpp.Server(parameters(options, xllamacpp))
    except RuntimeError as error:
        sys.exit(f"serve.py: {options.model}: {error}")
    print(f"listening on {server.listening_address}", flush=True)
    # A wait with a limit, because a signal does not wake one without.
    while not end.wait(0.5):
        pass


if __name__ == "__main__":
    main()
