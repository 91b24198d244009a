#!/usr/bin/env bash
# Runs Sluice on the example shop beside this script, with its own nginx and a small echo backend, prints requests with what
# answers them, and goes on until Ctrl-C. All it needs is Go and what test/setup.sh installs; it writes only to a temporary
# directory and the build cache, and ends what it started.
#
#   RUN_ONCE=1      ends after the answers (its status says whether all came)
#   HTTP_PORT=8080 HTTPS_PORT=8443 HEALTHZ_PORT=10254
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"

manifests=docs/examples/shop
http_port="${HTTP_PORT:-8080}"
https_port="${HTTPS_PORT:-8443}"
healthz_port="${HEALTHZ_PORT:-10254}"
state="$(mktemp -d "${TMPDIR:-/tmp}/sluice.XXXXXX")"
chmod 711 "$state" # the workers may be of another user
started=()

finish() {
  local status=$?
  trap - EXIT INT TERM
  for id in "${started[@]}"; do kill -TERM "$id" 2>/dev/null || true; done
  for id in "${started[@]}"; do wait "$id" 2>/dev/null || true; done
  rm -rf "$state"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -p .cache/bin
go build -o .cache/bin/ ./cmd/sluice ./test/echo

# The services of 20-services.yaml, at the ports of their EndpointSlices.
.cache/bin/echo \
  --listen 127.0.0.1:9001=catalog --listen 127.0.0.1:9002=cart --listen 127.0.0.1:9003=images \
  --listen 127.0.0.1:9004=stores --listen 127.0.0.1:9005=admin --listen 127.0.0.1:9006=lost &
started+=($!)

# Its log goes through a pipe: nginx opens /dev/stdout anew for its access log, and two that write to one file would write over
# each other. The pipe outlives Ctrl-C, so that the last lines are seen.
.cache/bin/sluice run --manifests "$manifests" --configmap shop/sluice --state-dir "$state" \
  --http-port "$http_port" --https-port "$https_port" --healthz-port "$healthz_port" > >(trap '' INT TERM; exec cat >&2) 2>&1 &
sluice=$!
started+=("$sluice")

wait_until_ready() {
  local deadline=$((SECONDS + 30))
  # Whether it still runs is asked first: another Sluice may answer on that port.
  until kill -0 "$sluice" 2>/dev/null && curl -fs -o /dev/null "http://127.0.0.1:$healthz_port/readyz"; do
    kill -0 "$sluice" 2>/dev/null || { echo "run: sluice ended before it was ready" >&2; exit 1; }
    [ "$SECONDS" -lt "$deadline" ] || { echo "run: not ready after 30 seconds" >&2; exit 1; }
    sleep 0.05
  done
}

# try EXPECTED COMMAND... prints the command as one can type it, and its answer, which has to hold EXPECTED.
failures=0
try() {
  local expected="$1" answer
  shift
  printf '\n$ %s\n' "$*"
  answer="$(eval "$*" 2>&1)" || true
  printf '%s\n' "$answer"
  if [[ "$answer" != *"$expected"* ]]; then
    printf 'run: the answer should hold: %s\n' "$expected" >&2
    failures=$((failures + 1))
  fi
}

show() {
  local web="--resolve www.shop.example:$http_port:127.0.0.1 http://www.shop.example:$http_port"
  local tls="--resolve www.shop.example:$https_port:127.0.0.1 https://www.shop.example:$https_port"
  local http="http://127.0.0.1:$http_port"
  printf '\n# The example shop is served. Its manifests are in %s.' "$manifests"
  printf '\n\n# Plain HTTP goes to HTTPS; /health is exact, /cart is the Ingress of another team, the rest is the catalog.'
  try '308 https://www.shop.example' "curl -s -o /dev/null -w '%{http_code} %{redirect_url}\n' $web/'tea?page=2'"
  try '"service":"catalog"' "curl -sk $tls/tea | sed -n 1p"
  try '"service":"admin"' "curl -sk $tls/health | sed -n 1p"
  try '"service":"catalog"' "curl -sk $tls/healthy | sed -n 1p"
  try '"service":"cart"' "curl -sk $tls/cart/7 | sed -n 1p"
  printf '\n# A browser of app.shop.example may call the cart, any other may not (CORS).'
  try 'https://app.shop.example' "curl -sk -X OPTIONS -H 'Origin: https://app.shop.example' -o /dev/null -D - $tls/cart | grep -i '^access-control-allow-origin'"
  printf '\n# A pattern with a rewrite, and what the pattern does not match.'
  try '"path":"/store/7.png"' "curl -s -H 'Host: api.shop.example' $http/v1/images/7.png | sed -n 1p"
  try '404' "curl -s -H 'Host: api.shop.example' -o /dev/null -w '%{http_code}\n' $http/v1/images/seven"
  printf '\n# A wildcard host takes one label; everything else goes to the default backend of 35-lost.yaml.'
  try '"service":"stores"' "curl -s -H 'Host: tea.stores.example' $http/ | sed -n 1p"
  try '"service":"lost"' "curl -s -H 'Host: green.tea.stores.example' $http/ | sed -n 1p"
  printf '\n# Allow lists: this machine may see the administration, but not the office.'
  try '"service":"admin"' "curl -s -H 'Host: admin.shop.example' $http/users | sed -n 1p"
  try '403' "curl -s -H 'Host: admin.shop.example' -o /dev/null -w '%{http_code}\n' $http/office"
  printf '\n'
}

wait_until_ready
show
if [ -n "${RUN_ONCE:-}" ]; then
  [ "$failures" -eq 0 ] || { echo "run: $failures answers are not what they should be" >&2; exit 1; }
  exit 0
fi
echo "# Edit a file in $manifests and ask again. Ctrl-C ends."
wait "$sluice"
