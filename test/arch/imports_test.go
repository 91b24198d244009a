package arch

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// ranks orders the packages: one may import only packages of a lower rank. Two
// of the same rank do not know each other.
var ranks = map[string]int{
	"internal/model": 0, "internal/giveway": 0, "internal/pcre": 0, "internal/nearby": 0, "docs": 0, "charts": 0, "templates": 0, "rootfs": 0, "rootfs/pack": 0,

	"internal/snapshot": 1, "internal/datagram": 1, "internal/debugapi": 1, "internal/guard": 1, "internal/healthcheck": 1, "internal/ports": 1, "internal/quarantine": 1, "internal/selfsigned": 1, "internal/syntax": 1,
	"internal/keys": 2, "internal/manifest/decode": 2, "internal/metrics/requests": 2, "internal/tokens": 2,
	"internal/settings": 3, "internal/snippets": 3,
	"internal/annotations": 4,
	"internal/route":       5, "internal/claim": 5,

	"internal/assemble": 6, "internal/kube": 6,

	// These two meet in the model only.
	"internal/translate": 7, "internal/render": 7,

	"internal/cluster": 8, "internal/manifest": 8, "internal/nginx": 8, "internal/dynamic": 8, "internal/resolver": 8, "internal/prober": 8, "internal/ocsp": 8,
	"internal/report": 8, "internal/explain": 8, "internal/lint": 8, "internal/compare": 8,
	"internal/report/election": 8, "internal/report/status": 8, "internal/report/events": 8,
	"internal/pid1": 8, "internal/health": 8, "internal/templatedir": 8, "internal/geoip": 8, "internal/tracing": 8, "internal/admission/certificate": 8,

	"internal/diff": 9, "internal/migrate": 9, "internal/sift": 9, "internal/compare/client": 9, "internal/admission": 9,

	"internal/debug": 10, "internal/plugin": 10, "internal/admission/webhook": 10,

	"internal/controller": 11, "internal/metrics": 11,

	"cmd/sluice": 12, "cmd/kubectl-sluice": 12,
}

// importsUpwards finds imports that go against the ranks. Tests may import
// whatever they compare with.
func importsUpwards(s source) []string {
	if s.test || strings.HasPrefix(s.pkg, "test/") {
		return nil
	}
	own, known := ranks[s.pkg]
	if !known {
		return []string{fmt.Sprintf("%s: package %s has no rank: give it one here and in docs/architecture.md", s.path, s.pkg)}
	}
	var found []string
	for _, path := range s.imports() {
		pkg, ours := strings.CutPrefix(path, module+"/")
		if !ours {
			continue
		}
		if rank, known := ranks[pkg]; !known || rank >= own {
			found = append(found, fmt.Sprintf("%s: %s imports %s, which is not below it", s.path, s.pkg, pkg))
		}
	}
	return found
}

// kitElsewhere finds imports of test/kit by packages that are not beside it. A
// package's own tests that used the kit would test much of Sluice with it.
func kitElsewhere(s source) []string {
	if slices.Contains(s.imports(), module+"/test/kit") && !strings.HasPrefix(s.pkg, "test/") {
		return []string{fmt.Sprintf("%s: test/kit is for the packages under test", s.path)}
	}
	return nil
}

// The plugin asks a controller from outside: what it shares with one are the
// types of the answers, the client and how objects are named.
var pluginMay = []string{"internal/debugapi", "internal/kube", "internal/model", "internal/snapshot"}

// pluginsOwn are the libraries that only the plugin pays for.
var pluginsOwn = []string{"k8s.io/cli-runtime", "k8s.io/client-go/kubernetes", "golang.org/x/term"}

// pluginApart finds imports of the plugin that it does well without, and those of
// others that are of the plugin only.
func pluginApart(s source) []string {
	if s.test || strings.HasPrefix(s.pkg, "test/") || s.pkg == "cmd/kubectl-sluice" {
		return nil
	}
	var found []string
	for _, path := range s.imports() {
		pkg, ours := strings.CutPrefix(path, module+"/")
		if s.pkg == "internal/plugin" {
			if ours && !slices.Contains(pluginMay, pkg) {
				found = append(found, fmt.Sprintf("%s: the plugin imports %s", s.path, pkg))
			}
			continue
		}
		of := func(library string) bool { return path == library || strings.HasPrefix(path, library+"/") }
		if pkg == "internal/plugin" || slices.ContainsFunc(pluginsOwn, of) {
			found = append(found, fmt.Sprintf("%s: %s is for the plugin", s.path, path))
		}
	}
	return found
}

func TestImportsGoDownwards(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		report(t, importsUpwards(s))
		report(t, kitElsewhere(s))
		report(t, pluginApart(s))
	}
}

// TestSluiceDoesNotPayForThePlugin: not by a library that imports it, either.
func TestSluiceDoesNotPayForThePlugin(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/sluice").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "k8s.io/client-go/rest") {
		t.Fatalf("of %d packages none is the client", len(deps))
	}
	for _, dep := range deps {
		for _, library := range append(slices.Clone(pluginsOwn), "sigs.k8s.io/kustomize", "github.com/gorilla/websocket") {
			if library != "golang.org/x/term" && (dep == library || strings.HasPrefix(dep, library+"/")) {
				t.Errorf("cmd/sluice has %s in it", dep)
			}
		}
	}
}

func TestImportRuleRefuses(t *testing.T) {
	t.Parallel()
	bad := map[string]source{
		"the model importing the snapshot": parse(t, "internal/model/x.go", `package model; import "sluice/internal/snapshot"`),
		"translate importing the shell":    parse(t, "internal/translate/x.go", `package translate; import "sluice/internal/nginx"`),
		"two of a rank":                    parse(t, "internal/report/x.go", `package report; import "sluice/internal/lint"`),
		"translate importing render":       parse(t, "internal/translate/x.go", `package translate; import "sluice/internal/render"`),
		"render importing translate":       parse(t, "internal/render/x.go", `package render; import "sluice/internal/translate"`),
		"the assembler importing a source": parse(t, "internal/assemble/x.go", `package assemble; import "sluice/internal/translate"`),
		"a package without a rank":         parse(t, "internal/util/x.go", `package util`),
		"production code importing a test": parse(t, "internal/nginx/x.go", `package nginx; import "sluice/test/echo"`),
	}
	for what, s := range bad {
		mustRefuse(t, what, importsUpwards(s))
	}
	mustTake(t, "translate importing the model", importsUpwards(parse(t, "internal/translate/x.go", `package translate; import "sluice/internal/model"`)))
	mustRefuse(t, "the plugin importing explain", pluginApart(parse(t, "internal/plugin/x.go", `package plugin; import "sluice/internal/explain"`)))
	mustRefuse(t, "the controller importing the plugin", pluginApart(parse(t, "internal/controller/x.go", `package controller; import "sluice/internal/plugin"`)))
	mustRefuse(t, "kube importing the typed clientset", pluginApart(parse(t, "internal/kube/x.go", `package kube; import "k8s.io/client-go/kubernetes/scheme"`)))
	mustTake(t, "the plugin importing the views", pluginApart(parse(t, "internal/plugin/x.go", `package plugin; import "sluice/internal/debugapi"`)))
	mustRefuse(t, "a package's own test importing the kit", kitElsewhere(parse(t, "internal/nginx/x_test.go", `package nginx; import "sluice/test/kit"`)))
	mustTake(t, "a test of the whole importing the kit", kitElsewhere(parse(t, "test/e2e/x_test.go", `package e2e; import "sluice/test/kit"`)))
}
