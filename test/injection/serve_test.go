package injection

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/test/kit"
)

// seat is a place of an Ingress of its own that a hostile value is put in.
type seat struct {
	name   string
	values []string
	// served is set where a value that is taken must answer for itself, pattern
	// where nginx may refuse to compile it.
	served, pattern bool
	// beside is set where another Ingress makes the paths of the host patterns.
	beside bool
	// make gives the Ingress for host h; it changes it.
	make func(ing *networkingv1.Ingress, value string)
}

// hashes are values for keys of hashes, and patterns of canaries.
var hashes = append([]string{"$lua_x", "${host", "$host$", "$1", "$route", "$sent_http_x", "$http_", "^(a+)+$", "(*NO_JIT)(*LIMIT_MATCH=4294967295)^(a+)+$", "(", "(?<route>a)", "[[:a:]]", "a{65535}", "a\\"}, corpus...)

// The seats that real nginx is asked about.
var seats = []seat{
	{name: "Exact", values: paths, served: true, make: func(ing *networkingv1.Ingress, v string) { setPath(ing, networkingv1.PathTypeExact, v) }},
	{name: "Prefix", values: paths, served: true, make: func(ing *networkingv1.Ingress, v string) { setPath(ing, networkingv1.PathTypePrefix, v) }},
	{name: "ImplementationSpecific", values: paths, served: true, make: func(ing *networkingv1.Ingress, v string) {
		setPath(ing, networkingv1.PathTypeImplementationSpecific, v)
	}},
	{name: "pattern", values: paths, pattern: true, make: func(ing *networkingv1.Ingress, v string) {
		setPath(ing, networkingv1.PathTypeImplementationSpecific, v)
		ing.Annotations = map[string]string{prefix + "use-regex": "true", prefix + "rewrite-target": "/r"}
	}},
	{name: "rewritten", values: paths, pattern: true, make: func(ing *networkingv1.Ingress, v string) {
		setPath(ing, networkingv1.PathTypePrefix, v)
		ing.Annotations = map[string]string{prefix + "rewrite-target": "/r"}
	}},
	{name: "beside a pattern", values: paths, beside: true, make: func(ing *networkingv1.Ingress, v string) { setPath(ing, networkingv1.PathTypePrefix, v) }},
	{name: "host", values: corpus, make: func(ing *networkingv1.Ingress, v string) { ing.Spec.Rules[0].Host = v }},
	{name: "wildcard host", values: corpus, make: func(ing *networkingv1.Ingress, v string) { ing.Spec.Rules[0].Host = "*." + v }},
	{name: "passed host", values: corpus, make: func(ing *networkingv1.Ingress, v string) {
		ing.Spec.Rules[0].Host = v
		ing.Annotations = map[string]string{prefix + "ssl-passthrough": "true"}
	}},
	{name: "ssl-passthrough", values: corpus, make: annotate("ssl-passthrough", nil)},
	{name: "rewrite-target", values: paths, make: annotate("rewrite-target", nil)},
	{name: "cors-allow-origin", values: corpus, make: annotate("cors-allow-origin", map[string]string{"enable-cors": "true"})},
	{name: "cors-allow-headers", values: corpus, make: annotate("cors-allow-headers", map[string]string{"enable-cors": "true"})},
	{name: "allowlist-source-range", values: corpus, make: annotate("allowlist-source-range", nil)},
	{name: "proxy-ssl-name", values: corpus, make: annotate("proxy-ssl-name", map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/authority", "proxy-ssl-verify": "on"})},
	{name: "auth-tls-match-cn", values: onCN(corpus), make: annotate("auth-tls-match-cn", map[string]string{"auth-tls-secret": "default/clients", "auth-tls-verify-client": "optional"})},
	{name: "auth-tls-error-page", values: paths, make: annotate("auth-tls-error-page", map[string]string{"auth-tls-secret": "default/clients", "auth-tls-verify-client": "optional"})},
	{name: "auth-realm", values: corpus, make: annotate("auth-realm", map[string]string{"auth-type": "basic", "auth-secret": "users", "auth-secret-type": "auth-map"})},
	{name: "auth-url", values: append([]string{"http://auth.example/#;}", "http://$host/$lua_x", "http://auth.example/$escaped_request_uri"}, corpus...), make: annotate("auth-url", nil)},
	{name: "auth-signin", values: paths, make: annotate("auth-signin", map[string]string{"auth-url": "http://auth.example/"})},
	{name: "auth-request-redirect", values: corpus, make: annotate("auth-request-redirect", map[string]string{"auth-url": "http://auth.example/"})},
	{name: "auth-response-headers", values: corpus, make: annotate("auth-response-headers", map[string]string{"auth-url": "http://auth.example/"})},
	{name: "auth-cache-key", values: append([]string{"$host", "${http_x}", "$lua_x", "$", "a$", "$remote_user$uri"}, corpus...), make: annotate("auth-cache-key", map[string]string{"auth-url": "http://auth.example/"})},
	{name: "auth-cache-duration", values: append([]string{"200", "5m", "200 5m,", ",", "99 5m", "600 5m", "200 5ms", "200 99999m"}, corpus...), make: annotate("auth-cache-duration", map[string]string{"auth-url": "http://auth.example/", "auth-cache-key": "$host"})},
	{name: "auth-keepalive", values: append([]string{"1", "1000", "1001", "-1"}, corpus...), make: annotate("auth-keepalive", map[string]string{"auth-url": "http://auth.example/"})},
	{name: "satisfy", values: append([]string{"any", "all", "Any", "any;"}, corpus...), make: annotate("satisfy", map[string]string{"auth-url": "http://auth.example/", "allowlist-source-range": "127.0.0.0/8"})},
	{name: "proxy-next-upstream", values: corpus, make: annotate("proxy-next-upstream", nil)},
	{name: "denylist-source-range", values: corpus, make: annotate("denylist-source-range", nil)},
	{name: "server-alias", values: aliases, make: annotate("server-alias", nil)},
	{name: "upstream-vhost", values: corpus, make: annotate("upstream-vhost", nil)},
	{name: "upstream-hash-by", values: hashes, make: annotate("upstream-hash-by", map[string]string{"upstream-hash-by-subset": "true"})},
	{name: "canary-by-header-pattern", values: hashes, make: annotate("canary-by-header-pattern", map[string]string{"canary": "true", "canary-by-header": "X-A"})},
	{name: "app-root", values: paths, make: annotate("app-root", nil)},
	{name: "permanent-redirect", values: paths, make: annotate("permanent-redirect", nil)},
	{name: "temporal-redirect", values: paths, make: annotate("temporal-redirect", nil)},
	{name: "x-forwarded-prefix", values: paths, make: annotate("x-forwarded-prefix", map[string]string{"rewrite-target": "/r"})},
	{name: "client-body-buffer-size", values: append([]string{"1", "1g", "1024m", "9223372036854775807g"}, corpus...), make: annotate("client-body-buffer-size", nil)},
	{name: "proxy-cookie-path", values: append([]string{"/a /b;", "~(a /b", "/a /b{c"}, paths...), make: annotate("proxy-cookie-path", nil)},
	{name: "proxy-redirect-to", values: paths, make: annotate("proxy-redirect-to", map[string]string{"proxy-redirect-from": "/a"})},
	{name: "response-headers", values: inLines("X-A: ", corpus), make: annotate("response-headers", nil)},
	{name: "request-headers", values: inLines("X-A: ", hashes), make: annotate("request-headers", nil)},
	{name: "redirects", values: append(inLines("/a/* ", paths), inLines("/a ", paths)...), make: annotate("redirects", nil)},
	{name: "deny-paths", values: append(inLines("~ ", hashes), paths...), make: annotate("deny-paths", nil)},
	{name: "sub-filter", values: inLines("a => ", corpus), make: annotate("sub-filter", nil)},
	{name: "cookie-flags", values: inLines("a secure ", corpus), make: annotate("cookie-flags", nil)},
	{name: "cache-control", values: inLines("public, ", corpus), make: annotate("cache-control", nil)},
	{name: "fallback-path", values: paths, make: annotate("fallback-path", nil)},
	{name: "match-headers", values: append(inLines("X-A: ", corpus), inLines("X-A: ~", hashes)...), make: annotate("match-headers", nil)},
	{name: "match-query", values: append(inLines("a: ", corpus), inLines("a: ~", hashes)...), make: annotate("match-query", nil)},
	{name: "proxy-busy-buffers-size", values: []string{"1", "32m", "0", "9223372036854775807g"}, make: annotate("proxy-busy-buffers-size", map[string]string{"proxy-buffers-number": "2"})},
}

// inLines makes lines of values.
func inLines(beginning string, values []string) []string {
	var lines []string
	for _, value := range values {
		lines = append(lines, beginning+value)
	}
	return lines
}

// onCN makes patterns of values.
func onCN(values []string) []string {
	var patterns []string
	for _, value := range values {
		patterns = append(patterns, "CN="+value)
	}
	return patterns
}

func setPath(ing *networkingv1.Ingress, pathType networkingv1.PathType, path string) {
	ing.Spec.Rules[0].HTTP.Paths[0].PathType = &pathType
	ing.Spec.Rules[0].HTTP.Paths[0].Path = path
}

func annotate(key string, others map[string]string) func(*networkingv1.Ingress, string) {
	return func(ing *networkingv1.Ingress, v string) {
		ing.Annotations = map[string]string{annotations.FieldOf(prefix, key): v}
		for other, value := range others {
			ing.Annotations[prefix+other] = value
		}
	}
}

// tenant is an Ingress that holds one hostile value.
type tenant struct {
	seat  seat
	value string
	host  string
	ing   *networkingv1.Ingress
}

func (t tenant) String() string { return t.seat.name + " = " + named(t.value) }

// tenants gives an Ingress for each value of each seat.
func tenants() []tenant {
	var list []tenant
	for _, s := range seats {
		for _, value := range s.values {
			ing := simple(fmt.Sprintf("t%d", len(list)), "/", nil)
			s.make(ing, value)
			list = append(list, tenant{seat: s, value: value, host: ing.Name + ".example", ing: ing})
		}
	}
	return list
}

// simple gives an Ingress that serves NAME.example with the Service web.
func simple(name, path string, values map[string]string) *networkingv1.Ingress {
	ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{}}}
	for key, value := range values {
		ing.Annotations[annotations.FieldOf(prefix, key)] = value
	}
	ing.Spec.IngressClassName = new("nginx")
	ing.Spec.Rules = []networkingv1.IngressRule{{Host: name + ".example"}}
	ing.Spec.Rules[0].HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
		Path: path, PathType: new(networkingv1.PathTypePrefix),
		Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
	}}}
	return ing
}

