#!/usr/bin/env bash
# Runs specs/ against a served vLLM (serve.sh) and keeps what it answered as a recording.
#
#   bash examples/vllm/record.sh EVALSUITE_BINARY RECORDING_DIR
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: record.sh EVALSUITE_BINARY RECORDING_DIR" >&2; exit 2; }
cd "$(dirname "$0")"
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
"$1" run specs --target vllm --evidence "$kept"
mkdir -p "$2"
cp "$kept"/*/manifest.json "$kept"/*/evidence.jsonl "$2"/
chmod 644 "$2"/*
# Where this machine keeps the repository says nothing.
sed -i -e "s#$(cd ../.. && pwd)/##" -e "s#\"$kept\"#\"evidence\"#" "$2/manifest.json"
