#!/usr/bin/env bash
# Builds every command of cmd/ for linux on amd64 and arm64 into dist/, static and trimmed. TARGETS="linux/amd64" builds fewer.
#
#   build.sh image [ARCHITECTURE ...]
#
# builds the image instead, without a container engine: dist/sluice-VERSION-ARCHITECTURE.oci.tar, which docker, podman and
# containerd load, and its bill of materials beside it (.spdx.json). What is built twice of one commit, from the same packages of
# Debian, is the same. DIST names another folder than dist.
set -euo pipefail
cd "$(dirname "$0")"
command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"

version="$(git describe --always --dirty --tags 2>/dev/null || echo unknown)"
dist="${DIST:-dist}"
mkdir -p "$dist"

# build NAME OS ARCHITECTURE FILE builds a command of cmd/.
build() {
  CGO_ENABLED=0 GOOS="$2" GOARCH="$3" go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$4" "./cmd/$1"
}

# image ARCHITECTURE builds one image.
image() {
  local work
  work="$(mktemp -d)"
  # shellcheck disable=SC2064 # the folder is this one
  trap "rm -rf '$work'" EXIT
  build sluice linux "$1" "$work/sluice"
  rootfs/debian.sh "$1" "$work/debian.tar"
  go -C rootfs/pack build -trimpath -o "$work/pack" .
  "$work/pack" -base "$work/debian.tar" -binary "$work/sluice" -license LICENSE -architecture "$1" -version "$version" \
    -revision "$(git rev-parse HEAD 2>/dev/null || true)" \
    -epoch "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}" -out "$dist/sluice-$version-$1"
  rm -rf "$work"
}

if [ "${1:-}" = image ]; then
  shift
  [ $# -gt 0 ] || set -- amd64 arm64
  for architecture in "$@"; do image "$architecture"; done
  exit
fi

for target in ${TARGETS:-linux/amd64 linux/arm64}; do
  os="${target%/*}" arch="${target#*/}"
  for command in cmd/*/; do
    name="$(basename "$command")"
    out="$dist/${name}_${os}_${arch}"
    build "$name" "$os" "$arch" "$out"
    echo "$out $version"
  done
done
