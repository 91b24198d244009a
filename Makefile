# Sluice. `make help` lists what there is. Nothing but Go and make has to be
# installed before; `make setup` installs the rest on Debian and Ubuntu.

SHELL := /bin/bash
GO := $(or $(shell command -v go 2>/dev/null),/usr/local/go/bin/go)
export PATH := $(dir $(GO)):$(PATH)

ROOTFS := .cache/rootfs
CLUSTER_CACHE := $(abspath $(or $(SLUICE_CLUSTER_CACHE),.cache))
EXAMPLE := docs/examples/shop
FUZZTIME ?= 20s
BENCH ?= .

.DEFAULT_GOAL := help
.PHONY: help build run test golden manifests bench fuzz lint render nginx-rootfs cluster setup setup-test

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

build: ## static binaries of cmd/* for linux amd64 and arm64 in dist/
	./build.sh

run: setup ## Sluice on the example shop, with its own nginx, on ports 8080 and 8443 until Ctrl-C (RUN_ONCE=1: show the answers and end)
	docs/examples/run.sh

test: setup-test ## everything: vet, unit tests, golden cases, end to end, on both nginx, and with a control plane of Kubernetes (the first time some six minutes more, to build it)
	@set -euo pipefail; root="$$(test/rootfs/build.sh $(ROOTFS))"; export SLUICE_NGINX_ROOT="$$root"; \
	echo "second nginx: $$root"; \
	export SLUICE_CLUSTER_CACHE="$(CLUSTER_CACHE)"; plane="$$(test/cluster/binaries/build.sh "$$SLUICE_CLUSTER_CACHE")"; \
	echo "control plane: $$plane"; \
	$(GO) vet ./...; $(GO) -C test/cluster vet ./...; $(GO) -C test/chart vet ./...; \
	status=0; for module in . test/cluster test/chart; do $(GO) -C "$$module" test ./... -count=1 -timeout 30m || status=1; done; exit $$status

golden: manifests ## write the expectations of test/golden, internal/debug and test/chart, the pages of docs/reference and docs/compatibility.md anew; read the difference before committing it
	$(GO) test ./test/golden -count=1 -update
	$(GO) test ./internal/debug -run TestViews -count=1 -update
	$(GO) test ./test/reference -count=1 -update
	$(GO) test ./cmd/sluice -run TestFlagsPage -count=1 -update
	$(GO) test ./test/compat -run TestPageIsFresh -count=1 -update
	$(GO) -C test/chart test . -count=1 -update

manifests: ## write deploy/static.yaml, and the manifests that test/cluster runs with, as charts/sluice renders them
	$(GO) -C test/chart test . -run TestManifestsAreFresh -count=1 -update

bench: ## the budgets of scale, beside their baselines, with manifests and beside a control plane of Kubernetes (BENCH=Throughput for some only)
	@set -euo pipefail; test/setup.sh --bench; root="$$(test/rootfs/build.sh $(ROOTFS))"; export SLUICE_NGINX_ROOT="$$root"; \
	export SLUICE_CLUSTER_CACHE="$(CLUSTER_CACHE)"; plane="$$(test/cluster/binaries/build.sh "$$SLUICE_CLUSTER_CACHE")"; \
	echo "control plane: $$plane"; \
	status=0; $(GO) test ./test/bench -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m || status=1; \
	$(GO) -C test/cluster test ./bench -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m || status=1; exit $$status

fuzz: ## each fuzz target for 20 seconds (FUZZTIME=1m for longer)
	@set -euo pipefail; grep -rlE '^func Fuzz[A-Za-z0-9_]*\(' --include='*_test.go' . | sort | while read -r file; do \
		sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$$file" | while read -r target; do \
			echo "== $$target in $$(dirname "$$file")"; \
			$(GO) test "$$(dirname "$$file")" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) < /dev/null; \
		done; \
	done

lint: ## gofmt, go vet, and the syntax of the shell scripts
	@set -euo pipefail; \
	unformatted="$$(gofmt -l cmd internal templates rootfs test)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi; \
	$(GO) vet ./...; $(GO) -C test/cluster vet ./...; $(GO) -C test/chart vet ./...; \
	for script in build.sh .ci/run $$(find test docs -name '*.sh'); do bash -n "$$script"; done; \
	if command -v shellcheck >/dev/null; then shellcheck build.sh .ci/run $$(find test docs -name '*.sh'); fi

render: ## the nginx.conf of the example shop, on standard output
	@$(GO) run ./cmd/sluice render -f $(EXAMPLE) --configmap shop/sluice

nginx-rootfs: setup-test ## Debian 13's nginx in a root file system under .cache/ (kept from one call to the next)
	@test/rootfs/build.sh $(ROOTFS)

cluster: ## the control plane of Kubernetes that tests run, built in .cache/ (some six minutes the first time, then kept)
	@test/cluster/binaries/build.sh "$(CLUSTER_CACHE)"

setup: ## install nginx and its Lua libraries where they are missing (apt-get)
	@test/setup.sh

setup-test:
	@test/setup.sh --tests
