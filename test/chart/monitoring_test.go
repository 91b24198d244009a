package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"sluice/test/chart/rendering"
)

// hostileMonitoring are values with a text that would be more than a value, were it not quoted.
var hostileMonitoring = map[string]any{"controller": map[string]any{"metrics": map[string]any{
	"enabled": true,
	"dashboards": map[string]any{
		"enabled": true, "labelValue": hostile, "annotations": map[string]any{"folder": hostile}, "additionalLabels": map[string]any{"team": hostile},
	},
	"prometheusRule": map[string]any{"enabled": true, "runbookURL": hostile},
}}}

// TestDashboards: the ConfigMap has the files, unchanged, and the label that Grafana's sidecar
// looks for.
func TestDashboards(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(rendering.Folder(), "dashboards", "*.json"))
	if err != nil || len(files) != 3 {
		t.Fatalf("the dashboards are %q, %v", files, err)
	}
	for values, label := range map[string]string{
		"controller: {metrics: {enabled: true, dashboards: {enabled: true}}}":                                            "grafana_dashboard=1",
		"controller: {metrics: {enabled: true, dashboards: {enabled: true, label: find, labelValue: me}}}":               "find=me",
		"controller: {metrics: {enabled: true, dashboards: {enabled: true, label: null, additionalLabels: {a: \"2\"}}}}": "a=2",
	} {
		r := render(t, values)
		var c corev1.ConfigMap
		typed(t, r.Objects, "ConfigMap", "sluice-controller-dashboards", &c)
		if name, value, _ := strings.Cut(label, "="); c.Labels[name] != value {
			t.Errorf("%s: the labels are %q, want %s", values, c.Labels, label)
		}
		for _, file := range files {
			want, err := os.ReadFile(file)
			if got := c.Data["sluice-"+filepath.Base(file)]; err != nil || got != string(want) {
				t.Errorf("%s: %v, %d bytes, want %d", file, err, len(got), len(want))
			}
		}
		if len(c.Data) != len(files) {
			t.Errorf("the ConfigMap has %d dashboards", len(c.Data))
		}
	}
	if strings.Contains(render(t, "controller: {metrics: {dashboards: {enabled: true}}}").Manifests, "dashboard") {
		t.Error("there are dashboards without metrics")
	}
}

// TestDefaultRules: the alerts of the chart come after the rules of the user, with links to
// where the user has their page.
func TestDefaultRules(t *testing.T) {
	t.Parallel()
	const on = "controller: {metrics: {enabled: true, prometheusRule: {enabled: true, rules: [{alert: Own, expr: up}], "
	plain := render(t, on+"defaultRules: false}}}").Manifests
	both := render(t, on+"runbookURL: https://wiki.example/alerts}}}").Manifests
	if strings.Contains(plain, "SluiceDown") || !strings.Contains(plain, "alert: Own") {
		t.Errorf("without the default rules:\n%s", plain)
	}
	_, rules, _ := strings.Cut(plain, "kind: PrometheusRule")
	rules, _, _ = strings.Cut(rules, "\n---")
	if !strings.Contains(both, strings.TrimRight(rules, "\n")) {
		t.Errorf("the default rules change others: want%s", rules)
	}
	if n := strings.Count(both, "runbook_url: https://wiki.example/alerts#sluice"); n < 10 || n != strings.Count(both, "runbook_url:") {
		t.Errorf("%d of %d links lead to the page", n, strings.Count(both, "runbook_url:"))
	}
}

// TestHostileValuesOfMonitoring: they stay values.
func TestHostileValuesOfMonitoring(t *testing.T) {
	t.Parallel()
	release := rendering.Default()
	release.Name = strings.Repeat("a-release-", 5) + "abc"
	r, err := release.RenderValues(hostileMonitoring)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, o := range r.Objects {
		if o.GetKind() != "PrometheusRule" && !strings.HasSuffix(o.GetName(), "dashboards") {
			continue
		}
		found++
		if len(o.GetName()) > 63 {
			t.Errorf("the name %s is too long", o.GetName())
		}
		for _, key := range keysBelow(o.Object) {
			if strings.Contains(key, "injected") {
				t.Errorf("%s has the key %q", o.GetName(), key)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d objects for monitoring, want 2", found)
	}
}