// TestNginxServesHostileValues puts all tenants in one file, beside the usual
// world. nginx must take it: it may only refuse patterns that do not compile.
// Then each path that was taken must lead to its own backend and nowhere else.
func TestNginxServesHostileValues(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			t.Parallel()
			serveTenants(t, newSite(t, installed))
		})
	}
}

func serveTenants(t *testing.T, s *site) {
	w := newWorker(t)
	w.on(s)
	list := tenants()
	o := s.accepted(t, w, &list)
	s.start(t, o.config.Dynamic)
	asked := 0
	for _, tenant := range list {
		if !tenant.seat.served || len(o.about("Ingress default/"+tenant.ing.Name, "")) > 0 {
			continue
		}
		asked++
		if got := s.ask(t, tenant.host, encode(tenant.value)); got.backend != "default/web/80" {
			t.Errorf("%s: %.100s is answered by %q with %d", tenant, encode(tenant.value), got.backend, got.status)
		}
		if decoded, _ := url.PathUnescape(tenant.value); strings.Trim(decoded, "/") == "" {
			continue
		}
		for _, other := range []string{"/", "/zzz", encode(tenant.value) + "zzz"} {
			if got := s.ask(t, tenant.host, other); got.status != 404 {
				t.Errorf("%s: %.100s is answered by %q with %d", tenant, other, got.backend, got.status)
			}
		}
	}
	if asked < 150 {
		t.Errorf("only %d paths were taken", asked)
	}
	for _, host := range neighbours {
		if got := s.ask(t, host, "/x"); got.backend != "other/side/80" {
			t.Errorf("%s is answered by %q with %d", host, got.backend, got.status)
		}
	}
	if got := s.ask(t, "nobody.at.all.test", "/"); got.status == 0 {
		t.Error("a name that nobody has as it is gets no answer")
	}
}

