# Sourced before uv runs: makes uv see the certificates and the mirror that pip and the system are set up for.
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
  export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}"
fi
if [ -z "${UV_DEFAULT_INDEX:-}" ]; then
  mirror=${PIP_INDEX_URL:-$(.venv/bin/python -m pip config get global.index-url 2>/dev/null || true)}
  if [ -n "$mirror" ]; then export UV_DEFAULT_INDEX="$mirror"; fi
fi
