#!/usr/bin/env bash
# Builds kube-apiserver, kube-controller-manager and etcd from the Go modules that go.mod beside this file pins, into a folder
# under the one given, named by what decides their content; prints that folder. Where they are there already, that is all it does.
# Some five minutes on two cores the first time, with a line of progress for each binary on standard error.
#   build.sh CACHE_FOLDER
set -euo pipefail
cache="$(mkdir -p "${1:?want a folder to keep the binaries in}" && cd "$1" && pwd)"
cd "$(dirname "$0")"
command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"

kubernetes="$(go list -m -f '{{.Version}}' k8s.io/kubernetes)"
minor="${kubernetes#v1.}"
minor="${minor%%.*}"
key="$( (cat go.mod go.sum build.sh; go env GOVERSION GOARCH) | sha256sum | cut -c1-16)"
out="$cache/control-plane-$kubernetes-$key"
if [ -e "$out/complete" ]; then
  echo "$out"
  exit 0
fi

version=k8s.io/component-base/version
stamp="-s -w -X $version.gitVersion=$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=$minor -X $version.gitTreeState=clean"
stamp+=" -X $version.gitCommit=0000000000000000000000000000000000000000 -X $version.buildDate=1970-01-01T00:00:00Z"

building="$out.building.$$"
rm -rf "$building"
mkdir -p "$building"
trap 'rm -rf "$building"' EXIT
count=0
build() { # name package
  count=$((count + 1))
  local start=$SECONDS
  echo "control plane: building $1 ($count of 3) from $2 ..." >&2
  CGO_ENABLED=0 go build -trimpath -ldflags "$stamp" -o "$building/$1" "$2" >&2
  echo "control plane: $1 built in $((SECONDS - start)) s" >&2
}
build etcd go.etcd.io/etcd/server/v3
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager
touch "$building/complete"
mv -T "$building" "$out" 2>/dev/null || [ -e "$out/complete" ]
echo "$out"
