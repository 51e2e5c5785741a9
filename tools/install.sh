#!/usr/bin/env bash
# Installs locked requirement files into .venv, every archive checked against its hash.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/uv_environment.sh

for lock in "$@"; do
  echo "install: $lock"
  .venv/bin/uv pip install --quiet --python .venv/bin/python --compile-bytecode --require-hashes -r "$lock"
done
