# Sluice. `make help` lists what there is. Nothing but Go and make has to be
# installed before; `make setup` installs the rest on Debian and Ubuntu.

SHELL := /bin/bash
GO := $(or $(shell command -v go 2>/dev/null),/usr/local/go/bin/go)
export PATH := $(dir $(GO)):$(PATH)

ROOTFS := .cache/rootfs
CLUSTER_CACHE := $(abspath $(or $(SLUICE_CLUSTER_CACHE),.cache))
EXAMPLE := docs/examples/shop
IMAGES := $(abspath .cache/image)
ARCH := $(shell $(GO) env GOARCH)
# The modules that `make test` tests, those that take longest first; `make test-image` tests rootfs/pack.
MODULES := . test/cluster test/docs test/chart test/browser
SCRIPTS = build.sh .ci/run cmd/kubectl-sluice/kubectl_complete-sluice $(shell find cmd test docs rootfs -name '*.sh')
# Go tests packages in this order: those that take longest begin first. `make static` has vetted all.
LONGEST := ./test/injection ./test/e2e ./test/golden ./test/differential ./test/compat ./test/random
# Not $(MAKE) itself in a recipe: make would run that line even with --dry-run.
STATIC = $(MAKE) --no-print-directory static
# Without the data of debuggers (-w), the linker takes half the time.
TEST_ALL := test -vet=off -ldflags=-w -count=1 -timeout 50m
# What `make check` tests. The golden cases take longest, so they begin first.
CHECKED := ./test/edges ./test/golden ./internal/controller ./internal/dynamic ./internal/nginx ./internal/resolver ./cmd/... ./internal/... ./templates/... ./test/arch ./test/kit ./test/markdown ./test/ports ./test/reference
# Packages tested at the same time: much of the time tests wait rather than compute.
BESIDE := $(shell echo $$(( 2 * $$(getconf _NPROCESSORS_ONLN) )))
FUZZTIME ?= 20s
BENCH ?= .

.DEFAULT_GOAL := help
.PHONY: help build image run check static test test-image docs golden manifests bench fuzz modules render nginx-rootfs cluster clients setup setup-test

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

build: ## static binaries of cmd/* for linux amd64 and arm64 in dist/
	./build.sh

image: ## the image for amd64 and arm64 as OCI archives in dist/, without a container engine (needs mmdebstrap: test/setup.sh --image)
	./build.sh image

run: setup ## Sluice on the example shop, with its own nginx, on ports 8080 and 8443 until Ctrl-C (RUN_ONCE=1: show the answers and end)
	docs/examples/run.sh

test: setup-test ## everything: the static checks of `make check`, unit tests, golden cases, end to end, on both nginx, and with a control plane of Kubernetes (the first time some ten minutes more, to build that, kubectl and helm)
	@set -euo pipefail; test/rootfs/build.sh $(ROOTFS) >/dev/null & unpacking=$$!; \
	export SLUICE_CLUSTER_CACHE="$(CLUSTER_CACHE)"; plane="$$(test/cluster/binaries/build.sh "$$SLUICE_CLUSTER_CACHE")"; \
	echo "control plane: $$plane"; \
	export SLUICE_CLIENTS; SLUICE_CLIENTS="$$(test/docs/tools/build.sh "$$SLUICE_CLUSTER_CACHE")"; \
	echo "kubectl and helm: $$SLUICE_CLIENTS"; \
	wait "$$unpacking"; export SLUICE_NGINX_ROOT; SLUICE_NGINX_ROOT="$$(test/rootfs/build.sh $(ROOTFS))"; \
	echo "second nginx: $$SLUICE_NGINX_ROOT"; \
	test/beside.sh "$(GO) $(TEST_ALL) $(LONGEST) ./..." $(foreach module,$(filter-out .,$(MODULES)),"$(GO) -C $(module) $(TEST_ALL) ./...") "$(STATIC)"

