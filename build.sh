#!/usr/bin/env bash
# Builds every command of cmd/ for linux on amd64 and arm64 into dist/, static and trimmed. TARGETS="linux/amd64" builds fewer.
set -euo pipefail
cd "$(dirname "$0")"
command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"

version="$(git describe --always --dirty --tags 2>/dev/null || echo unknown)"
mkdir -p dist
for target in ${TARGETS:-linux/amd64 linux/arm64}; do
  os="${target%/*}" arch="${target#*/}"
  for command in cmd/*/; do
    name="$(basename "$command")"
    out="dist/${name}_${os}_${arch}"
    CGO_ENABLED=0 GOOS="$os" GOARCH="$arch" go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$out" "./$command"
    echo "$out $version"
  done
done
