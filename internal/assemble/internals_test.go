package assemble

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/model"
)

// Two Ingresses with the same content share a location; any other content gets its own.
func TestInternalLocationsAreThereOnce(t *testing.T) {
	t.Parallel()
	ask := func(name string, change func(*model.Location)) *model.Location {
		ref := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: name}
		l := &model.Location{Rule: model.Rule{Object: ref, Path: "/" + name}, Proxy: &model.Proxy{Backend: "shop/auth/80"}, Blocks: []model.Block{{Name: "timeouts", Data: struct{ Read int }{5}, Source: ref}}}
		change(l)
		return l
	}
	var all internals
	same := func(*model.Location) {}
	first := all.add(model.Equal, "auth", "/shop/auth/80", ask("b", same))
	if again := all.add(model.Equal, "auth", "/shop/auth/80", ask("a", same)); again != first || !strings.HasPrefix(first, model.InternalPrefix+"auth-") || !strings.HasSuffix(first, "/shop/auth/80") {
		t.Errorf("%s and %s", first, again)
	}
	for name, change := range map[string]func(*model.Location){
		"backend": func(l *model.Location) { l.Proxy.Backend = "shop/auth/81" },
		"block":   func(l *model.Location) { l.Blocks[0].Data = struct{ Read int }{6} },
		"uri":     func(l *model.Location) { l.Proxy.URI = "/x" },
	} {
		if other := all.add(model.Equal, "auth", "/shop/auth/80", ask("a", change)); other == first {
			t.Errorf("another %s has the same location", name)
		}
	}
	if named := all.add(model.Named, "auth", "", ask("a", same)); strings.Contains(named, "/") {
		t.Errorf("the name is %s", named)
	}
	sorted := all.sorted()
	if len(sorted) != 5 || sorted[4].Modifier != model.Named {
		t.Errorf("%d locations", len(sorted))
	}
	for i, l := range sorted {
		if i > 0 && l.Modifier == sorted[i-1].Modifier && l.Path <= sorted[i-1].Path {
			t.Errorf("%s comes after %s", l.Path, sorted[i-1].Path)
		}
		if l.Path == first && l.Modifier == model.Equal && (len(l.Owners) != 2 || l.Owners[0].Name != "a" || l.Rule.Object.Name != "b") {
			t.Errorf("owners %v, of %v", l.Owners, l.Rule.Object)
		}
	}
}

// A named location prints its path and, if it proxies, its owner. Locations that differ
// in these are not shared.
func TestNamedLocationsDifferByWhatTheyPrintOfTheirRule(t *testing.T) {
	t.Parallel()
	proxy, answer := &model.Location{Proxy: &model.Proxy{Backend: "shop/web/80"}}, &model.Location{Return: &model.Return{Code: 404}}
	at := func(l *model.Location, name, path string) *model.Location {
		of := *l
		of.Rule = model.Rule{Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: name}, Path: path}
		return &of
	}
	for name, test := range map[string]struct {
		a, b   *model.Location
		shared bool
	}{
		"the same":                    {at(proxy, "a", "/"), at(proxy, "a", "/"), true},
		"proxies of two owners":       {at(proxy, "a", "/"), at(proxy, "b", "/"), false},
		"answers of two owners":       {at(answer, "a", "/"), at(answer, "b", "/"), true},
		"proxies for two paths":       {at(proxy, "a", "/"), at(proxy, "a", "/x"), false},
		"answers for two paths":       {at(answer, "a", "/"), at(answer, "a", "/x"), false},
		"a path that no log may have": {at(answer, "a", "/"), &model.Location{Rule: model.Rule{Path: "/", Kind: model.RuleClosed}, Return: answer.Return}, false},
	} {
		var all internals
		if shared := all.add(model.Named, "error", "", test.a) == all.add(model.Named, "error", "", test.b); shared != test.shared {
			t.Errorf("%s: shared is %t", name, shared)
		}
	}
}

// TestManyInternalLocations: n of a host take time by n, not by its square, which took 2.3 s for 16,000.
func TestManyInternalLocations(t *testing.T) {
	took := func(n int) time.Duration {
		fastest := time.Hour
		for range 3 {
			var all internals
			began := time.Now()
			for i := range n {
				path := all.add(model.Equal, "auth", "/x", &model.Location{Proxy: &model.Proxy{Backend: "shop/auth/80", URI: strconv.Itoa(i)}})
				all.ask(path, nil, model.Asker{Field: "auth-url"})
			}
			if fastest = min(fastest, time.Since(began)); len(all.sorted()) != n {
				t.Fatalf("%d locations, want %d", len(all.found), n)
			}
		}
		return fastest
	}
	if of := took(16000); of > time.Second {
		t.Errorf("16000 locations took %v, want a tenth of a second, and surely less than 1 s", of)
	}
}