// encode writes a path, which may have escapes already, with an escape for every
// byte but letters, digits and "/".
func encode(path string) string {
	decoded, err := url.PathUnescape(path)
	if err != nil {
		decoded = path
	}
	var out strings.Builder
	for i := range len(decoded) {
		if ch := decoded[i]; ch == '/' || ch >= '0' && ch <= '9' || ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z' {
			out.WriteByte(ch)
		} else {
			fmt.Fprintf(&out, "%%%02X", ch)
		}
	}
	return cmp.Or(out.String(), "/")
}

var (
	complaint  = regexp.MustCompile(`(?m)\[emerg\] (?:\d+#\d+: )?(.*?)(?: in \S+nginx\.conf:(\d+))?$`)
	uncompiled = regexp.MustCompile(`pcre2?_compile\(\) failed`)
)

// accepted gives what the world with the tenants becomes once those are out whose
// patterns nginx does not compile.
func (s *site) accepted(t *testing.T, w *worker, list *[]tenant) outcome {
	t.Helper()
	objects := worldObjects(t)
	objects.EndpointSlices = append(objects.EndpointSlices, objectsOf(t, sideSlice).EndpointSlices...)
	for refused := 0; refused < 60; refused++ {
		o := w.run(withTenants(objects, *list))
		out := s.check(t, o.file)
		if out == "" {
			return o
		}
		found := complaint.FindStringSubmatch(out)
		if found == nil || !uncompiled.MatchString(found[1]) || found[2] == "" {
			t.Fatalf("%s nginx refuses the file: %.1000s", s.Name, out)
		}
		owner := ownerOf(o.file, found[2])
		at := slices.IndexFunc(*list, func(tenant tenant) bool { return tenant.ing.Name == owner.Name })
		if at < 0 || !(*list)[at].seat.pattern {
			t.Fatalf("%s nginx refuses what no pattern of a tenant is, %s: %.1000s", s.Name, owner, out)
		}
		*list = slices.Delete(*list, at, at+1)
	}
	t.Fatalf("%s nginx refuses too many", s.Name)
	return outcome{}
}

const sideSlice = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: side-1, namespace: other, labels: {kubernetes.io/service-name: side}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.2]}]
ports: [{port: 80}]
`

func withTenants(objects snapshot.Objects, list []tenant) snapshot.Objects {
	objects.Ingresses = slices.Clone(objects.Ingresses)
	for _, tenant := range list {
		objects.Ingresses = append(objects.Ingresses, tenant.ing)
		if tenant.seat.beside {
			turning := tenant.ing.DeepCopy()
			turning.Name = "turns-" + tenant.ing.Name
			turning.Annotations = map[string]string{prefix + "use-regex": "true"}
			setPath(turning, networkingv1.PathTypeImplementationSpecific, "/turning/[0-9]+")
			objects.Ingresses = append(objects.Ingresses, turning)
		}
	}
	return objects
}

func ownerOf(file *render.File, line string) model.ObjectRef {
	n := 0
	fmt.Sscan(line, &n)
	origin, _ := file.Origin(n)
	return origin.Object
}
