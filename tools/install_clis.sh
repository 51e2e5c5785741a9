#!/usr/bin/env bash
# Installs the coding agents of tools/cli_versions.txt into .tools/clis/NAME, at exactly those versions.
#   tools/install_clis.sh                    all of them; those already there cost nothing
#   tools/install_clis.sh codex gemini       only these
#   tools/install_clis.sh --check [NAME...]  install nothing; exit 1 if one is missing, and say which
# Not `npm ci`: a lock would name packages of other platforms, which not every registry carries.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.tools/bin:$PATH"
versions=tools/cli_versions.txt
target=.tools/clis
node_at_least=20
npm_seconds=600

check_only=false
if [ "${1:-}" = --check ]; then
  check_only=true
  shift
fi

known() { sed -e 's/#.*//' "$versions" | awk 'NF { print $1 }'; }
package_of() { sed -e 's/#.*//' "$versions" | awk -v name="$1" '$1 == name { print $2 "@" $3 }'; }
installed() { [ "$(cat "$target/$1/installed" 2>/dev/null)" = "$(package_of "$1")" ]; }

node_is_new_enough() {
  command -v npm >/dev/null && node -e "process.exit(parseInt(process.versions.node) < $node_at_least ? 1 : 0)" 2>/dev/null
}

install() {
  local name=$1 package partial="$target/.$1.partial"
  package=$(package_of "$name")
  echo "install_clis: $package"
  rm -rf "$partial"
  mkdir -p "$partial"
  echo '{"private": true}' >"$partial/package.json"
  timeout "$npm_seconds" npm install --prefix "$partial" --no-package-lock --no-audit --no-fund \
    --loglevel=error --no-progress "$package" >"$target/$name.log" 2>&1 || {
    tail -n 20 "$target/$name.log" >&2
    echo "install_clis: npm could not install $package; the whole output is in $target/$name.log" >&2
    return 1
  }
  # The stamp goes in before the rename, so a broken installation never looks like a whole one.
  echo "$package" >"$partial/installed"
  rm -rf "${target:?}/$name"
  mv "$partial" "$target/$name"
}

names=("$@")
if [ ${#names[@]} -eq 0 ]; then mapfile -t names < <(known); fi
missing=()
for name in "${names[@]}"; do
  if [ -z "$(package_of "$name")" ]; then
    echo "install_clis: no CLI is called '$name'; $versions knows: $(known | xargs)" >&2
    exit 2
  fi
  installed "$name" || missing+=("$name")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
if $check_only; then
  echo "install_clis: missing in $target: ${missing[*]}; run: tools/install_clis.sh ${missing[*]}" >&2
  exit 1
fi

mkdir -p "$target"
if command -v flock >/dev/null; then
  exec 9>"$target/.lock"
  flock --wait "$npm_seconds" 9 || { echo "install_clis: another installation holds $target/.lock" >&2; exit 1; }
fi
if ! node_is_new_enough; then
  tools/install_node.sh
  hash -r # else this shell goes on calling the node that it found before
fi
node_is_new_enough || {
  echo "install_clis: Node $node_at_least or newer with npm is needed and not on PATH (found: $(node --version 2>&1 || true))." >&2
  exit 1
}
for name in "${missing[@]}"; do
  installed "$name" || install "$name"
done
