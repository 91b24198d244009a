package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/claim"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// base is a class of ours and one of others, and Services with one endpoint, with
// none, with one that is not ready, and with a name.
const base = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: internal}
spec: {controller: example.com/internal}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv6
endpoints: [{addresses: ["2001:db8::1"]}]
ports: [{name: http, port: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: empty, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: starting, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: starting-1, namespace: shop, labels: {kubernetes.io/service-name: starting}}
addressType: IPv4
endpoints: [{addresses: ["10.0.0.9"], conditions: {ready: false}}]
ports: [{port: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: unported, namespace: shop}
spec: {ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: unported-1, namespace: shop, labels: {kubernetes.io/service-name: unported}}
addressType: IPv4
endpoints: [{addresses: ["10.0.0.8"]}]
ports: [{name: metrics, port: 9090}]
---
apiVersion: v1
kind: Service
metadata: {name: none, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: none-1, namespace: shop, labels: {kubernetes.io/service-name: none}}
addressType: IPv4
endpoints: []
ports: [{port: 8080}]
---
apiVersion: v1
kind: Service
metadata: {name: abroad, namespace: shop}
spec: {type: ExternalName, externalName: db.example.org, ports: [{port: 80, targetPort: 5000}]}
`

// ingress writes an Ingress. Rules are "host /path Type service", "" being no
// host; a spec.defaultBackend is "default service". Annotations are
// "name: value" without the prefix, others with all of their name.
func ingress(name string, rules []string, annotations ...string) string {
	text := fmt.Sprintf("---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: %s\n  namespace: shop\n  annotations:\n", name)
	for _, a := range annotations {
		if !strings.HasPrefix(a, "kubernetes.io/") && !strings.HasPrefix(a, "sluice.io/") {
			a = "nginx.ingress.kubernetes.io/" + a
		}
		text += "    " + a + "\n"
	}
	text += "spec:\n  ingressClassName: nginx\n"
	list := ""
	for _, rule := range rules {
		parts := strings.Split(rule, " ")
		service := fmt.Sprintf("{service: {name: %s, port: {number: 80}}}", parts[len(parts)-1])
		switch {
		case parts[0] == "default":
			text += "  defaultBackend: " + service + "\n"
		case parts[0] == "tls":
			text += "  tls: [{hosts: [" + parts[1] + "]}]\n"
		default:
			list += fmt.Sprintf("  - host: %q\n    http: {paths: [{path: %q, pathType: %s, backend: %s}]}\n", parts[0], parts[1], parts[2], service)
		}
	}
	if list != "" {
		text += "  rules:\n" + list
	}
	return text
}

// inputOf takes manifests through the core.
func inputOf(t *testing.T, manifests string, change func(*translate.Options)) Input {
	t.Helper()
	objects, _, err := decode.FromYAML("manifests.yaml", []byte(base+manifests))
	if err != nil {
		t.Fatal(err)
	}
	options := translate.Options{
		IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true,
		AnnotationsPrefix: "nginx.ingress.kubernetes.io", HTTPSPort: 443,
	}
	if change != nil {
		change(&options)
	}
	snap, problems := snapshot.New(objects)
	config, more := translate.Config(snap, options, nil)
	return Input{Snapshot: snap, Options: options, Config: config, Problems: append(problems, more...)}
}

// asked explains "METHOD URL" or a URL.
func asked(t *testing.T, in Input, line string) *Explanation {
	t.Helper()
	method, url, ok := strings.Cut(line, " ")
	if !ok {
		method, url = "GET", line
	}
	r, err := ParseRequest(method, url)
	if err != nil {
		t.Fatal(err)
	}
	return Explain(in, r)
}

// lost prints the losers but for the fallback of the catch-all host, which loses
// everywhere.
func lost(e *Explanation) []string {
	var lines []string
	for _, c := range e.Losers {
		if c.Kind != FromFallback || c.Host != "" {
			lines = append(lines, fmt.Sprintf("%s %s: %s: %s", c.Object.Name, c.Field, c.Verdict, c.Why))
		}
	}
	return lines
}

func TestWhyCandidatesLose(t *testing.T) {
	t.Parallel()
	one := []string{"shop.example / Prefix web"}
	for name, test := range map[string]struct {
		manifests, url string
		change         func(*translate.Options)
		winner         string
		want           []string
	}{
		"its class": {
			manifests: ingress("a", one) +
				strings.Replace(ingress("field", one), "Name: nginx", "Name: internal", 1) +
				strings.Replace(ingress("gone", one), "Name: nginx", "Name: gone", 1) +
				strings.Replace(ingress("noclass", one), "  ingressClassName: nginx\n", "", 1) +
				strings.Replace(ingress("legacy", one, "kubernetes.io/ingress.class: other"), "  ingressClassName: nginx\n", "", 1),
			url: "shop.example/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{
				`noclass spec.rules[0].http.paths[0]: OtherClass: its Ingress names no class, and no IngressClass that is served is the default one`,
				`legacy spec.rules[0].http.paths[0]: OtherClass: its Ingress is of the class "other" (kubernetes.io/ingress.class), and served are: nginx`,
				`gone spec.rules[0].http.paths[0]: OtherClass: its Ingress is of the class "gone" (spec.ingressClassName), and there is no IngressClass of that name`,
				`field spec.rules[0].http.paths[0]: OtherClass: its Ingress is of the class "internal" (spec.ingressClassName), whose spec.controller is example.com/internal and not k8s.io/ingress-nginx`,
			},
		},
		"its Ingress is left out": {
			manifests: ingress("a", one) + ingress("canary", one, `canary: "yes"`) + ingress("share", one, `canary: "true"`) + ingress("greedy", append(one, "default web")),
			change:    func(o *translate.Options) { o.DisableCatchAll = true },
			url:       "shop.example/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{
				"share spec.rules[0].http.paths[0]: SharesPath: it is a canary: it has no location, and gets some requests of Ingress shop/a, which has the same path",
				"greedy spec.rules[0].http.paths[0]: LeftOut: its Ingress is left out",
				"greedy spec.defaultBackend: LeftOut: its Ingress is left out",
				"canary spec.rules[0].http.paths[0]: LeftOut: its Ingress is left out",
			},
		},
		"a canary without requests": {
			manifests: ingress("a", one) + ingress("b", []string{"shop.example / Prefix web"}, `canary: "true"`) +
				ingress("elsewhere", []string{"shop.example /x Prefix web"}, `canary: "true"`) +
				ingress("guarded", one, `canary: "true"`, `denylist-source-range: "10.0.0.0/8"`) + ingress("first", one, `canary: "true"`),
			url: "shop.example/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{
				"guarded spec.rules[0].http.paths[0]: HasProblem: Ingress shop/a, whose path it shares, has no deny-list: the canary gets no requests",
				`elsewhere spec.rules[0].http.paths[0]: HasProblem: no other Ingress has the path /x of the pathType Prefix on host "shop.example": the canary gets no requests of it`,
				"first spec.rules[0].http.paths[0]: SharesPath: it is a canary: it has no location, and gets some requests of Ingress shop/a, which has the same path",
				"b spec.rules[0].http.paths[0]: SharesPath: it is a canary: it has no location, and gets some requests of Ingress shop/a, which has the same path",
			},
		},
		"a problem of the rule": {
			manifests: ingress("b", one) + ingress("a", append(one, "shop.example /x//y Prefix web")) + ingress("upper", []string{"shop.example /ok Prefix web"}),
			url:       "shop.example/x", winner: "Ingress shop/b, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{
				`a spec.rules[0].http.paths[0]: HasProblem: Ingress shop/b already has Prefix / of host "shop.example" with its spec.rules[0].http.paths[0], and of two of the same age the one whose name sorts last counts`,
				`a spec.rules[1].http.paths[0]: HasProblem: want a path without //, /./ and /../, which nginx takes out of every request (got "/x//y")`,
				"upper spec.rules[0].http.paths[0]: DoesNotMatch: its path does not match /x",
			},
		},
		"said before": {
			manifests: ingress("a", append(one, one...)),
			url:       "shop.example/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{"a spec.rules[1].http.paths[0]: Repeated: its Ingress says the same before, with spec.rules[0].http.paths[0]"},
		},
		"its host": {
			manifests: ingress("a", []string{"x.shop.example / Prefix web", "*.shop.example / Prefix web", "*.example / Prefix web", " / Prefix web", "y.shop.example / Prefix web"}),
			url:       "X.Shop.Example.:8080/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{
				"a spec.rules[1].http.paths[0]: LessSpecificHost: its host *.shop.example is less specific than x.shop.example",
				"a spec.rules[2].http.paths[0]: LessSpecificHost: its host *.example is less specific than x.shop.example",
				"a spec.rules[3].http.paths[0]: LessSpecificHost: it is for any host, and x.shop.example is more specific",
			},
		},
		"one label": {
			manifests: ingress("a", []string{"*.shop.example / Prefix web", " /x Prefix web"}),
			url:       "a.b.shop.example/x", winner: "Ingress shop/a, spec.rules[1].http.paths[0] (Prefix /x)",
			want: []string{
				"a spec.rules[0].http.paths[0]: OneLabel: the * of its host *.shop.example stands for exactly one label, and a.b.shop.example has more",
			},
		},
		"its path": {
			manifests: ingress("a", []string{"shop.example /a Prefix web", "shop.example /a/b Prefix web", "shop.example /a/b Exact web", "shop.example /c Exact web"}),
			url:       "shop.example/a/b", winner: "Ingress shop/a, spec.rules[2].http.paths[0] (Exact /a/b)",
			want: []string{
				"a spec.rules[0].http.paths[0]: ExactFirst: an exact path comes first: Exact /a/b of Ingress shop/a",
				"a spec.rules[1].http.paths[0]: ExactFirst: an exact path comes first: Exact /a/b of Ingress shop/a",
				"a : ExactFirst: an exact path comes first: Exact /a/b of Ingress shop/a",
				"a spec.rules[3].http.paths[0]: DoesNotMatch: its path does not match /a/b",
			},
		},
		"a longer prefix, by its name without the slash": {
			manifests: ingress("a", []string{"shop.example / Prefix web", "shop.example /a Prefix web"}),
			url:       "shop.example/a", winner: "Ingress shop/a, spec.rules[1].http.paths[0] (Prefix /a)",
			want: []string{"a spec.rules[0].http.paths[0]: LongerFirst: a longer prefix comes first: Prefix /a of Ingress shop/a"},
		},
		"patterns": {
			manifests: ingress("a", []string{"shop.example /a.* ImplementationSpecific web", "shop.example /a[b]c ImplementationSpecific web", "shop.example /x$ ImplementationSpecific web", "default web"}, `use-regex: "true"`),
			url:       "shop.example/abc", winner: "Ingress shop/a, spec.rules[1].http.paths[0] (ImplementationSpecific /a[b]c)",
			want: []string{
				"a spec.defaultBackend: PatternFirst: a pattern comes before it: ImplementationSpecific /a[b]c of Ingress shop/a",
				"a spec.rules[0].http.paths[0]: EarlierFirst: an earlier pattern matches (longer paths are tried first): ImplementationSpecific /a[b]c of Ingress shop/a",
				"a spec.rules[2].http.paths[0]: DoesNotMatch: its pattern ^/x$ does not match /abc",
			},
		},
		"a default backend without requests": {
			manifests: ingress("a", append(one, "default web")),
			url:       "shop.example/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{"a spec.defaultBackend: PathsFirst: a path of the host leaves nothing for it: Prefix / of Ingress shop/a"},
		},
		"a default backend beside a closed path": {
			manifests: ingress("a", []string{"shop.example // Prefix web", "default web"}, "whitelist-source-range: 10.0.0.0/8"),
			url:       "shop.example/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix //)",
			want: []string{"a spec.defaultBackend: PathsFirst: a path of the host leaves nothing for it: Prefix // of Ingress shop/a"},
		},
		"a canary of nothing": {
			manifests: ingress("a", one) + ingress("share", []string{"*.example / Prefix web"}, `canary: "true"`),
			url:       "shop.example/x", winner: "Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)",
			want: []string{"share spec.rules[0].http.paths[0]: LeftOut: its Ingress is left out"},
		},
		"a default backend of another": {
			manifests: ingress("a", []string{"default web"}) + ingress("b", []string{"default web"}),
			url:       "nobody.example/x", winner: "Ingress shop/b, spec.defaultBackend",
			want: []string{"a spec.defaultBackend: HasProblem: the requests that no rule matches go to the spec.defaultBackend of Ingress shop/b, and of two of the same age the one whose name sorts last counts"},
		},
		"nothing": {url: "nobody.example/x", winner: "the fallback"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := asked(t, inputOf(t, test.manifests, test.change), test.url)
			if e.Winner == nil || e.Winner.String() != test.winner {
				t.Errorf("%v wins, want %s", e.Winner, test.winner)
			}
			if diff := cmp.Diff(test.want, lost(e)); diff != "" {
				t.Errorf("losers (-want +got):\n%s", diff)
			}
		})
	}
}

