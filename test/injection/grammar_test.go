package injection

import (
	"slices"
	"strings"
	"sync"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// grammar is each directive with its place: of the world, and of all that is
// benign.
type grammar struct{ world, all map[string]bool }

var learnt struct {
	sync.Once
	grammar
}

// benign gives what benign objects give. Nobody may change it.
func benign(t *testing.T) grammar {
	t.Helper()
	learnt.Do(func() {
		learnt.world, learnt.all = map[string]bool{}, map[string]bool{}
		learn(learnt.world, newWorker(t).run(sharedWorld(t)).tree(t))
		for _, objects := range append(references(t), sharedWorld(t)) {
			learn(learnt.all, newWorker(t).run(objects).tree(t))
		}
	})
	return learnt.grammar
}

// references are benign objects that use what the world does not.
func references(t *testing.T) []snapshot.Objects {
	t.Helper()
	worlds := []snapshot.Objects{worldObjects(t), worldObjects(t), worldObjects(t), worldObjects(t)}
	last := &worlds[3].Ingresses // without rules for the catch-all host
	*last = slices.DeleteFunc(*last, func(ing *networkingv1.Ingress) bool { return ing.Name == "plain" })
	for i, data := range []map[string]string{
		{"ssl-reject-handshake": "true", "regex-scope": "path"},
		{
			"use-gzip": "true", "gzip-disable": "x", "skip-access-log-urls": "/x, ~x", "error-log-path": "/dev/null",
			"worker-cpu-affinity": "auto", "debug-connections": "192.0.2.1",
		},
		{"hsts": "false", "ssl-session-cache": "false", "ssl-redirect": "false", "proxy-next-upstream": "off", "disable-access-log": "true", "upstream-keepalive-connections": "0"},
	} {
		worlds[i].ConfigMaps[0].Data = data
	}
	return worlds
}

// placeOf names a directive with where it stands. The entries of a map are
// values and have no names.
func placeOf(d *directive) string {
	name := d.name
	if strings.HasSuffix(d.path, "/map") && len(d.args) == 1 && !d.isBlock && name != "include" && name != "volatile" && name != "hostnames" {
		name = "<entry>"
	}
	if d.isBlock {
		name += " {}"
	}
	return d.path + " " + name
}

func learn(grammar map[string]bool, list []*directive) {
	all(list, func(d *directive) { grammar[placeOf(d)] = true })
}
