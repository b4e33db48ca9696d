#!/usr/bin/env bash
# Serves a model directory with vLLM on 127.0.0.1, in float32, and says when it answers.
#
#   bash examples/vllm/serve.sh VENV_DIR MODEL_DIR PORT [further flags of `vllm serve`]
#
# The name of the model is that of its directory. Stays in the foreground; SIGTERM or Ctrl-C ends the server.
#
# vLLM hands a template that loops over `content` every text as a list of parts. A list that holds an empty text is not
# empty, so a template that asks `if message.content` renders an assistant message of tool calls alone differently:
# `--chat-template-content-format string` hands texts over as texts.
set -euo pipefail

[ $# -ge 3 ] || { echo "usage: serve.sh VENV_DIR MODEL_DIR PORT [VLLM_FLAG...]" >&2; exit 2; }
venv=$1 model=${2%/} port=$3
shift 3
[ -x "$venv/bin/vllm" ] || { echo "serve.sh: $venv has no vllm; run install.sh first" >&2; exit 2; }
[ -f "$model/config.json" ] || { echo "serve.sh: $model has no config.json" >&2; exit 2; }
wait_s=${WAIT_S:-300}

export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 OMP_NUM_THREADS=1
export VLLM_CPU_KVCACHE_SPACE=${VLLM_CPU_KVCACHE_SPACE:-1} # GiB
export PATH="$venv/bin:$PATH"                               # the build tools that the engine looks for

# --enable-scale-out opens /v1/chat/completions/render, which shows prompt ids and settings before a token is generated.
"$venv/bin/vllm" serve "$model" --served-model-name "$(basename "$model")" --host 127.0.0.1 --port "$port" \
  --dtype float32 --max-model-len "${MAX_MODEL_LEN:-2048}" --max-num-seqs 4 --enforce-eager \
  --enable-auto-tool-choice --tool-call-parser hermes --enable-scale-out "$@" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

healthy() { python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/health', timeout=2)" 2>/dev/null; }
for ((second = 0; second < wait_s; second++)); do
  kill -0 "$server" 2>/dev/null || { echo "serve.sh: vLLM ended before it answered" >&2; exit 1; }
  if healthy; then
    echo "listening on http://127.0.0.1:$port"
    wait "$server"
    exit
  fi
  sleep 1 & wait $! # so that a signal is answered at once
done
echo "serve.sh: no answer on port $port within $wait_s s" >&2
exit 1
