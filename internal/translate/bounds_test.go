package translate

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"sluice/internal/model"
)

var allowed = map[string]string{"whitelist-source-range": "10.0.0.0/8"}

// The oldest Ingresses of a namespace have its hosts and paths. One beyond is not there, and one
// that protects is closed, so that no neighbour serves its paths.
func TestHostsAndPathsAreBounded(t *testing.T) {
	t.Parallel()
	two := []ing{{name: "x", age: 5, rules: []string{"one.example / P a:80"}}, {name: "u", age: 4, rules: []string{"two.example / P a:80"}}}
	for name, test := range map[string]struct {
		config            map[string]string
		more              []ing
		answers, problems []string
	}{
		"no bound": {nil, []ing{{name: "z", rules: []string{"three.example / P b:80"}}}, []string{"three.example/", "^~ / -> b"}, nil},
		"hosts": {map[string]string{"max-hosts-per-namespace": "2"}, []ing{
			{name: "z", age: 3, rules: []string{"three.example / P b:80"}},
			{name: "w", age: 2, rules: []string{"one.example /w P b:80"}},
			{name: "other/z", age: 1, rules: []string{"four.example / P b:80"}},
		}, []string{"one.example/", "^~ / -> a", "two.example/", "^~ / -> a", "three.example/", "/ -> 404", "one.example/w", "= /w -> b", "four.example/", "^~ / -> b"},
			[]string{"NoRoom Ingress default/z spec.rules", "NotFound Ingress other/z spec.rules[0].http.paths[0].backend.service.name"}},
		"aliases are hosts": {map[string]string{"max-hosts-per-namespace": "3"}, []ing{
			{name: "z", age: 3, annotations: map[string]string{"server-alias": "four.example"}, rules: []string{"three.example / P b:80"}},
		}, []string{"three.example/", "/ -> 404", "four.example/", "/ -> 404"}, []string{"NoRoom Ingress default/z spec.rules"}},
		"a protected host": {map[string]string{"max-hosts-per-namespace": "2"}, []ing{
			{name: "z", age: 3, annotations: allowed, rules: []string{"admin.example /a P b:80"}},
			{name: "other/star", age: 1, rules: []string{"*.example / P b:80"}},
		}, []string{"admin.example/a", "= /a -> 503", "shop.example/", "^~ / -> b"},
			[]string{"NoRoom Ingress default/z spec.rules denies", "NotFound Ingress other/star spec.rules[0].http.paths[0].backend.service.name"}},
		"paths": {map[string]string{"max-paths-per-namespace": "3"}, []ing{
			{name: "z", age: 3, rules: []string{"one.example /z P b:80", "one.example /zz P b:80"}},
			{name: "w", age: 2, rules: []string{"one.example /w P b:80"}},
		}, []string{"one.example/z", "^~ / -> a", "one.example/w", "= /w -> b"}, []string{"NoRoom Ingress default/z spec.rules"}},
		"redirects and the defaultBackend are paths": {map[string]string{"max-paths-per-namespace": "4"}, []ing{
			{name: "v", age: 3, annotations: map[string]string{"sluice.io/redirects": "/old /new"}, rules: []string{"one.example /z P b:80"}},
			{name: "w", age: 2, spec: "defaultBackend: {service: {name: b, port: {number: 80}}}"},
		}, []string{"one.example/old", "= /old -> 301", "none.example/", "/ -> 404"}, []string{"NoRoom Ingress default/w spec.rules"}},
		"protected paths": {map[string]string{"max-paths-per-namespace": "2"}, []ing{
			{name: "z", age: 3, annotations: allowed, rules: []string{"one.example /z P b:80", "one.example / P b:80"}},
		}, []string{"one.example/z/y", "^~ /z/ -> 503", "one.example/zz", "^~ / -> a"}, []string{"NoRoom Ingress default/z spec.rules denies", "Conflict Ingress default/z spec.rules[1].http.paths[0]"}},
		"one that is too large by itself": {map[string]string{"max-paths-per-namespace": "2"}, []ing{
			{name: "z", age: 9, rules: []string{"one.example /z P b:80", "one.example /y P b:80", "three.example / P b:80"}},
		}, []string{"one.example/z", "^~ / -> a", "three.example/", "/ -> 404"}, []string{"InvalidValue Ingress default/z spec.rules"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world{config: test.config, ingresses: append(append([]ing(nil), two...), test.more...)}.check(t, test.answers, test.problems)
		})
	}
}

