package admission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// TestSettings: mistakes in the settings are rejected, unless they were there before. Others are
// warnings.
func TestSettings(t *testing.T) {
	t.Parallel()
	basis := with(t)
	basis.Options.Translate.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	of := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"}, Data: data}
	}
	type data = map[string]string
	for name, test := range map[string]struct {
		object, former     data
		rejection, warning string
	}{
		"nothing is wrong":        {object: data{"keep-alive": "5"}},
		"a network":               {object: data{"whitelist-source-range": "10.0.0.0/33"}, former: data{"whitelist-source-range": "10.0.0.0/8"}, rejection: "whitelist-source-range: want "},
		"a list":                  {object: data{"block-cidrs": "10.0.0.0/8; 192.0.2.1"}, rejection: "block-cidrs: want "},
		"an interface":            {object: data{"bind-address": "eth0"}, former: data{}, rejection: "bind-address: want "},
		"a snippet":               {object: data{"http-snippet": "map $a $b {"}, rejection: "http-snippet: "},
		"an annotation":           {object: data{"default-annotations": "limit-rps: many"}, rejection: "default-annotations: limit-rps: want "},
		"a misspelled protection": {object: data{"whitelist-source-rang": "10.0.0.0/8"}, rejection: "whitelist-source-rang: "},
		"a misspelled name":       {object: data{"keep-alvie": "5"}, warning: "keep-alvie: "},
		"it was there":            {object: data{"keep-alive": "x", "hsts": "false"}, former: data{"keep-alive": "x"}, warning: "keep-alive: want "},
		"nothing changes":         {object: data{"keep-alive": "x"}, former: data{"keep-alive": "x"}},
		"a ConfigMap to come":     {object: data{"add-headers": "sluice/headers"}, warning: ""},
	} {
		var former *corev1.ConfigMap
		if test.former != nil {
			former = of(test.former)
		}
		v := basis.Settings(of(test.object), former)
		if !beginsWith(v.Rejections, test.rejection) || test.warning != "" && !beginsWith(v.Warnings, test.warning) {
			t.Errorf("%s: rejected for %v, warned of %v", name, v.Rejections, v.Warnings)
		}
	}
	if basis.HasSettings(snapshot.Name{Namespace: "sluice", Name: "other"}) || !basis.HasSettings(snapshot.Name{Namespace: "sluice", Name: "config"}) || with(t).HasSettings(snapshot.Name{}) {
		t.Error("another ConfigMap has the settings")
	}
}

// beginsWith reports whether there is one Problem that begins so, or none if the text is empty.
func beginsWith(problems []model.Problem, text string) bool {
	if text == "" {
		return len(problems) == 0
	}
	return len(problems) == 1 && strings.HasPrefix(problems[0].Field+": "+problems[0].Text, text)
}
