package injection

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// protected checks that what protects a path is there or the path is closed. The
// Ingresses are known by their routes.
func (j *judge) protected(c hostileCase, read *reading, objects snapshot.Objects) {
	guards := guardsOf(objects)
	for _, d := range read.passing {
		guard := guards[d.owner]
		if fault := guard.accessFault(d.body); fault != "" {
			j.t.Errorf("%s: location %q of %s: %s", c, d.args, d.route, fault)
		}
		if guard.authenticates && !strings.HasPrefix(argument(d.body, "auth_request"), "/.sluice/auth-") {
			j.t.Errorf("%s: location %q of %s passes on without a question", c, d.args, d.route)
		}
		https := argument(d.body, "proxy_ssl_verify") == "on" && strings.HasPrefix(argument(d.body, "proxy_pass"), "https://")
		grpcs := argument(d.body, "grpc_ssl_verify") == "on" && strings.HasPrefix(argument(d.body, "grpc_pass"), "grpcs://")
		if guard.verifies && !https && !grpcs {
			j.t.Errorf("%s: location %q of %s passes on without verifying", c, d.args, d.route)
		}
	}
}

// routeOf is what a location sets $route to, "" for nothing.
func routeOf(body []*directive) string {
	for _, d := range find(body, "set") {
		if d.args[0] == "$route" {
			return strings.Join(d.args, " ")
		}
	}
	return ""
}

// guard is what an Ingress asks for to be protected: its lists as they are written,
// "" for none.
type guard struct {
	denies, allows          string
	verifies, authenticates bool
}

// accessFault says what is wrong with who a location lets in: nginx takes the first
// rule that fits, so that the deny list has to come first, and all others have to be
// denied last. A list that cannot be read must have closed the location.
// Source: https://nginx.org/en/docs/http/ngx_http_access_module.html
func (g guard) accessFault(body []*directive) string {
	var got, want []string
	for _, d := range body {
		if d.name == "allow" || d.name == "deny" {
			got = append(got, d.name+" "+strings.Join(d.args, " "))
		}
	}
	denied, err := networks(g.denies)
	allowed, wrong := networks(g.allows)
	if err != nil || wrong != nil {
		return "it is open, and a list of addresses cannot be read"
	}
	for _, network := range denied {
		want = append(want, "deny "+network)
	}
	for _, network := range allowed {
		want = append(want, "allow "+network)
	}
	if len(allowed) > 0 {
		want = append(want, "deny all")
	}
	if !slices.Equal(got, want) {
		return "who may come in is " + strings.Join(got, "; ") + ", want " + strings.Join(want, "; ")
	}
	return ""
}

// networks reads a list of addresses and networks, sorted and each once, as nginx
// writes them in its errors: without host bits, and IPv4 as itself.
func networks(list string) ([]string, error) {
	var found []string
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if address, err := netip.ParseAddr(item); err == nil && address.Zone() == "" {
			found = append(found, address.Unmap().String())
			continue
		}
		network, err := netip.ParsePrefix(item)
		if err != nil {
			return nil, err
		}
		if address := network.Addr(); address.Is4In6() && network.Bits() >= 96 {
			network = netip.PrefixFrom(address.Unmap(), network.Bits()-96)
		}
		found = append(found, network.Masked().String())
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// guarding are the keys that decide about guards.
var guarding = []string{"denylist-source-range", "allowlist-source-range", "whitelist-source-range", "proxy-ssl-verify", "proxy-ssl-secret", "backend-protocol", "auth-url"}

// off are the words by which nothing is verified.
var off = map[string]bool{"off": true, "false": true, "no": true, "0": true}

// guardsOf reads what the objects ask for, whether it is valid or not.
func guardsOf(objects snapshot.Objects) map[snapshot.Name]guard {
	guards := map[snapshot.Name]guard{}
	for _, ing := range objects.Ingresses {
		data := settingsOf(objects, ing)
		guards[snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}] = guard{
			denies:        asked(ing, data["denylist-source-range"], "denylist-source-range"),
			allows:        asked(ing, data["whitelist-source-range"], "allowlist-source-range", "whitelist-source-range"),
			authenticates: asks(ing, "auth-url"),
			verifies:      asks(ing, "proxy-ssl-verify") && asks(ing, "proxy-ssl-secret") && !off[strings.ToLower(strings.TrimSpace(ing.Annotations[prefix+"proxy-ssl-verify"]))] && !slices.Contains([]string{"", "HTTP", "http"}, strings.TrimSpace(ing.Annotations[prefix+"backend-protocol"])),
		}
	}
	return guards
}

// settingsOf gives the data of the ConfigMap that is ours, and over it that of the
// class of an Ingress.
func settingsOf(objects snapshot.Objects, ing *networkingv1.Ingress) map[string]string {
	data := map[string]string{}
	maps.Copy(data, dataOf(objects, snapshot.Name{Namespace: "sluice", Name: "config"}))
	for _, class := range objects.IngressClasses {
		p := class.Spec.Parameters
		if ing.Spec.IngressClassName == nil || class.Name != *ing.Spec.IngressClassName || class.Spec.Controller != "k8s.io/ingress-nginx" || p == nil {
			continue
		}
		if p.Kind == "ConfigMap" && (p.APIGroup == nil || *p.APIGroup == "") && p.Scope != nil && *p.Scope == "Namespace" && p.Namespace != nil {
			maps.Copy(data, dataOf(objects, snapshot.Name{Namespace: *p.Namespace, Name: p.Name}))
		}
	}
	return data
}

func dataOf(objects snapshot.Objects, name snapshot.Name) map[string]string {
	at := slices.IndexFunc(objects.ConfigMaps, func(m *corev1.ConfigMap) bool { return m.Namespace == name.Namespace && m.Name == name.Name })
	if at < 0 {
		return nil
	}
	return objects.ConfigMaps[at].Data
}

// asked gives what an Ingress says by the first of some names that it says anything
// by, or what it says by default.
func asked(ing *networkingv1.Ingress, byDefault string, names ...string) string {
	for _, name := range names {
		if value := ing.Annotations[prefix+name]; strings.TrimSpace(value) != "" {
			return value
		}
	}
	return byDefault
}

// asks is true if one of the annotations is there and says something.
func asks(ing *networkingv1.Ingress, names ...string) bool { return asked(ing, "", names...) != "" }

func TestAccessFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		guard guard
		body  string
		fault bool
	}{
		{guard{}, "", false},
		{guard{allows: "10.0.0.1, ::1"}, "allow 10.0.0.1; allow ::1; deny all;", false},
		{guard{allows: "10.0.0.1"}, "allow 10.0.0.1;", true},
		{guard{allows: "10.0.0.1"}, "", true},
		{guard{allows: "10.0.0.1"}, "allow 10.0.0.1; allow 10.0.0.2; deny all;", true},
		{guard{denies: "10.0.0.7/8"}, "deny 10.0.0.0/8;", false},
		{guard{denies: "10.0.0.0/8"}, "deny 11.0.0.0/8;", true},
		{guard{denies: "10.0.0.1", allows: "10.0.0.0/8"}, "deny 10.0.0.1; allow 10.0.0.0/8; deny all;", false},
		{guard{denies: "10.0.0.1", allows: "10.0.0.0/8"}, "allow 10.0.0.0/8; deny 10.0.0.1; deny all;", true},
		{guard{denies: "nonsense"}, "", true},
		{guard{}, "allow 10.0.0.1; deny all;", true},
	} {
		list, _, err := parse([]byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.guard.accessFault(list); (got != "") != c.fault {
			t.Errorf("%+v and %q: %q", c.guard, c.body, got)
		}
	}
}