// With regex-scope: path a Prefix keeps patterns from being tried, by its name
// without the slash too.
func TestPrefixesBeforePatterns(t *testing.T) {
	t.Parallel()
	manifests := scoped("path") + ingress("p", []string{"shop.example /a Prefix web"}) + ingress("r", []string{"shop.example /a[/x]?.* ImplementationSpecific web"}, `use-regex: "true"`)
	in := inputOf(t, manifests, withSettings)
	for _, path := range []string{"/a", "/a/b"} {
		e := asked(t, in, "shop.example"+path)
		want := "r spec.rules[0].http.paths[0]: PrefixOnlyFirst: a prefix comes before patterns: Prefix /a of Ingress shop/p"
		if got := lost(e); !slices.Contains(got, want) {
			t.Errorf("%s: got %q, want %s", path, got, want)
		}
	}
	if e := asked(t, in, "shop.example/ax"); e.Winner.Object.Name != "r" || e.Winner.Why != "its pattern is the first that matches" {
		t.Errorf("got %+v", e.Winner)
	}
}

// TestBoundsAreNamed: who is left out for lack of room is told which bound that is.
func TestBoundsAreNamed(t *testing.T) {
	t.Parallel()
	manifests := scoped("path", `max-paths-per-namespace: "1"`) + ingress("many", []string{"shop.example / Prefix web", "shop.example /a Prefix web"})
	e := asked(t, inputOf(t, manifests, withSettings), "shop.example/a")
	if len(e.Losers) == 0 {
		t.Fatal("nobody is left out")
	}
	for _, c := range e.Losers {
		if c.Verdict != LeftOut || len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Text, "max-paths-per-namespace") {
			t.Errorf("%s is told %q with the Problems %v", c.String(), c.Why, c.Problems)
		}
	}
}

