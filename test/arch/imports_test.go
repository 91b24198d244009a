package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ranks orders the packages: one may import only packages of a lower rank. Two
// of the same rank do not know each other.
var ranks = map[string]int{
	"internal/model": 0, "internal/pcre": 0, "templates": 0, "rootfs": 0,

	"internal/snapshot": 1, "internal/debug/view": 1,
	"internal/keys":     2,
	"internal/settings": 3,
	"internal/policy":   4,
	"internal/route":    5,

	"internal/translate": 6, "internal/render": 6, "internal/kube": 6,

	"internal/cluster": 7, "internal/manifest": 7, "internal/nginx": 7, "internal/dynamic": 7,
	"internal/report": 7, "internal/explain": 7, "internal/lint": 7, "internal/admission": 7,
	"internal/kube/kubetest": 7, "internal/report/election": 7, "internal/report/status": 7, "internal/report/events": 7,
	"internal/container": 7,

	"internal/debug": 8, "internal/plugin": 8,

	"internal/controller": 9,

	"cmd/sluice": 10, "cmd/kubectl-sluice": 10,
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

func TestImportsGoDownwards(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		report(t, importsUpwards(s))
		report(t, kitElsewhere(s))
	}
}

func TestImportRuleRefuses(t *testing.T) {
	t.Parallel()
	bad := map[string]source{
		"the model importing the snapshot": parse(t, "internal/model/x.go", `package model; import "sluice/internal/snapshot"`),
		"translate importing the shell":    parse(t, "internal/translate/x.go", `package translate; import "sluice/internal/nginx"`),
		"two of a rank":                    parse(t, "internal/render/x.go", `package render; import "sluice/internal/translate"`),
		"a package without a rank":         parse(t, "internal/util/x.go", `package util`),
		"production code importing a test": parse(t, "internal/nginx/x.go", `package nginx; import "sluice/test/echo"`),
	}
	for what, s := range bad {
		mustRefuse(t, what, importsUpwards(s))
	}
	mustTake(t, "translate importing the model", importsUpwards(parse(t, "internal/translate/x.go", `package translate; import "sluice/internal/model"`)))
	mustRefuse(t, "a package's own test importing the kit", kitElsewhere(parse(t, "internal/nginx/x_test.go", `package nginx; import "sluice/test/kit"`)))
	mustTake(t, "a test of the whole importing the kit", kitElsewhere(parse(t, "test/e2e/x_test.go", `package e2e; import "sluice/test/kit"`)))
}
