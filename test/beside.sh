#!/usr/bin/env bash
# Runs the first command while it runs the others one after another. Prints the output of the first as it comes, and that of
# each other command when it ends. Fails if a command fails.
# Usage: test/beside.sh COMMAND OTHER...
set -uo pipefail

run_others() {
  local worst=0 command output
  for command in "$@"; do
    output="$(bash -c "$command" 2>&1)" || worst=1
    printf '== %s\n%s\n' "$command" "$output"
  done
  return "$worst"
}

first="$1"
shift
run_others "$@" &
others=$!

echo "== $first"
bash -c "$first"
status=$?
wait "$others" || status=1
exit "$status"