// scoped is a ConfigMap with settings.
func scoped(scope string, more ...string) string {
	text := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata:\n  regex-scope: " + scope + "\n"
	for _, line := range more {
		text += "  " + line + "\n"
	}
	return text
}

func withSettings(o *translate.Options) {
	o.ConfigMap = snapshot.Name{Namespace: "shop", Name: "settings"}
}

func withPassthrough(o *translate.Options) { o.Passthrough = true }

func TestAnswers(t *testing.T) {
	t.Parallel()
	rules := func(list ...string) []string {
		for i, rule := range list {
			list[i] = "shop.example " + rule
		}
		return list
	}
	plain := ingress("a", rules("/ Prefix web", "/empty Prefix empty", "/starting Prefix starting", "/unported Prefix unported", "/none Prefix none", "/gone Prefix gone", "/abroad Prefix abroad"))
	secure := ingress("a", append(rules("/ Prefix web", "/gone Prefix gone"), "tls shop.example"))
	for _, test := range []struct {
		name, manifests, url, want string
		change                     func(*translate.Options)
	}{
		{"a Service", plain, "https://shop.example/x", "GET https://shop.example/x goes to Service shop/web:80 by Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /)", nil},
		{"no slice", plain, "shop.example/empty", "is answered 503 by Ingress shop/a, spec.rules[1].http.paths[0] (Prefix /empty): Service shop/empty has no EndpointSlice", nil},
		{"not ready", plain, "shop.example/starting", "(Prefix /starting): none of the 1 endpoints of Service shop/starting is ready", nil},
		{"no port", plain, "shop.example/unported", "(Prefix /unported): no endpoint of Service shop/unported has an IP address and a port that belongs to its port 80", nil},
		{"an empty slice", plain, "shop.example/none", "(Prefix /none): the EndpointSlices of Service shop/none hold no endpoint", nil},
		{"no Service", plain, "shop.example/gone", "is answered 503 by Ingress shop/a, spec.rules[5].http.paths[0] (Prefix /gone): Service shop/gone does not exist: 503 is answered", nil},
		{"an ExternalName", plain, "shop.example/abroad", "goes to Service shop/abroad:80", nil},
		{"nobody", plain, "nobody.example/", "is answered 404 by the fallback: no rule takes the path, and there is no default backend", nil},
		{"the health path", plain, "nobody.example/healthz", "is answered 200 by --health-check-path: load balancers ask for it", func(o *translate.Options) { o.HealthPath = "/healthz" }},
		{"the default backend", plain, "nobody.example/", "goes to Service shop/web by the fallback", func(o *translate.Options) { o.DefaultBackend = snapshot.Name{Namespace: "shop", Name: "web"} }},
		{"no default backend", plain, "nobody.example/", "is answered 404 by the fallback: Service shop/x does not exist: 404 is answered", func(o *translate.Options) { o.DefaultBackend = snapshot.Name{Namespace: "shop", Name: "x"} }},
		{"HTTPS", secure, "shop.example/x/?y=1", "is redirected with 308 to https://shop.example/x/?y=1 by Ingress shop/a", nil},
		{"HTTPS before 503", secure, "shop.example/gone/", "is redirected with 308 to https://shop.example/gone by Ingress shop/a", nil},
		{"HTTPS on a port", secure + scoped("host", `use-port-in-redirects: "true"`, `http-redirect-code: "301"`), "shop.example:8080/", "is redirected with 301 to https://shop.example:8443 by", func(o *translate.Options) { withSettings(o); o.HTTPSPort = 8443 }},
		{"denied", ingress("a", rules("/ Prefix web"), "whitelist-source-range: nonsense"), "shop.example/", `is answered 503 by Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /): nginx.ingress.kubernetes.io/whitelist-source-range: want IP addresses`, nil},
		{"denied by a setting", plain + scoped("host", `whitelist-source-range: "nonsense"`), "shop.example/", "is answered 503 by Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /): ConfigMap shop/settings: whitelist-source-range: want IP addresses", withSettings},
		{"held back", plain, "shop.example/", "is answered 503 by Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /): its Ingress is held back", func(o *translate.Options) {
			o.Denied = map[model.ObjectRef]claim.Denial{{Kind: "Ingress", Namespace: "shop", Name: "a"}: claim.DenyPaths}
		}},
		{"an allow list", ingress("a", rules("/ Prefix web"), "whitelist-source-range: 10.0.0.0/8"), "shop.example/", "(Prefix /), unless allow-list refuses it", nil},
		{"a block list", plain + scoped("host", "block-cidrs: 192.0.2.0/24"), "shop.example/", "(Prefix /), unless the setting block-cidrs has the client's address", withSettings},
		{"CORS", ingress("a", rules("/ Prefix web"), `enable-cors: "true"`, `force-ssl-redirect: "true"`), "OPTIONS shop.example/", "is redirected with 308 to https://shop.example by Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /), unless cors answers it", nil},
		{"a slash", ingress("a", rules("/x/ Exact web")) + scoped("host", `trailing-slash-redirect: "true"`), "shop.example:80/x?y#z", "is redirected with 301 to http://shop.example/x/?y by Ingress shop/a", withSettings},
		{"a pattern that Go does not have", ingress("a", rules("/(y ImplementationSpecific web", "/zz ImplementationSpecific web"), `use-regex: "true"`), "shop.example/other", "only nginx can tell where it goes: it depends on the pattern ^/(y of Ingress shop/a, which nginx rejects: missing )", nil},
		{"a bad URI", plain, "shop.example/%zz", "is answered 400: nginx refuses the request: a % without two hexadecimal digits", nil},
		{"a bad method", plain, "TRACE shop.example/", "is answered 405: nginx does not take the method TRACE", nil},
		{"no handshake", plain + scoped("host", `ssl-reject-handshake: "true"`), "https://nobody.example/", "is refused in the TLS handshake: no rule has the host", withSettings},
		{"passed through", ingress("a", rules("/ Prefix web"), `ssl-passthrough: "true"`), "https://Shop.example/x", "goes to Service shop/web:80, and nginx does not look at it: the TLS of the host is passed through, as Ingress shop/a asks for", withPassthrough},
		{"plain HTTP of a host that is passed through", ingress("a", rules("/ Prefix web"), `ssl-passthrough: "true"`), "shop.example/x", "goes to Service shop/web:80 by", withPassthrough},
		{"a handshake", plain + scoped("host", `ssl-reject-handshake: "true"`), "https://shop.example/", "goes to Service shop/web:80", withSettings},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := asked(t, inputOf(t, test.manifests, test.change), test.url)
			if !strings.Contains(e.Summary, test.want) {
				t.Errorf("got  %s\nwant %s", e.Summary, test.want)
			}
		})
	}
}

