package injection

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/snapshot"
	"sluice/test/edges"
)

// grammar is each directive with its place: what benign Ingresses give, and what
// benign settings give too. It needs no line for a new key: keys say themselves
// which values are at the edges of what is valid.
type grammar struct{ ingresses, all map[string]bool }

var learnt struct {
	sync.Once
	grammar
}

// benign gives what benign objects give. Nobody may change it.
func benign(t *testing.T) grammar {
	t.Helper()
	learnt.Do(func() {
		w := newWorker(t)
		learnt.ingresses = map[string]bool{}
		for _, objects := range benignIngresses(t) {
			learn(learnt.ingresses, w.run(objects).tree(t))
		}
		learnt.all = maps.Clone(learnt.ingresses)
		for _, objects := range benignSettings(t) {
			learn(learnt.all, w.run(objects).tree(t))
		}
	})
	return learnt.grammar
}

// benignIngresses are the world as it is, with each annotation on its Ingresses,
// and without rules for the catch-all host, on which wildcard hosts depend.
func benignIngresses(t *testing.T) []snapshot.Objects {
	t.Helper()
	closed := sharedWorld(t)
	closed.Ingresses = slices.DeleteFunc(slices.Clone(closed.Ingresses), func(ing *networkingv1.Ingress) bool { return ing.Name == "plain" })
	worlds := []snapshot.Objects{sharedWorld(t), closed}
	for _, doc := range annotationDocs() {
		for _, value := range benignValues(doc) {
			objects := sharedWorld(t)
			objects.Ingresses = nil
			for _, ing := range sharedWorld(t).Ingresses {
				ing = ing.DeepCopy()
				ing.Annotations[annotations.FieldOf(prefix, doc.Key)] = value
				objects.Ingresses = append(objects.Ingresses, ing)
			}
			worlds = append(worlds, objects)
		}
	}
	return worlds
}

// benignValues are harmless values of a key: a text or a list of anything has no
// edges of its own.
func benignValues(doc keys.Doc) []string {
	if len(edges.Of(doc)) == 0 {
		return []string{"x", "/x"}
	}
	return edges.Of(doc)
}

// together are settings that print something only beside each other, and dependent
// those whose texts are then printed in other places.
var (
	together = []map[string]string{
		{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "192.0.2.0/24"},
		{"use-proxy-protocol": "true", "proxy-real-ip-cidr": "192.0.2.0/24"},
		{"use-forwarded-headers": "true", "use-proxy-protocol": "true", "proxy-real-ip-cidr": "192.0.2.0/24", "compute-full-forwarded-for": "true"},
		{"use-forwarded-headers": "true", "proxy-real-ip-cidr": ""},
		{"hsts": "false", "ssl-session-cache": "false", "proxy-next-upstream": "off", "ssl-ciphers": ""},
		{"use-gzip": "true", "gzip-disable": "x", "skip-access-log-urls": "/x, ~x", "error-log-path": "/dev/null", "worker-cpu-affinity": "auto", "debug-connections": "192.0.2.1"},
	}
	dependent = []string{"forwarded-for-header", "forwarded-host-header", "proxy-real-ip-cidr"}
)

// benignSettings are the world with each setting alone, with all switches on, with
// all of them off, and with those that need each other.
func benignSettings(t *testing.T) []snapshot.Objects {
	t.Helper()
	on, off := map[string]string{}, map[string]string{}
	data := append([]map[string]string{on, off}, together...)
	for _, doc := range settingDocs() {
		if doc.Type == "bool" {
			on[doc.Key], off[doc.Key] = "true", "false"
		}
		for _, value := range benignValues(doc) {
			data = append(data, map[string]string{doc.Key: value})
		}
	}
	var worlds []snapshot.Objects
	for _, settings := range data {
		worlds = append(worlds, withData(sharedWorld(t), settings))
	}
	return worlds
}

// placeOf names a directive with where it stands. The entries of maps and geos are
// values and have no names.
func placeOf(d *directive) string {
	name := d.name
	if valued(d) && len(d.args) == 1 && !d.isBlock && !slices.Contains(parameters, name) {
		name = "<entry>"
	}
	if d.isBlock {
		name += " {}"
	}
	return d.path + " " + name
}

// parameters are what maps and geos do not take for a value.
// Source: https://nginx.org/en/docs/http/ngx_http_map_module.html#map and
// https://nginx.org/en/docs/http/ngx_http_geo_module.html#geo
var parameters = []string{"include", "volatile", "hostnames", "proxy", "proxy_recursive", "ranges", "delete"}

// valued is true for what stands in a block whose entries begin with a value.
func valued(d *directive) bool {
	return strings.HasSuffix(d.path, "/map") || strings.HasSuffix(d.path, "/geo")
}

func learn(grammar map[string]bool, list []*directive) {
	all(list, func(d *directive) { grammar[placeOf(d)] = true })
}

// What nothing was learnt of would pass for an attack, and if all is learnt
// nothing would.
func TestBenign(t *testing.T) {
	t.Parallel()
	g := benign(t)
	if len(g.ingresses) < 110 || len(g.all) < len(g.ingresses)+5 {
		t.Errorf("learnt only %d places of Ingresses, and %d in all", len(g.ingresses), len(g.all))
	}
	for place, want := range map[string]bool{
		"http/server/location deny": true, "http/server/location return": true, "http/server/location/if return": true, "http/geo <entry>": true, "http real_ip_header": true,
		"http/server/location alias": false, "http/server/location root": false, "http/server/location content_by_lua_block {}": false, "http/geo include": false, "http/map include": false,
		"http include": false, "http/server include": false, "http/server/location proxy_bind": false, "http/server set_real_ip_from": false, "http/server/location try_files": false, "http/server/location error_page": true,
	} {
		if g.all[place] != want {
			t.Errorf("%s is learnt: %t, want %t", place, g.all[place], want)
		}
	}
}

// keyed are the docs of keys by each of their names.
func keyed(docs []keys.Doc) map[string]keys.Doc {
	named := map[string]keys.Doc{}
	for _, doc := range docs {
		for _, name := range doc.Names {
			named[name] = doc
		}
	}
	return named
}
