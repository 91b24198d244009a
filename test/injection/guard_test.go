package injection

import (
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// protected checks that what protects a path is there or the path is closed. The
// Ingresses are known by their routes.
func (j *judge) protected(c hostileCase, list []*directive, objects snapshot.Objects) {
	guards := guardsOf(objects)
	all(list, func(d *directive) {
		route := argument(d.body, "set")
		if d.name != "location" || route == "" || len(find(d.body, "proxy_pass")) == 0 {
			return
		}
		parts := strings.Split(strings.TrimPrefix(route, "$route "), "/")
		if len(parts) < 2 {
			return // the route was judged
		}
		guard := guards[snapshot.Name{Namespace: parts[0], Name: parts[1]}]
		if guard.allows && (argument(d.body, "deny") != "all" || len(find(d.body, "allow")) == 0) {
			j.t.Errorf("%s: location %q of %s is open to everybody", c, d.args, route)
		}
		if guard.verifies && (argument(d.body, "proxy_ssl_verify") != "on" || !strings.HasPrefix(argument(d.body, "proxy_pass"), "https://")) {
			j.t.Errorf("%s: location %q of %s passes on without verifying", c, d.args, route)
		}
	})
}

// guard is what an Ingress asks for to be protected.
type guard struct{ allows, verifies bool }

// guardsOf reads what the objects ask for, whether it is valid or not.
func guardsOf(objects snapshot.Objects) map[snapshot.Name]guard {
	guards := map[snapshot.Name]guard{}
	for _, ing := range objects.Ingresses {
		name := snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}
		guards[name] = guard{
			allows:   asks(ing, "allowlist-source-range", "whitelist-source-range"),
			verifies: asks(ing, "proxy-ssl-verify") && asks(ing, "proxy-ssl-secret") && ing.Annotations[prefix+"proxy-ssl-verify"] != "off" && !slices.Contains([]string{"", "HTTP", "http"}, strings.TrimSpace(ing.Annotations[prefix+"backend-protocol"])),
		}
	}
	return guards
}

// asks is true if one of the annotations is there and says something.
func asks(ing *networkingv1.Ingress, names ...string) bool {
	for _, key := range slices.Sorted(maps.Keys(ing.Annotations)) {
		for _, name := range names {
			if key == prefix+name && strings.TrimSpace(ing.Annotations[key]) != "" {
				return true
			}
		}
	}
	return false
}
