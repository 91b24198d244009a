#!/bin/sh
# Stands in for kubectl exec: it runs the program after "--", which is sluice, on this machine.
# While the file $GONE exists, there is no pod.
if [ -e "$GONE" ]; then
  echo 'Error from server (NotFound): pods "sluice-controller-0" not found' >&2
  exit 1
fi
while [ "$1" != -- ]; do shift; done
shift 2
"$SLUICE" "$@"
status=$?
[ "$status" -eq 0 ] || echo "command terminated with exit code $status" >&2
exit "$status"
