package annotations

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/settings"
)

// A behaviour with a bad value, or above the risk that is allowed, is left out
// whole: then its defaults hold, also for what is fine.
func TestExplainLeavesOutWhatReadLeavesOut(t *testing.T) {
	t.Parallel()
	const prefix = "nginx.ingress.kubernetes.io"
	s, _ := settings.Read(&corev1.ConfigMap{Data: map[string]string{"annotations-risk-level": "Low", "Proxy-Read-Timeout": "9", "proxy-send-timeout": "bad"}})
	ing := &networkingv1.Ingress{}
	ing.Annotations = map[string]string{
		prefix + "/proxy-connect-timeout":   "7",
		prefix + "/use-regex":               "true",
		prefix + "/rewrite-target":          "/risky", // Medium
		prefix + "/ssl-redirect":            "false",
		prefix + "/preserve-trailing-slash": "maybe",
	}
	want := map[string][2]string{
		"proxy-connect-timeout":   {"7", "proxy-connect-timeout"},
		"proxy-send-timeout":      {"60", ""},
		"proxy-read-timeout":      {"9", ""},
		"use-regex":               {"true", "use-regex"},
		"rewrite-target":          {"", ""},
		"ssl-redirect":            {"true", ""},
		"preserve-trailing-slash": {"false", ""},
	}
	list := Explain(ing, s, prefix, "")
	if len(list) != len(All()) {
		t.Errorf("%d behaviours, want %d", len(list), len(All()))
	}
	for _, b := range list {
		for _, v := range b.Values {
			if w, ok := want[v.Key]; ok && (v.Text != w[0] || strings.TrimPrefix(v.Name, prefix+"/") != w[1]) {
				t.Errorf("%s: got %q by %q, want %q by %q", v.Key, v.Text, v.Name, w[0], w[1])
			}
			delete(want, v.Key)
		}
	}
	if len(want) > 0 {
		t.Errorf("not listed: %v", want)
	}
	for key, written := range map[string]bool{"proxy-read-timeout": true, "proxy-send-timeout": false, "proxy-body-size": false, "no-such": false} {
		if _, got := s.Origin(key); got != written {
			t.Errorf("%s: written is %v", key, got)
		}
	}
}
