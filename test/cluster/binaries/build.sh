#!/usr/bin/env bash
# Builds kube-apiserver, kube-controller-manager and etcd from the Go modules that go.mod beside this file pins, into a folder
# under the one given, named by what decides their content; prints that folder. Where they are there already, that is all it does.
# Some five minutes on two cores the first time, with a line of progress for each binary on standard error.
# With node it does the same with the other programs of a real cluster, which are kube-scheduler, kubelet, kube-proxy and
# CoreDNS, and with agnhost, the program in the image with which Kubernetes tests clusters. With cert-manager it does the same
# with cert-manager, its CustomResourceDefinitions in crds.yaml, and Pebble, an ACME server, with its DNS server.
#   build.sh CACHE_FOLDER [node|cert-manager]
set -euo pipefail
cache="$(mkdir -p "${1:?want a folder to keep the binaries in}" && cd "$1" && pwd)"
set="${2:-control-plane}"
cd "$(dirname "$0")"
command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"

packages=(go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager)
pinned=(go.mod go.sum)
if [ "$set" = node ]; then
  packages=(k8s.io/kubernetes/cmd/kube-scheduler k8s.io/kubernetes/cmd/kubelet k8s.io/kubernetes/cmd/kube-proxy k8s.io/kubernetes/test/images/agnhost sluice/test/cluster/binaries/coredns)
  pinned+=(coredns/go.mod coredns/go.sum coredns/main.go)
elif [ "$set" = cert-manager ]; then
  packages=(sluice/test/cluster/binaries/cert-manager github.com/letsencrypt/pebble/v2/cmd/pebble github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv)
  pinned=(cert-manager/go.mod cert-manager/go.sum cert-manager/*.go)
fi

kubernetes="$(go list -m -f '{{.Version}}' k8s.io/kubernetes)"
minor="${kubernetes#v1.}"
minor="${minor%%.*}"
key="$( (cat "${pinned[@]}"; grep -v '^ *#' build.sh; go env GOVERSION GOARCH) | sha256sum | cut -c1-16)"
out="$cache/$set-$kubernetes-$key"
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
build() { # package
  count=$((count + 1))
  local start=$SECONDS name="${1##*/}" module=.
  case "$1" in
    */etcd/server/*) name=etcd ;;
    # They are modules of their own, whose dependencies would change those of Kubernetes.
    */binaries/coredns) module=coredns ;;
    */binaries/cert-manager | */pebble/*) module=cert-manager ;;
  esac
  echo "$set: building $name ($count of ${#packages[@]}) from $1 ..." >&2
  CGO_ENABLED=0 go -C "$module" build -trimpath -ldflags "$stamp" -o "$building/$name" "$1" >&2
  echo "$set: $name built in $((SECONDS - start)) s" >&2
}
for package in "${packages[@]}"; do build "$package"; done
if [ "$set" = cert-manager ]; then
  cat "$(go -C cert-manager list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)"/deploy/crds/*.yaml >"$building/crds.yaml"
fi
touch "$building/complete"
mv -T "$building" "$out" 2>/dev/null || [ -e "$out/complete" ]
echo "$out"
