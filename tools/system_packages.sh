#!/usr/bin/env bash
# The programs that the end-to-end tests drive. As root it installs Debian's packages for those that are absent;
# otherwise it lists them, and the tests that need one are skipped (under CI=true such a skip is a failure).
set -euo pipefail

missing=()
need() { # need PACKAGE COMMAND-OR-GLOB...
  local package=$1 program
  shift
  for program in "$@"; do
    if command -v "$program" >/dev/null || compgen -G "$program" >/dev/null; then return; fi
  done
  missing+=("$package")
}

need bubblewrap bwrap
need chromium chromium
need git git
need postgresql postgres '/usr/lib/postgresql/*/bin/postgres'
need procps pgrep
need ripgrep rg
need tmux tmux

if [ ${#missing[@]} = 0 ]; then exit; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "system: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
else
  echo "system: missing: ${missing[*]}"
  echo "  The tests that need them are skipped. To run those too: sudo apt-get install ${missing[*]}"
fi