func TestWhyNotRedirected(t *testing.T) {
	t.Parallel()
	root := []string{"shop.example / Prefix web"}
	secure := append(root, "tls shop.example")
	for _, test := range []struct{ manifests, url, want string }{
		{ingress("a", secure), "https://shop.example/", "the request comes by HTTPS"},
		{ingress("a", root), "shop.example/", "no Ingress of the host has a tls section, and force-ssl-redirect is false"},
		{ingress("a", secure, `ssl-redirect: "false"`), "shop.example/", "ssl-redirect and force-ssl-redirect are false"},
		{ingress("a", append(secure, "shop.example /.well-known/acme-challenge/x Prefix web")), "shop.example/.well-known/acme-challenge/x", "the path of the rule begins with one of the setting no-tls-redirect-locations"},
		{ingress("a", []string{"default web"}, `force-ssl-redirect: "true"`), "nobody.example/", "requests that no rule takes are never redirected"},
		{ingress("a", secure, "whitelist-source-range: nonsense"), "shop.example/", "the status is answered first"},
	} {
		e := asked(t, inputOf(t, test.manifests, nil), test.url)
		if r := e.Applied.Redirect; r.Redirects || r.Why != test.want {
			t.Errorf("%s: got %+v, want %s", test.url, r, test.want)
		}
	}
	e := asked(t, inputOf(t, ingress("a", root, `force-ssl-redirect: "true"`), nil), "shop.example/")
	if want := (Redirect{true, 308, "https://shop.example", "force-ssl-redirect is true"}); e.Applied.Redirect != want {
		t.Errorf("got %+v, want %+v", e.Applied.Redirect, want)
	}
}

