#!/usr/bin/env bash
# Renews the hashed requirement files. They name no registry, so that any mirror can serve them.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/uv_environment.sh

compile() {
  local output=$1
  shift
  .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
    --output-file "requirements/$output" "$@" >/dev/null
  echo "lock: requirements/$output"
}

compile bootstrap.txt requirements/bootstrap.in "$@"
compile runtime.txt --constraint requirements/bootstrap.txt pyproject.toml "$@"
compile dev.txt requirements/dev.in "$@"
compile node.txt requirements/node.in "$@"
compile benchmark.txt requirements/benchmark.in "$@"
