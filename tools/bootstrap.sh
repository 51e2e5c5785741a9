#!/usr/bin/env bash
# Makes .venv and puts the pinned uv and build backend into it, from any Python 3.11+ and any pip that can be had.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PYTHONHOME PYTHONPATH

new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
lock=requirements/bootstrap.txt
pip_options=(--quiet --disable-pip-version-check --no-input)

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.11 python3 python3.12 python3.13}; do
    if "$candidate" -c "$new_enough" 2>/dev/null; then
      # The real program, not a shim in front of it: a shim costs 100 ms at every start.
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  echo "bootstrap: no Python 3.11 or newer found (looked for ${PYTHON:-python3.11, python3, python3.12, python3.13})." >&2
  echo "  Install one (Debian 12: apt-get install python3 python3-venv), or name it: make PYTHON=/path/to/python3.11" >&2
  return 1
}

with_ensurepip() {
  "$python" -c 'import ensurepip' 2>/dev/null && "$python" -m venv --clear .venv &&
    .venv/bin/python -m pip install "${pip_options[@]}" --require-hashes -r "$lock"
}

with_pip_of_the_system() {
  "$python" -m pip --version >/dev/null 2>&1 && "$python" -m venv --clear --without-pip .venv &&
    "$python" -m pip --python .venv/bin/python install "${pip_options[@]}" --require-hashes -r "$lock"
}

with_virtualenv() {
  command -v virtualenv >/dev/null && virtualenv --quiet --clear --python "$python" .venv &&
    .venv/bin/python -m pip install "${pip_options[@]}" --require-hashes -r "$lock"
}

with_uv() {
  command -v uv >/dev/null && uv venv --quiet --clear --python "$python" .venv && source tools/uv_environment.sh &&
    uv pip install --quiet --python .venv/bin/python --require-hashes -r "$lock"
}

with_debian_package() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  echo "bootstrap: $python brings no pip; installing Debian's python3-venv"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv ca-certificates >/dev/null && with_ensurepip
}

python=$(find_python)
if .venv/bin/python -c "$new_enough" 2>/dev/null && .venv/bin/python -m pip --version >/dev/null 2>&1; then
  # A sound .venv stays: others may be running from it.
  .venv/bin/python -m pip install "${pip_options[@]}" --require-hashes -r "$lock" && exit
fi
echo "bootstrap: making .venv with $python"
with_ensurepip || with_pip_of_the_system || with_virtualenv || with_uv || with_debian_package || {
  echo "bootstrap: .venv could not be made with $python: see any message above." >&2
  echo "  If pip or ensurepip is missing (Debian 12): apt-get install python3-venv, then run make again." >&2
  exit 1
}