// What is answered by a behaviour comes before the redirect, and is said.
func TestBehaviours(t *testing.T) {
	t.Parallel()
	manifests := ingress("a", []string{"shop.example / Prefix web"}, `enable-cors: "nonsense"`, "cors-max-age: '7'", "proxy-read-timeout: ' 7 '", "whitelist-source-range: 10.0.0.0/8", "backend-protocol: HTTPS", "proxy-send-timeout: ''") +
		ingress("b", []string{"other.example / Prefix web"}, `enable-cors: "true"`, "cors-max-age: nonsense", "cors-allow-origin: 'https://a.example, nonsense'") +
		scoped("path", `Proxy-Body-Size: "8m"`, `proxy-connect-timeout: "nonsense"`)
	in := inputOf(t, manifests, withSettings)
	a, b := asked(t, in, "shop.example/"), asked(t, in, "other.example/")
	want := map[string]string{
		"proxy-read-timeout":     "7 annotation Ingress shop/a nginx.ingress.kubernetes.io/proxy-read-timeout",
		"proxy-send-timeout":     "60 default",
		"proxy-connect-timeout":  "5 default",
		"proxy-body-size":        "8m setting ConfigMap shop/settings proxy-body-size",
		"allowlist-source-range": "10.0.0.0/8 annotation Ingress shop/a nginx.ingress.kubernetes.io/whitelist-source-range",
		"backend-protocol":       "HTTPS annotation Ingress shop/a nginx.ingress.kubernetes.io/backend-protocol",
	}
	for _, behaviour := range a.Applied.Behaviours {
		if behaviour.Name == "cors" {
			t.Error("CORS was left out for a bad value, and is said to be in force")
		}
		for _, k := range behaviour.Keys {
			got := strings.TrimSpace(strings.Join([]string{k.Value, string(k.Source), strings.TrimSpace(k.Object.String()), k.Name}, " "))
			if w, ok := want[k.Key]; ok && got != w {
				t.Errorf("%s: got %s, want %s", k.Key, got, w)
			}
			delete(want, k.Key)
		}
	}
	if len(want) > 0 {
		t.Errorf("not said: %v", want)
	}
	if !a.Applied.Backend.Transport.TLS || b.Applied.Backend.Transport.TLS {
		t.Errorf("transports: %+v and %+v", a.Applied.Backend, b.Applied.Backend)
	}
	first := b.Applied.Behaviours[0]
	if first.Name != "cors" || !first.Answers {
		t.Errorf("CORS answers by itself: %+v", first)
	}
	for _, k := range first.Keys {
		if k.Key == "cors-max-age" && k.Value != "1728000" || k.Key == "cors-allow-origin" && k.Value != "https://a.example" {
			t.Errorf("%s is said to be %s", k.Key, k.Value)
		}
	}
}

