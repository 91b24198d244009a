#!/usr/bin/env bash
# Installs the Debian packages that running Sluice needs, with --tests those that its tests need too, with --bench those
# that its benchmarks need as well, with --image those that the image needs, and with --nodes those that its tests on real
# nodes need besides. Where nothing is missing it does nothing and says nothing.
# With --programs it installs nothing, and prints a text that changes with the programs that tests run: go's cache of test results does not see them.
set -euo pipefail

packages=(nginx libnginx-mod-http-lua libnginx-mod-stream libnginx-mod-http-headers-more-filter libnginx-mod-http-brotli-filter libnginx-mod-http-geoip2 lua-resty-core lua-resty-lrucache lua-cjson curl)
case "${1:-}" in
  --tests) packages+=(mmdebstrap debian-archive-keyring openssl pcre2-utils iproute2 shellcheck prometheus) ;;
  --image) packages=(mmdebstrap fakechroot debian-archive-keyring iproute2 util-linux) ;;
  --nodes)
    packages=(containernetworking-plugins docker-registry skopeo iptables nftables curl iproute2 util-linux)
    # Docker's package containerd.io has both programs, and Debian's packages would remove it.
    if ! command -v containerd >/dev/null || ! command -v runc >/dev/null; then packages+=(containerd runc); fi
    ;;
  --bench) packages+=(mmdebstrap debian-archive-keyring openssl pcre2-utils iproute2 wrk) ;;
esac

# A browser for the page of `kubectl sluice ui`. Ubuntu has none as a package that is not a snap.
if [ "${1:-}" = --tests ] && grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then
  packages+=(chromium-headless-shell)
fi

if [ "${1:-}" = --programs ]; then
  PATH="$PATH:/usr/sbin"
  for program in nginx pcre2test openssl prometheus promtool; do
    sha256sum "$(command -v "$program")" || true
  done
  dpkg-query -W 2>/dev/null | sha256sum
  exit 0
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is neither Debian nor Ubuntu: please install what these packages hold: ${packages[*]}" >&2
  exit 1
fi

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
  command -v sudo >/dev/null || { echo "setup: root has to run: apt-get install ${missing[*]}" >&2; exit 1; }
fi

echo "setup: installing ${missing[*]}" >&2
"${as_root[@]}" apt-get update -q >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
