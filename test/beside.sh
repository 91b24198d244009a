#!/usr/bin/env bash
# Runs the first command, and beside it the others one after another. When the first has ended, it helps with the others,
# so that no processor is idle while some wait. Prints the output of the first as it comes, and that of each other command
# when it ends. Fails if a command fails.
# Usage: test/beside.sh COMMAND OTHER...
set -uo pipefail

claims="$(mktemp -d)" || exit 1
trap 'rm -rf "$claims"' EXIT

run_others() {
  local worst=0 number=0 command output
  for command in "$@"; do
    number=$((number + 1))
    if ! mkdir "$claims/$number" 2>/dev/null; then
      [ -d "$claims/$number" ] && continue # it runs already, or has run
      echo "beside: $claims cannot be written to"
      worst=1
    fi
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
run_others "$@" || status=1
wait "$others" || status=1
exit "$status"
