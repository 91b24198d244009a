package translate

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
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

// What protects and is beyond the bound, or too large by itself, is closed as it is written,
// whatever an older neighbour or one of another namespace has on its hosts.
func TestWhatProtectsBeyondTheBoundIsClosed(t *testing.T) {
	t.Parallel()
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(allowed)
		maps.Copy(all, more)
		return all
	}
	for name, test := range map[string]struct {
		ingresses []ing
		closed    []string
	}{
		"below an older path": {[]ing{
			{name: "x", age: 5, rules: []string{"one.example / P a:80", "one.example /api P a:80"}},
			{name: "large", age: 2, annotations: allowed, rules: []string{"one.example / P b:80", "one.example /api/admin P b:80", "one.example /.well-known/x E b:80", "one.example /caf P b:80"}},
		}, []string{"one.example/api/admin", "one.example/.well-known/x", "one.example/caf/x"}},
		"beside a younger path of another namespace": {[]ing{
			{name: "x", age: 5, rules: []string{"one.example / P a:80", "one.example /1 P a:80"}},
			{name: "large", age: 2, annotations: allowed, rules: []string{"one.example /admin P b:80", "one.example /ops P b:80"}},
			{name: "other/x", age: 1, rules: []string{"one.example /admin P b:80"}},
		}, []string{"one.example/admin", "one.example/admin/y"}},
		"two with one host": {[]ing{
			{name: "x", age: 9, rules: []string{"*.example / P a:80", "*.example /1 P a:80"}},
			{name: "aa", age: 4, annotations: allowed, rules: []string{"h1.example / P b:80", "h2.example / P b:80"}},
			{name: "bb", age: 2, annotations: allowed, rules: []string{"h1.example / P b:80", "h3.example / P b:80"}},
		}, []string{"h1.example/", "h2.example/", "h3.example/"}},
		"an alias": {[]ing{
			{name: "x", age: 9, rules: []string{"*.example / P a:80", "*.example /1 P a:80"}},
			{name: "large", age: 2, annotations: with(map[string]string{"server-alias": "admin.example"}), rules: []string{"one.example / P b:80"}},
		}, []string{"admin.example/", "one.example/"}},
		"patterns": {[]ing{
			{name: "x", age: 5, rules: []string{"one.example / P a:80", "one.example /1 P a:80"}},
			{name: "large", age: 2, annotations: with(map[string]string{"use-regex": "true"}), rules: []string{"one.example /a I b:80", "one.example /b/c I b:80"}},
			{name: "another", age: 1, annotations: allowed, rules: []string{"one.example /ops P b:80"}},
		}, []string{"one.example/A", "one.example/B/C", "one.example/OPS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, _ := world{config: map[string]string{"max-paths-per-namespace": "2"}, ingresses: test.ingresses}.translate(t)
			for _, url := range test.closed {
				if answer := ask(config, url); !strings.HasSuffix(answer, "-> 503") {
					t.Errorf("%s is open: %s", url, answer)
				}
			}
		})
	}
}

// A canary beyond the bound closes nothing: its paths are those of its main Ingress.
func TestCanaryBeyondTheBoundClosesNothing(t *testing.T) {
	t.Parallel()
	canary := map[string]string{"canary": "true", "canary-weight": "10"}
	maps.Copy(canary, allowed)
	config, _ := world{config: map[string]string{"max-paths-per-namespace": "1"}, ingresses: []ing{
		{name: "x", age: 5, rules: []string{"one.example / P a:80"}},
		{name: "can", age: 2, annotations: canary, rules: []string{"one.example /c P b:80", "one.example /d P b:80"}},
	}}.translate(t)
	if answer := ask(config, "one.example/cart"); !strings.HasSuffix(answer, "-> a") {
		t.Error(answer)
	}
}

// What nginx refuses of an Ingress beyond the bound is left out although the Ingress itself is as
// before, and comes back.
func TestDenialBeyondTheBoundHolds(t *testing.T) {
	t.Parallel()
	protected := map[string]string{"server-snippet": "set $bad_directive $nosuch;"}
	maps.Copy(protected, allowed)
	w := world{config: map[string]string{"max-hosts-per-namespace": "1", "allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}, ingresses: []ing{
		{name: "x", age: 5, rules: []string{"one.example / P a:80"}},
		{name: "z", age: 2, annotations: protected, rules: []string{"two.example / P b:80"}},
	}}
	snap, _ := snapshot.New(w.objects(t))
	memo := NewMemo()
	for _, denial := range []claim.Denial{0, claim.DenyPaths, claim.DenyBeginnings, 0} {
		o := w.flags()
		o.Denied = map[model.ObjectRef]claim.Denial{{Kind: "Ingress", Namespace: "default", Name: "z"}: denial}
		if denial == 0 {
			o.Denied = nil
		}
		warm, _ := Config(snap, o, memo)
		fresh, _ := Config(snap, o, nil)
		if !reflect.DeepEqual(warm.Static, fresh.Static) {
			t.Errorf("with the denial %d, what was known before counts", denial)
		}
	}
}
