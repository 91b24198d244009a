package reference

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

const prefix = "nginx.ingress.kubernetes.io"

// use is a value that a golden case gives to a key.
type use struct {
	// name is that of the case.
	name  string
	value string
	// refused is set where a Problem speaks of the value.
	refused bool
	// keys is how many keys the case gives.
	keys int
}

// usesOf finds the values in the golden cases, the plainest first.
func usesOf(t *testing.T) map[string][]use {
	t.Helper()
	paths, err := filepath.Glob("../golden/cases/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found: %v", err)
	}
	all := map[string][]use{}
	for _, path := range paths {
		found := usesIn(t, path)
		count := 0
		for _, uses := range found {
			count += len(uses)
		}
		for key, uses := range found {
			for _, u := range uses {
				u.name, u.keys = strings.TrimSuffix(filepath.Base(path), ".txtar"), count
				all[key] = append(all[key], u)
			}
		}
	}
	for _, uses := range all {
		slices.SortFunc(uses, plainer)
	}
	return all
}

// plainer orders uses: cases with few keys first.
func plainer(a, b use) int {
	return cmp.Or(cmp.Compare(a.keys, b.keys), strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
}

// usesIn reads one case.
func usesIn(t *testing.T, path string) map[string][]use {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifests, options string
	for _, file := range archive.Files {
		switch file.Name {
		case "manifests.yaml":
			manifests = string(file.Data)
		case "options":
			options = string(file.Data)
		}
	}
	objects, _, _ := decode.FromYAML(path, []byte(manifests)) // what does not decode gives nothing
	found := map[string][]use{}
	values, problems := settings.Read(configMap(objects, options, found))
	markRefused(found, "setting ", problems)
	for _, ing := range objects.Ingresses {
		own := map[string][]use{}
		for key, value := range ing.Annotations {
			if name, ok := annotations.KeyOf(prefix+"/", key); ok {
				own["annotation "+name] = []use{{value: strings.TrimSpace(value)}}
			}
		}
		markRefused(own, "annotation ", annotations.Read(ing, values, prefix).Problems())
		for key, uses := range own {
			found[key] = append(found[key], uses...)
		}
	}
	return found
}

// configMap gives the settings of a case, nil for none, and notes their values.
func configMap(objects snapshot.Objects, options string, found map[string][]use) *corev1.ConfigMap {
	name := "sluice/config"
	for line := range strings.Lines(options) {
		if other, ok := strings.CutPrefix(strings.TrimSpace(line), "configmap="); ok {
			name = other
		}
	}
	for _, m := range objects.ConfigMaps {
		if m.Namespace+"/"+m.Name != name {
			continue
		}
		for key, value := range m.Data {
			found["setting "+strings.ToLower(key)] = []use{{value: strings.TrimSpace(value)}}
		}
		return m
	}
	return nil
}

// markRefused marks what Problems speak of.
func markRefused(found map[string][]use, kind string, problems []model.Problem) {
	for _, p := range problems {
		name := p.Field
		if key, ok := annotations.KeyOf(prefix+"/", name); ok {
			name = key
		}
		uses := found[kind+name]
		for i := range uses {
			uses[i].refused = true
		}
	}
}