check: setup-test ## the inner loop: static checks (gofmt, vet and staticcheck of all modules, shellcheck), unit tests, architecture, reference and golden cases on the system's nginx, and docs/compatibility.md
	@set -euo pipefail; seen="$$($(GO) env GOCACHE)/sluice-programs"; now="$$(test/setup.sh --programs)"; \
	if [ "$$(cat "$$seen" 2>/dev/null)" != "$$now" ]; then $(GO) clean -testcache; echo "$$now" > "$$seen"; fi; \
	test/beside.sh "env -u SLUICE_NGINX_ROOT GOGC=400 $(GO) test -p $(BESIDE) -vet=off -ldflags=-w $(CHECKED)" \
		"$(STATIC)" "$(GO) test -vet=off -ldflags=-w ./test/compat -run TestPageIsFresh"

# The tag image adds the tests of test/cluster/image, test/cluster/real and test/chart/certmanager.
static: setup-test
	@set -euo pipefail; \
	unformatted="$$(gofmt -l cmd internal templates rootfs test)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi; \
	shellcheck --external-sources --source-path=SCRIPTDIR $(SCRIPTS); \
	staticcheck="$$($(GO) tool -n staticcheck)"; status=0; \
	for module in $(MODULES) rootfs/pack; do \
		echo "vet and staticcheck: $$module"; \
		(cd "$$module" && $(GO) vet -tags image ./... && GOGC=400 "$$staticcheck" -tags image ./...) || status=1; \
	done; exit $$status

docs: setup-test cluster clients ## what README.md and docs tell users to do, done: every command run, every manifest applied
	@export SLUICE_CLUSTER_CACHE="$(CLUSTER_CACHE)"; $(GO) -C test/docs test . -count=1 -timeout 15m

test-image: ## the image: built twice, the same to the byte, run beside an API server, and by the chart in a cluster with real nodes (as root); the chart beside cert-manager
	@set -euo pipefail; test/setup.sh; test/setup.sh --image; \
	export SLUICE_CLUSTER_CACHE="$(CLUSTER_CACHE)"; plane="$$(test/cluster/binaries/build.sh "$$SLUICE_CLUSTER_CACHE")"; \
	echo "control plane: $$plane"; \
	if [ "$$(id -u)" = 0 ]; then test/setup.sh --nodes; node="$$(test/cluster/binaries/build.sh "$$SLUICE_CLUSTER_CACHE" node)"; echo "nodes: $$node"; \
	else echo "nodes: none, because only root can run a kubelet; their tests are skipped"; fi; \
	manager="$$(test/cluster/binaries/build.sh "$$SLUICE_CLUSTER_CACHE" cert-manager)"; echo "cert-manager: $$manager"; \
	export SLUICE_CLIENTS; SLUICE_CLIENTS="$$(test/docs/tools/build.sh "$$SLUICE_CLUSTER_CACHE")"; \
	echo "kubectl and helm: $$SLUICE_CLIENTS"; \
	rm -rf "$(IMAGES)"; DIST="$(IMAGES)/first" ./build.sh image $(ARCH) & first=$$!; DIST="$(IMAGES)/second" ./build.sh image $(ARCH); wait "$$first"; \
	export SLUICE_IMAGE="$$(ls "$(IMAGES)"/first/*.oci.tar)" SLUICE_IMAGE_AGAIN="$$(ls "$(IMAGES)"/second/*.oci.tar)"; \
	status=0; $(GO) -C rootfs/pack test -vet=off ./... -count=1 || status=1; \
	$(GO) -C test/chart test -vet=off -tags image ./certmanager -count=1 -timeout 10m -v || status=1; \
	$(GO) -C test/cluster test -vet=off -tags image -p 1 ./image ./real -count=1 -timeout 20m -v || status=1; exit $$status

