#!/usr/bin/env bash
# scripts/conformance.sh RUNNER PART..: starts a server on a fresh SQLite file for each part and runs the strict
# Open Job Spec runner against it. Fails when any case fails.
set -euo pipefail
cd "$(dirname "$0")/.."
runner=$1
shift

folder=$(mktemp -d)
server=
stop() { if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=; fi; }
trap 'stop; rm -rf "$folder"' EXIT

for part in "$@"; do
  ready="$folder/$part.out"
  : >"$ready"
  npx waybill serve --store "sqlite:$folder/$part.db" --port 0 --no-auth >"$ready" 2>"$folder/$part.log" &
  server=$!
  for _ in $(seq 1 150); do
    url=$(sed -n 's/^waybill ready on \([^ ]*\).*/\1/p' "$ready")
    if [ -n "$url" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
  done
  if [ -z "${url:-}" ]; then cat "$folder/$part.log" >&2; exit 1; fi
  echo "== $part on $url"
  node "$runner" --url "$url" --only "$part" --parallel 16 ${CONFORMANCE_FLAGS:-}
  stop
done
