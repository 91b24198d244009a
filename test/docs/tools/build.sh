#!/usr/bin/env bash
# Builds kubectl and helm from the Go modules that go.mod beside this file pins, into a folder under the one given, named by what
# decides their content; prints that folder. Where they are there already, that is all it does.
#   build.sh CACHE_FOLDER
set -euo pipefail
cache="$(mkdir -p "${1:?want a folder to keep the programs in}" && cd "$1" && pwd)"
cd "$(dirname "$0")"
command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"

key="$( (cat go.mod go.sum build.sh kubectl/main.go; go env GOVERSION GOARCH) | sha256sum | cut -c1-16)"
out="$cache/clients-$key"
if [ -e "$out/complete" ]; then
  echo "$out"
  exit 0
fi

# kubectl v1.37.2 is made of k8s.io/kubectl v0.37.2.
kubectl="$(go list -m -f '{{.Version}}' k8s.io/kubectl)"
kubectl="v1.${kubectl#v0.}"
helm="$(go list -m -f '{{.Version}}' helm.sh/helm/v4)"
minor="${kubectl#v1.}"
minor="${minor%%.*}"
version=k8s.io/component-base/version

building="$out.building.$$"
rm -rf "$building"
mkdir -p "$building"
trap 'rm -rf "$building"' EXIT
build() { # name package flags for the linker
  local start=$SECONDS
  echo "clients: building $1 from $2 ..." >&2
  CGO_ENABLED=0 go build -trimpath -ldflags "-s -w $3" -o "$building/$1" "$2" >&2
  echo "clients: $1 built in $((SECONDS - start)) s" >&2
}
build kubectl ./kubectl "-X $version.gitVersion=$kubectl -X $version.gitMajor=1 -X $version.gitMinor=$minor -X $version.gitTreeState=clean"
build helm helm.sh/helm/v4/cmd/helm "-X helm.sh/helm/v4/internal/version.version=$helm"
touch "$building/complete"
mv -T "$building" "$out" 2>/dev/null || [ -e "$out/complete" ]
echo "$out"