// An Ingress that is too large by itself and protects is closed by few locations, and takes
// nothing that an older one serves by a path as long.
func TestALargeObjectIsShutByFewLocations(t *testing.T) {
	t.Parallel()
	large := func(n int, annotations map[string]string) ing {
		i := ing{name: "large", age: 1, annotations: annotations}
		for at := range n {
			i.rules = append(i.rules, fmt.Sprintf("one.example /p%d P b:80", at), fmt.Sprintf("h%d.alone.example /p%d P b:80", at, at), fmt.Sprintf("two.example /%d[a-z]+ I b:80", at))
		}
		i.rules = append(i.rules, "one.example /admin/x E b:80")
		return i
	}
	w := world{config: map[string]string{"max-paths-per-namespace": "500"}, ingresses: []ing{
		{name: "x", age: 5, rules: []string{"one.example / P a:80", "one.example /p7 P a:80", "one.example /admin/older P a:80"}},
		{name: "u", age: 5, annotations: map[string]string{"use-regex": "true"}, rules: []string{"two.example /1open I a:80", "two.example / P a:80"}},
		large(500, allowed),
	}}
	config := w.check(t, []string{
		"one.example/", "^~ / -> a", "one.example/p7", "= /p7 -> a", "one.example/p7/x", "^~ /p7/ -> a", "one.example/other", "^~ / -> a",
		"one.example/admin/older", "= /admin/older -> a",
	}, []string{"InvalidValue Ingress default/large spec.rules denies"})
	urls := []string{"one.example/admin/x"}
	for at := range 500 {
		if at != 7 {
			urls = append(urls, fmt.Sprintf("one.example/p%d", at))
		}
		urls = append(urls, fmt.Sprintf("h%d.alone.example/p%d", at, at), fmt.Sprintf("two.example/%dx", at))
	}
	for _, url := range urls {
		if answer := ask(config, url); !strings.HasSuffix(answer, "-> 503") {
			t.Errorf("%s is open: %s", url, answer)
		}
	}
	if answer := ask(config, "two.example/1open"); !strings.HasSuffix(answer, "-> a") {
		t.Errorf("the older pattern has lost its path: %s", answer)
	}
	if servers, locations := countIn(config); servers > 5 || locations > 3*mostShut {
		t.Errorf("%d servers with %d locations shut it", servers, locations)
	}
	w.ingresses[2] = large(500, nil)
	config = w.check(t, []string{"h1.alone.example/p1", "/ -> 404", "one.example/p1", "^~ / -> a"}, []string{"InvalidValue Ingress default/large spec.rules"})
	if servers, locations := countIn(config); servers > 4 || locations > 20 {
		t.Errorf("%d servers with %d locations are there without it", servers, locations)
	}
}

func countIn(config model.Config) (servers, locations int) {
	for _, s := range config.Static.Servers {
		locations += len(s.Locations)
	}
	return len(config.Static.Servers), locations
}

// An Ingress that asks for patterns would make the case of all paths of its host count for
// nothing: its paths are closed in any case, and those of others that are shut there.
func TestWhatAsksForPatternsIsShutInAnyCase(t *testing.T) {
	t.Parallel()
	for _, annotation := range []string{"use-regex: true", "rewrite-target: /$1"} {
		key, value, _ := strings.Cut(annotation, ": ")
		asking := map[string]string{key: value}
		maps.Copy(asking, allowed)
		w := world{config: map[string]string{"max-paths-per-namespace": "1"}, ingresses: []ing{
			{name: "x", age: 5, rules: []string{"one.example / P a:80"}},
			{name: "large", age: 2, annotations: asking, rules: []string{"one.example /a I b:80", "one.example /b/c I b:80"}},
			{name: "another", age: 1, annotations: allowed, rules: []string{"one.example /ops P b:80", "one.example /1 P b:80"}},
		}}
		config := w.check(t, []string{"one.example/x", "^~ / -> a"}, []string{"InvalidValue Ingress default/another spec.rules denies", "InvalidValue Ingress default/large spec.rules denies"})
		for _, path := range []string{"/A", "/a/x", "/B/C", "/OPS", "/ops/x", "/1"} {
			if answer := ask(config, "one.example"+path); !strings.HasSuffix(answer, "-> 503") {
				t.Errorf("%s: %s is open: %s", annotation, path, answer)
			}
		}
	}
}