// The ConfigMap's allow list is for the paths of Ingresses, and not for what no
// rule takes.
func TestWhatProtectsIsSaidWhereItIsInForce(t *testing.T) {
	t.Parallel()
	manifests := ingress("a", []string{"shop.example / Prefix web"}) + scoped("path", "whitelist-source-range: 10.0.0.0/8")
	in := inputOf(t, manifests, func(o *translate.Options) {
		withSettings(o)
		o.DefaultBackend = snapshot.Name{Namespace: "shop", Name: "web"}
	})
	for url, want := range map[string]bool{"shop.example/": true, "nobody.example/": false} {
		e := asked(t, in, url)
		got := slices.ContainsFunc(e.Applied.Behaviours, func(b Behaviour) bool { return b.Name == "allow-list" && b.Refuses })
		if got != want || e.Answer.Kind != ToService {
			t.Errorf("%s: the allow list is said to be in force: %v; want %v: %s", url, got, want, e.Summary)
		}
	}
}

func TestRewriteAndEndpoints(t *testing.T) {
	t.Parallel()
	manifests := scoped("path") +
		ingress("to", []string{"shop.example /a/ Prefix web", "shop.example /b Exact abroad"}, "rewrite-target: /new") +
		ingress("composed", []string{"shop.example /c/(.*) ImplementationSpecific web"}, "rewrite-target: /$1")
	in := inputOf(t, manifests, withSettings)
	for url, want := range map[string]Rewrite{
		"shop.example/a/x": {"(?i)/a/", "/new", "/new"},
		"shop.example/a":   {"(?i)/a/", "/new", "/a"}, // the pattern has the slash: it is not rewritten
		"shop.example/b":   {"(?i)/b", "/new", "/new"},
		"shop.example/c/x": {"(?i)/c/(.*)", "/$1", "/x"},
	} {
		e := asked(t, in, url)
		if diff := cmp.Diff(&want, e.Applied.Rewrite); diff != "" {
			t.Errorf("%s (-want +got):\n%s", url, diff)
		}
		switch b := e.Applied.Backend; b.Service.Name {
		case "web":
			if !cmp.Equal(b.Endpoints, []string{"[2001:db8::1]:8080"}) || b.Status != 503 {
				t.Errorf("%s: got %+v", url, b)
			}
		case "abroad":
			if b.ExternalName != "db.example.org:5000" || b.Why != "" {
				t.Errorf("%s: got %+v", url, b)
			}
		}
	}
}

// What render refused is explained as it was printed.
func TestWhatRenderRefused(t *testing.T) {
	t.Parallel()
	in := inputOf(t, ingress("a", []string{"shop.example /a Prefix web", "shop.example /b Prefix web", "shop.example / Prefix web"}), nil)
	a := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "a"}
	in.Problems = append(in.Problems,
		model.Problem{Object: a, Field: "spec.rules[0].http.paths[0]", Reason: model.Refused, Text: "cannot be written", Denies: true},
		model.Problem{Object: a, Field: "spec.rules[1].http.paths[0]", Reason: model.Refused, Text: "too long; the path is left out"})
	if e := asked(t, in, "shop.example/a"); !strings.HasSuffix(e.Summary, "(Prefix /a): spec.rules[0].http.paths[0]: cannot be written") || e.Answer.Status != 503 {
		t.Error(e.Summary)
	}
	e := asked(t, in, "shop.example/b")
	if got := lost(e); e.Winner.Path != "/" || got[0] != "a spec.rules[1].http.paths[0]: HasProblem: too long; the path is left out" {
		t.Errorf("%s, and %q", e.Summary, got)
	}
}
