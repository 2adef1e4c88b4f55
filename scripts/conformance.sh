#!/usr/bin/env bash
# scripts/conformance.sh RUNNER PART..: starts a server on a fresh store for each part and runs the strict Open Job Spec
# runner against it. Fails when any case fails.
#   CONFORMANCE_STORE=postgres  on an embedded PostgreSQL, or the one that WAYBILL_TEST_POSTGRES names; else on SQLite
#   CONFORMANCE_FLAGS           passed on to the runner, e.g. --skip-slow
set -euo pipefail
cd "$(dirname "$0")/.."
runner=$1
shift

# Not by npx, which does not pass signals on.
node=node_modules/.bin/node

folder=$(mktemp -d)
server=
database=
stop() { if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=; fi; }
stop_all() {
  stop
  if [ -n "$database" ]; then kill "$database" 2>/dev/null || true; wait "$database" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap stop_all EXIT

# Waits until the file has the line that names an address, and answers it.
address_in() {
  for _ in $(seq 1 300); do
    local found
    found=$(sed -n "s/^$2 \([^ ]*\).*/\1/p" "$1")
    if [ -n "$found" ]; then echo "$found"; return; fi
    if ! kill -0 "$3" 2>/dev/null; then return; fi
    sleep 0.1
  done
}

postgres=${WAYBILL_TEST_POSTGRES:-}
if [ "${CONFORMANCE_STORE:-sqlite}" = postgres ] && [ -z "$postgres" ]; then
  "$node" scripts/embedded-postgres.mjs >"$folder/postgres.out" &
  database=$!
  postgres=$(address_in "$folder/postgres.out" 'postgres ready on' "$database")
fi

for part in "$@"; do
  if [ -n "$postgres" ]; then
    store="$postgres?schema=suites_$(echo "$part" | tr -c 'a-z0-9\n' _)_$$"
  else
    store="sqlite:$folder/$part.db"
  fi
  : >"$folder/$part.out"
  "$node" packages/waybill/bin/waybill.js serve --store "$store" --port 0 --no-auth >"$folder/$part.out" 2>"$folder/$part.log" &
  server=$!
  url=$(address_in "$folder/$part.out" 'waybill ready on' "$server")
  if [ -z "${url:-}" ]; then cat "$folder/$part.log" >&2; exit 1; fi
  echo "== $part on $url, ${CONFORMANCE_STORE:-sqlite}"
  node "$runner" --url "$url" --only "$part" --parallel 16 ${CONFORMANCE_FLAGS:-}
  stop
done
