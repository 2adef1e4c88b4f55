#!/usr/bin/env bash
# scripts/conformance.sh RUNNER PART..: starts a server on a fresh store for each part and runs the strict Open Job Spec
# runner against it. Fails when any case fails; on an emulator, when it also fails twice with one case at a time.
#   CONFORMANCE_STORE      sqlite (the default)
#                          postgres: an embedded one, or the one that WAYBILL_TEST_POSTGRES names
#                          dynamodb: on the local cloud, which needs Java 17
#   CONFORMANCE_TRANSPORT  poll (the default) or sqs, which the local cloud brings: on dynamodb only
#   CONFORMANCE_KEY        1: the server asks for keys, and the runner shows one
#   CONFORMANCE_FLAGS      passed on to the runner, e.g. --skip-slow
set -euo pipefail
cd "$(dirname "$0")/.."
runner=$1
shift
kind=${CONFORMANCE_STORE:-sqlite}
transport=${CONFORMANCE_TRANSPORT:-poll}

# Not by npx, which does not pass signals on.
node=node_modules/.bin/node
waybill="$node packages/waybill/bin/waybill.js"

folder=$(mktemp -d)
server=
database=
parallel=16
stop() { if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=; fi; }
stop_all() {
  stop
  if [ -n "$database" ]; then kill "$database" 2>/dev/null || true; wait "$database" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap stop_all EXIT

# Waits until the file has a line that begins with these words, and answers the word behind them.
word_in() {
  for _ in $(seq 1 600); do
    local found
    found=$(sed -n "s/^$2\([^ ]*\).*/\1/p" "$1")
    if [ -n "$found" ]; then echo "$found"; return; fi
    if ! kill -0 "$3" 2>/dev/null; then return; fi
    sleep 0.1
  done
}

case "$kind/$transport" in
  sqlite/poll) ;;
  postgres/poll)
    postgres=${WAYBILL_TEST_POSTGRES:-}
    if [ -z "$postgres" ]; then
      "$node" scripts/embedded-postgres.mjs >"$folder/postgres.out" &
      database=$!
      postgres=$(word_in "$folder/postgres.out" 'postgres ready on ' "$database")
    fi
    ;;
  dynamodb/poll | dynamodb/sqs)
    # Short runs end before Java's second compiler pays, and it would take time from what is being timed.
    export JDK_JAVA_OPTIONS=${JDK_JAVA_OPTIONS:--XX:TieredStopAtLevel=1 -XX:+UseSerialGC}
    parallel=4
    $waybill cloud --name suites >"$folder/cloud.env" &
    database=$!
    # The last of its lines, so all are there.
    word_in "$folder/cloud.env" AWS_ENDPOINT_URL_EVENTBRIDGE= "$database" >"$folder/last"
    if [ ! -s "$folder/last" ]; then echo 'The local cloud does not start.' >&2; exit 1; fi
    set -a
    . "$folder/cloud.env"
    set +a
    ;;
  *) echo "There is no store $kind with the transport $transport." >&2; exit 2 ;;
esac

# try PART NAME: one run on a server and a store of its own, which the name tells from others.
try() {
  local part=$1 name=$2 carried=poll auth=--no-auth secret= header=()
  if [ "${CONFORMANCE_KEY:-}" = 1 ]; then auth=--auth; fi
  case "$kind" in
    sqlite) store="sqlite:$folder/$name.db" ;;
    postgres) store="$postgres?schema=suites_$(echo "$name" | tr -c 'a-z0-9\n' _)_$$" ;;
    dynamodb)
      # A table and queues of its own for each part.
      store=${WAYBILL_STORE/suites/suites-$name}
      if [ "$transport" = sqs ]; then carried=${WAYBILL_TRANSPORT/suites/suites-$name}; fi
      ;;
  esac
  : >"$folder/$name.out"
  $waybill serve --store "$store" --transport "$carried" --port 0 $auth --test-directives >"$folder/$name.out" 2>"$folder/$name.log" &
  server=$!
  url=$(word_in "$folder/$name.out" 'waybill ready on ' "$server")
  if [ -z "${url:-}" ]; then cat "$folder/$name.log" >&2; exit 1; fi
  if [ "$auth" = --auth ]; then
    secret=$($waybill keys create conformance --scopes enqueue,work,read,admin --store "$store" | tail -n 1)
    header=(--header "Authorization: Bearer $secret")
  fi
  # A Java that has just begun takes seconds for its first calls, and some cases allow less.
  if [ "$kind" = dynamodb ]; then "$node" scripts/warm-up.mjs "$url" "$secret"; fi
  echo "== $part on $url, $kind, $transport${secret:+, with a key}"
  local status=0
  node "$runner" --url "$url" --only "$part" --parallel "$parallel" "${header[@]}" ${CONFORMANCE_FLAGS:-} || status=$?
  stop
  return "$status"
}

for part in "$@"; do
  if try "$part" "$part"; then continue; fi
  if [ "$kind" != dynamodb ]; then exit 1; fi
  # Some cases allow 200 ms, and an emulator that is slower than that looks like a wrong answer. It gets two more chances,
  # on an empty table, with nothing else to do beside each case.
  parallel=1
  passed=0
  for again in second third; do
    echo "A case failed on the emulator; $part runs a $again time, one case at a time." >&2
    if try "$part" "$part$again"; then passed=1; break; fi
  done
  if [ "$passed" -eq 0 ]; then exit 1; fi
done