ifdef CASE
golden: setup-test ## CASE=path-exact: check one golden case and print the differences (UPDATE=1: write its expectations anew). Without CASE: write all expectations anew, of test/golden, internal/debug, test/chart, docs/reference, docs/monitoring.md and docs/compatibility.md; read the difference before committing it
	@test -f test/golden/cases/$(CASE).txtar || { echo "make golden: there is no case test/golden/cases/$(CASE).txtar" >&2; exit 1; }
	$(GO) test ./test/golden -run '^TestCases$$/^$(CASE)$$' -count=1 $(if $(UPDATE),-update)
else
golden: manifests
	$(GO) test ./test/golden -count=1 -update
	$(GO) test ./internal/debug -run TestViews -count=1 -update
	$(GO) test ./test/reference -count=1 -update
	$(GO) test ./cmd/sluice -run TestFlagsPage -count=1 -update
	$(GO) test ./internal/metrics -run TestPage -count=1 -update
	$(GO) test ./test/compat -run TestPageIsFresh -count=1 -update
	$(GO) -C test/chart test . -count=1 -update
	$(GO) test ./test/markdown -count=1 -update
endif

manifests: ## write deploy/static.yaml, and the manifests that test/cluster runs with, as charts/sluice renders them
	$(GO) -C test/chart test . -run TestManifestsAreFresh -count=1 -update

bench: ## the budgets of scale, beside their baselines, with manifests and beside a control plane of Kubernetes (BENCH=Throughput for some only)
	@set -euo pipefail; test/setup.sh --bench; root="$$(test/rootfs/build.sh $(ROOTFS))"; export SLUICE_NGINX_ROOT="$$root"; \
	export SLUICE_CLUSTER_CACHE="$(CLUSTER_CACHE)"; plane="$$(test/cluster/binaries/build.sh "$$SLUICE_CLUSTER_CACHE")"; \
	echo "control plane: $$plane"; \
	status=0; $(GO) test ./test/bench ./internal/controller -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m || status=1; \
	$(GO) -C test/cluster test ./bench -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m || status=1; exit $$status

fuzz: ## each fuzz target for 20 seconds (FUZZTIME=1m for longer)
	@set -euo pipefail; grep -rlE '^func Fuzz[A-Za-z0-9_]*\(' --include='*_test.go' . | sort | while read -r file; do \
		sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$$file" | while read -r target; do \
			echo "== $$target in $$(dirname "$$file")"; \
			$(GO) test "$$(dirname "$$file")" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) < /dev/null; \
		done; \
	done

modules: ## go.mod of all modules anew, with one version of each module that several of them need, which is what test/arch wants
	@set -euo pipefail; folders="$$(find . -name .cache -prune -o -name go.mod -printf '%h\n')"; export GOWORK="$$PWD/.cache/go.work"; \
	mkdir -p .cache; rm -f .cache/go.work*; $(GO) work init; $(GO) work use $$folders; $(GO) work sync; rm -f .cache/go.work*; \
	for folder in $$folders; do (cd "$$folder" && GOWORK=off $(GO) mod tidy); done; GOWORK=off $(GO) test -vet=off ./test/arch -run TestModulesAgree

render: ## the nginx.conf of the example shop, on standard output
	@$(GO) run ./cmd/sluice render -f $(EXAMPLE) --configmap shop/sluice

nginx-rootfs: setup-test ## Debian 13's nginx in a root file system under .cache/ (kept from one call to the next)
	@test/rootfs/build.sh $(ROOTFS)

cluster: ## the control plane of Kubernetes that tests run, built in .cache/ (some six minutes the first time, then kept)
	@test/cluster/binaries/build.sh "$(CLUSTER_CACHE)"

clients: ## the kubectl and helm that the commands of the documentation are run with, built in .cache/ (some minutes the first time, then kept)
	@test/docs/tools/build.sh "$(CLUSTER_CACHE)"

setup: ## install nginx and its Lua libraries where they are missing (apt-get)
	@test/setup.sh

setup-test:
	@test/setup.sh --tests
