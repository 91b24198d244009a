package chart

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sluice/test/chart/rendering"
)

// TestDefaultsOfIngressNginxAreNotTold: who keeps all the defaults of ingress-nginx's
// chart in a file of values has asked for nothing by them, but for the Jobs of the webhook;
// and for its image, whose pins are to go.
func TestDefaultsOfIngressNginxAreNotTold(t *testing.T) {
	t.Parallel()
	values, defaults := map[string]any{}, map[string]any{}
	for _, k := range knownValues(t) {
		var initial any
		if err := yaml.Unmarshal([]byte(k.initial), &initial); err != nil {
			t.Fatal(err)
		}
		defaults[k.key] = initial
		if reasonOf(t, k.key) != "" && !strings.HasPrefix(k.key, "controller.image.digest") {
			set(values, pathOf(k.key), initial)
		}
	}
	r, err := rendering.Default().RenderValues(values)
	if err != nil {
		t.Fatal(err)
	}
	if _, told, _ := strings.Cut(r.Notes, "have no effect:"); strings.Count(told, "\n- ") != 1 || !strings.Contains(told, "controller.admissionWebhooks.createSecretJob") {
		t.Errorf("the notes tell of the defaults:\n%s", told)
	}
	set(values, []string{"controller", "admissionWebhooks", "enabled"}, false)
	if r, err = rendering.Default().RenderValues(values); err != nil || strings.Contains(r.Notes, "have no effect:") {
		t.Errorf("the notes tell of the defaults without the webhook (%v):\n%s", err, r.Notes)
	}
	for _, group := range readUnused(t) {
		for name, initial := range group.Defaults {
			if defaults[name] != initial {
				t.Errorf("%s: the default is %v, and not %v", name, defaults[name], initial)
			}
		}
	}
}

// TestValuesOfIngressNginx: each value of ingress-nginx's chart either is one of
// this chart, with the same default but for those named here, or is known to
// have no effect.
func TestValuesOfIngressNginx(t *testing.T) {
	t.Parallel()
	root := readValues(t)
	unknown := 0
	for _, k := range knownValues(t) {
		path := pathOf(k.key)
		v := root.find(path)
		if v == nil {
			if reasonOf(t, k.key) == "" {
				t.Errorf("%s: the chart does not know it", k.key)
			}
			unknown++
			continue
		}
		// What is within a map that is taken as a whole has no line in effects.txt.
		if len(path) > len(v.path) {
			if differs, _ := effect(t, path, another(t, k.initial)); differs == "" {
				t.Errorf("%s: another one changes nothing", k.key)
			}
		}
		ours := initialOf(root, path)
		want := k.initial
		if other, is := otherDefaults[k.key]; is {
			want = other.ours
			if k.initial == ours {
				t.Errorf("%s: the default is that of ingress-nginx: want no line for it", k.key)
			}
		}
		if ours != want {
			t.Errorf("%s: the default is %s, want %s", k.key, ours, want)
		}
	}
	if unknown < 40 || unknown > 100 {
		t.Errorf("%d values have no effect", unknown)
	}
}
