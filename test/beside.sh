#!/usr/bin/env bash
# Tests the first module while it tests the others one after another: each waits for half of its time. Prints the output of
# the first at once, and that of the others at the end. Fails if a test of any module fails.
# Usage: test/beside.sh FOLDER OTHER...
set -uo pipefail
go="${GO:-go}"

test_module() {
  "$go" -C "$1" test ./... -count=1 -timeout 30m
}

first="$1"
shift
output="$(mktemp)"
trap 'rm -f "$output"' EXIT
(
  worst=0
  for module in "$@"; do
    echo "== module $module"
    test_module "$module" || worst=1
  done
  exit "$worst"
) >"$output" 2>&1 &
others=$!

echo "== module $first"
test_module "$first"
status=$?
wait "$others" || status=1
cat "$output"
exit "$status"
