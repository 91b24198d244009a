package cluster

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

// pluginWhyReloaded: a new Ingress is the cause of the newest reload, and the start is that of
// the oldest one.
func pluginWhyReloaded(t *testing.T, p *pluginScene) {
	const host = "reloaded.plugin.example"
	object := p.ingress("reloaded", path(host, "/", networkingv1.PathTypePrefix, "web"))
	p.Apply(t, object)
	newest := regexp.MustCompile(`^\d+s   hosts   1 Ingress \(plugin/reloaded\); .*1 host \(reloaded\.plugin\.example\).*   \+\d+ -\d+   \+\d+   \d+\.\d{3}s   loaded$`)
	var lines []string
	Eventually(t, "the reload", func(context.Context) error {
		lines = strings.Split(strings.TrimSpace(spaces.ReplaceAllString(p.must(t, "why-reloaded", "--namespace", p.system), "   ")), "\n")
		if !newest.MatchString(lines[1]) {
			return fmt.Errorf("the newest is %q", lines[1])
		}
		return nil
	})
	if oldest := lines[len(lines)-1]; !strings.Contains(oldest, "   start   ") || !strings.HasPrefix(lines[0], "AGO   CAUSE   CHANGED") {
		t.Errorf("the oldest is %q, below %q", oldest, lines[0])
	}
	if wide := p.must(t, "why-reloaded", "--namespace", p.system, "-o", "wide"); !strings.Contains(wide, "SETTLED") {
		t.Errorf("wide: %s", wide)
	}
	p.misused(t, []string{"why-reloaded", "now", "--namespace", p.system}, "takes no arguments")
	p.Delete(t, object)
	Eventually(t, "its end, which other tests want", func(context.Context) error {
		if newest := p.must(t, "why-reloaded", "--namespace", p.system); !strings.Contains(newest, "1 Ingress gone (plugin/reloaded); 1 host gone") {
			return fmt.Errorf("the reloads are\n%s", newest)
		}
		return nil
	})
}

// spaces are those between columns.
var spaces = regexp.MustCompile(` {3,}`)
