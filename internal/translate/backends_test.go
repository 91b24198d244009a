package translate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// backendKeyed returns a backend by its key.
func backendKeyed(t *testing.T, config model.Config, key string) *model.Backend {
	t.Helper()
	for _, b := range config.Dynamic.Backends {
		if b.Key == key {
			return b
		}
	}
	t.Fatalf("no backend %q", key)
	return nil
}

func serviceYAML(name, spec string) string {
	return "---\napiVersion: v1\nkind: Service\nmetadata: {namespace: default, name: " + name + "}\nspec: " + spec + "\n"
}

func sliceYAML(service, number, rest string) string {
	return "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: default, name: " + service + "-" + number +
		", labels: {kubernetes.io/service-name: " + service + "}}\n" + rest + "\n"
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	const http = "{ports: [{name: http, port: 80, targetPort: 8080}]}"
	for name, test := range map[string]struct {
		spec, port string
		slices     []string
		want       []model.Endpoint
	}{
		"ready, unknown and not ready": {http, "80", []string{
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.2], conditions: {ready: true}}, {addresses: [10.1.0.1]}, {addresses: [10.1.0.3], conditions: {ready: false, serving: true}}]"},
			[]model.Endpoint{{Address: "10.1.0.1", Port: 8080}, {Address: "10.1.0.2", Port: 8080}}},
		"ending ones only where none is ready": {http, "80", []string{
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.2], conditions: {ready: false, serving: true, terminating: true}}, {addresses: [10.1.0.1], conditions: {ready: false, serving: false, terminating: true}}]"},
			[]model.Endpoint{{Address: "10.1.0.2", Port: 8080}}},
		"ready elsewhere": {http, "80", []string{
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.2], conditions: {ready: false, serving: true, terminating: true}}]",
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.9], conditions: {ready: true}}]"},
			[]model.Endpoint{{Address: "10.1.0.9", Port: 8080}}},
		"both families, each once": {http, "http", []string{
			"addressType: IPv6\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [\"2001:db8::1\"]}]",
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.1]}]",
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.1]}]"},
			[]model.Endpoint{{Address: "10.1.0.1", Port: 8080}, {Address: "2001:db8::1", Port: 8080}}},
		"a target by name, its number in each slice": {"{ports: [{name: http, port: 80, targetPort: web}]}", "web", []string{
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.1]}]",
			"addressType: IPv4\nports: [{name: http, port: 9090}]\nendpoints: [{addresses: [10.1.0.2]}]"},
			[]model.Endpoint{{Address: "10.1.0.1", Port: 8080}, {Address: "10.1.0.2", Port: 9090}}},
		"a port without a name takes every port": {"{ports: [{port: 80, targetPort: 8080}]}", "80", []string{
			"addressType: IPv4\nports: [{name: x, port: 8081}]\nendpoints: [{addresses: [10.1.0.1]}]"},
			[]model.Endpoint{{Address: "10.1.0.1", Port: 8081}}},
		"a number as target where the slice says nothing": {http, "8080", []string{
			"addressType: IPv4\nports: []\nendpoints: [{addresses: [10.1.0.1]}]"},
			[]model.Endpoint{{Address: "10.1.0.1", Port: 8080}}},
		"another protocol": {"{ports: [{name: http, port: 80, targetPort: web}]}", "80", []string{
			"addressType: IPv4\nports: [{name: http, port: 8080, protocol: UDP}]\nendpoints: [{addresses: [10.1.0.1]}]"}, nil},
		"headless": {"{clusterIP: None, ports: [{name: http, port: 80, targetPort: 8080}]}", "80", []string{
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.1.0.1]}, {addresses: [10.1.0.2]}]"},
			[]model.Endpoint{{Address: "10.1.0.1", Port: 8080}, {Address: "10.1.0.2", Port: 8080}}},
		"no slice": {http, "80", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := serviceYAML("s", test.spec)
			for i, slice := range test.slices {
				text += sliceYAML("s", string(rune('1'+i)), slice)
			}
			config, problems := world{yaml: text, ingresses: []ing{{name: "i", rules: []string{"h / P s:" + test.port}}}}.translate(t)
			if len(problems) > 0 {
				t.Errorf("got %v", problems)
			}
			got := backendKeyed(t, config, "default/s/"+test.port)
			if diff := cmp.Diff(test.want, got.Endpoints); diff != "" || got.WhenEmpty != 503 {
				t.Errorf("%s\nwhen empty: %d", diff, got.WhenEmpty)
			}
		})
	}
}

func TestBackendsThatLeadNowhere(t *testing.T) {
	t.Parallel()
	resource := `defaultBackend: {resource: {kind: Bucket, name: x}}`
	config := world{
		ingresses: []ing{
			{name: "i", rules: []string{"h /gone P nosuch:80", "h /port P a:81", "h /name P a:nosuch", "h /ok P a:80"}},
			{name: "other", rules: []string{"h /ok2 P a:http"}},
			{name: "res", age: 3, spec: resource, rules: []string{"g /ok P a:80"}},
		},
	}.check(t, []string{"h/gone", "= /gone -> nosuch", "h/ok", "= /ok -> a", "h/ok2", "= /ok2 -> a", "g/x", "/ -> 503", "g/ok", "= /ok -> a"}, []string{
		"NotFound Ingress default/i spec.rules[0].http.paths[0].backend.service.name",
		"NotFound Ingress default/i spec.rules[1].http.paths[0].backend.service.port.number",
		"NotFound Ingress default/i spec.rules[2].http.paths[0].backend.service.port.name",
		"Unsupported Ingress default/res spec.defaultBackend.resource",
	})
	for _, key := range []string{"default/nosuch/80", "default/a/81", "default/a/nosuch"} {
		if b := backendKeyed(t, config, key); len(b.Endpoints) > 0 || b.WhenEmpty != 503 {
			t.Errorf("%+v", b)
		}
	}
	if got := len(config.Dynamic.Backends); got != 5 {
		t.Errorf("%d backends, want those that are referred to", got)
	}
}

func TestExternalName(t *testing.T) {
	t.Parallel()
	named := func(port int) model.Backend {
		return model.Backend{ExternalName: "outside.example.net", ExternalPort: port}
	}
	for _, test := range []struct {
		name, ports, port string
		want              model.Backend
	}{
		{"Outside.example.net.", "{port: 80, targetPort: 8080}", "80", named(8080)},
		{"outside.example.net", "{name: web, port: 80}", "web", named(80)},
		{"outside.example.net", "", "8443", named(8443)},
		{"192.0.2.1", "", "80", model.Backend{Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 80}}}},
		{"::ffff:192.0.2.1", "", "80", model.Backend{Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 80}}}},
	} {
		config, problems := externalName(t, test.name, test.ports, test.port)
		test.want.Key, test.want.WhenEmpty = "default/ext/"+test.port, 503
		test.want.Target.ServicePort = model.ServicePort{Namespace: "default", Name: "ext", Port: test.port}
		if diff := cmp.Diff(&test.want, backendKeyed(t, config, test.want.Key)); diff != "" || len(problems) > 0 {
			t.Errorf("%s: %s %v", test.name, diff, problems)
		}
	}
}

// With --disable-svc-external-name, neither a name nor an address is used.
func TestExternalNameDisabled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"outside.example.net", "192.0.2.1"} {
		config, problems := externalName(t, name, "", "80", func(o *Options) { o.DisableExternalName = true })
		b := backendKeyed(t, config, "default/ext/80")
		if b.ExternalName != "" || len(b.Endpoints) > 0 || b.WhenEmpty != 503 || len(problems) != 1 || problems[0].Reason != model.Unsupported {
			t.Errorf("%s: %+v %v", name, b, problems)
		}
	}
}

// externalName translates an Ingress whose Service has that name, also one that no
// manifest may contain.
func externalName(t *testing.T, name, ports, port string, change ...func(*Options)) (model.Config, []model.Problem) {
	t.Helper()
	w := world{
		yaml:      serviceYAML("ext", "{type: ExternalName, externalName: x.example, ports: ["+ports+"]}"),
		ingresses: []ing{{name: "i", rules: []string{"h / P ext:" + port}}},
	}
	objects := w.objects(t)
	for _, s := range objects.Services {
		if s.Name == "ext" {
			s.Spec.ExternalName = name
		}
	}
	options := w.flags()
	for _, c := range change {
		c(&options)
	}
	return Config(newSnapshot(t, objects), options, nil)
}

// Names and addresses that lead to the controller's machine or its link, in every
// notation, and texts that are no name.
func TestExternalNameRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"localhost", "LocalHost.", "x.localhost", "localhost.localdomain", "127.0.0.1", "127.1", "2130706433", "127.0.0.0x1", "0x7f000001",
		"169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "fe80::1", "fe80::1%eth0", "2001:db8::1%eth0",
		"100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::1", "::127.0.0.1",
		"a b", "", ".", "a;b", "_dmarc.example.net", "*.example.net", "a/b",
	} {
		config, problems := externalName(t, name, "", "80")
		b := backendKeyed(t, config, "default/ext/80")
		if b.ExternalName != "" || len(b.Endpoints) > 0 || len(problems) != 1 || problems[0].Reason != model.InvalidValue {
			t.Errorf("%q: %+v %v", name, b, problems)
		}
	}
	for ports, port := range map[string]string{"{port: 80}": "81", "": "web"} {
		config, problems := externalName(t, "outside.example.net", ports, port)
		if b := backendKeyed(t, config, "default/ext/"+port); b.ExternalName != "" || len(problems) != 1 || problems[0].Reason != model.NotFound {
			t.Errorf("port %s: %+v %v", port, b, problems)
		}
	}
}

func TestDefaultBackends(t *testing.T) {
	t.Parallel()
	const toA, toB, toC = "defaultBackend: {service: {name: a, port: {number: 80}}}", "defaultBackend: {service: {name: b, port: {number: 80}}}", "defaultBackend: {service: {name: c, port: {number: 80}}}"
	global := func(o *Options) { o.DefaultBackend = snapshot.Name{Namespace: "default", Name: "e"} }
	for name, test := range map[string]struct {
		world    world
		answers  []string
		problems []string
	}{
		"none at all": {world{}, []string{"any/x", "/ -> 404"}, nil},
		"the controller's": {world{options: global, ingresses: []ing{{name: "i", rules: []string{"h /x P a:80"}}}},
			[]string{"any/x", "/ -> e", "h/y", "/ -> e"}, nil},
		"the controller's, missing": {world{options: func(o *Options) { o.DefaultBackend = snapshot.Name{Namespace: "default", Name: "nosuch"} }},
			[]string{"any/x", "/ -> nosuch"}, []string{"NotFound Service default/nosuch"}},
		"without rules the first has every host": {world{options: global, ingresses: []ing{{name: "old", age: 2, spec: toA}, {name: "new", age: 1, spec: toB}, {name: "i", rules: []string{"h /x P c:80"}}}},
			[]string{"any/x", "/ -> a", "h/y", "/ -> e"}, []string{"Conflict Ingress default/new spec.defaultBackend"}},
		"with rules it has what its hosts' paths leave": {world{options: global, ingresses: []ing{{name: "i", spec: toA, rules: []string{"h /x P b:80", "empty"}}}},
			[]string{"any/x", "/ -> e", "h/y", "/ -> a", "h/x", "= /x -> b", "empty/y", "/ -> a"}, nil},
		"of two Ingresses of a host the older one's": {world{ingresses: []ing{{name: "old", age: 2, rules: []string{"h /x P b:80"}}, {name: "new", spec: toA, rules: []string{"h /y P b:80"}}}},
			[]string{"h/z", "/ -> 404"}, []string{"Conflict Ingress default/new spec.defaultBackend"}},
		"a path / leaves nothing": {world{ingresses: []ing{{name: "i", spec: toA, rules: []string{"h / P b:80"}}}},
			[]string{"h/z", "^~ / -> b"}, []string{"Shadowed Ingress default/i spec.defaultBackend"}},
		"a pattern / leaves nothing": {world{ingresses: []ing{{name: "i", spec: toA, annotations: regex(), rules: []string{"h / I b:80"}}}},
			[]string{"h/z", "~* ^/ -> b"}, []string{"Shadowed Ingress default/i spec.defaultBackend"}},
		"a path / of another Ingress leaves nothing": {world{ingresses: []ing{{name: "i", spec: toA, rules: []string{"h /x P b:80"}}, {name: "j", rules: []string{"h / P c:80"}}}},
			[]string{"h/z", "^~ / -> c"}, []string{"Shadowed Ingress default/i spec.defaultBackend"}},
		"paths / on two hosts leave nothing": {world{ingresses: []ing{{name: "i", spec: toA, rules: []string{"g / P b:80", "h / P b:80"}}}},
			[]string{"h/z", "^~ / -> b"}, []string{"Shadowed Ingress default/i spec.defaultBackend"}},
		"a path / on one of two hosts leaves the other": {world{ingresses: []ing{{name: "i", spec: toA, rules: []string{"g / P b:80", "h /x P b:80"}}}},
			[]string{"g/z", "^~ / -> b", "h/z", "/ -> a"}, nil},
		"an Exact path / leaves the rest": {world{ingresses: []ing{{name: "i", spec: toA, rules: []string{"h / E b:80"}}}}, []string{"h/z", "/ -> a"}, nil},
		"a wrong one": {world{ingresses: []ing{{name: "i", spec: "defaultBackend: {service: {name: a, port: {number: 99}}}", rules: []string{"h /x P b:80"}}}},
			[]string{"h/z", "/ -> a"}, []string{"NotFound Ingress default/i spec.defaultBackend.service.port.number"}},
		"a wrong one that nothing is left for": {world{ingresses: []ing{{name: "i", spec: "defaultBackend: {service: {name: a, port: {number: 99}}}", rules: []string{"h / P b:80"}}}},
			[]string{"h/z", "^~ / -> b"}, []string{"Shadowed Ingress default/i spec.defaultBackend"}},
		"a path / without host leaves nothing to those without rules": {world{ingresses: []ing{{name: "i", spec: toA}, {name: "j", rules: []string{"* / P b:80"}}}},
			[]string{"any/z", "^~ / -> b"}, []string{"Shadowed Ingress default/i spec.defaultBackend"}},
		"a rule without host": {world{ingresses: []ing{{name: "i", spec: toC, rules: []string{"* /x P b:80"}}}}, []string{"any/z", "/ -> c"}, nil},
		"without rules before a rule without host": {world{ingresses: []ing{{name: "i", age: 2, spec: toC, rules: []string{"* /x P b:80"}}, {name: "j", spec: toA}}},
			[]string{"any/z", "/ -> a"}, []string{"Conflict Ingress default/i spec.defaultBackend"}},
		"--disable-catch-all": {world{options: func(o *Options) { o.DisableCatchAll = true }, ingresses: []ing{{name: "i", spec: toA}, {name: "j", rules: []string{"* /x P a:80"}}}},
			[]string{"any/x", "= /x -> a", "any/z", "/ -> 404"}, []string{"Unsupported Ingress default/i spec.defaultBackend"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.world.check(t, test.answers, test.problems)
		})
	}
}

// Without endpoints, the default backend returns 404. An Ingress with the same Service
// returns 503.
func TestDefaultBackendIsItsOwnBackend(t *testing.T) {
	t.Parallel()
	config, _ := world{
		options:   func(o *Options) { o.DefaultBackend = snapshot.Name{Namespace: "default", Name: "a"} },
		ingresses: []ing{{name: "i", rules: []string{"h /x P a:80"}}},
	}.translate(t)
	if b := backendKeyed(t, config, "default/a/_default"); b.WhenEmpty != 404 || len(b.Endpoints) != 1 {
		t.Errorf("%+v", b)
	}
	if b := backendKeyed(t, config, "default/a/80"); b.WhenEmpty != 503 {
		t.Errorf("%+v", b)
	}
}

// A fallback has the decorating annotations of the oldest Ingress of the host. On the
// catch-all host it has none, unless it belongs to an Ingress.
func TestFallbackIsDecorated(t *testing.T) {
	t.Parallel()
	cors := map[string]string{"enable-cors": "true"}
	config, _ := world{ingresses: []ing{
		{name: "old", age: 2, annotations: cors, rules: []string{"h /x P a:80", "* /x P a:80"}},
		{name: "new", rules: []string{"h /y P a:80", "g /y P a:80"}},
	}}.translate(t)
	for host, want := range map[string]int{"h": 1, "g": 0, "": 0} {
		for _, l := range serverNamed(t, config, host).Locations {
			if l.Rule.Kind == model.RuleFallback && len(l.Blocks) != want {
				t.Errorf("%q: the fallback has %v", host, l.Blocks)
			}
		}
	}
}

// Requests that a wildcard host does not take get the answer of an unknown host.
func TestMiss(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ingresses []ing
		want      string
		redirect  bool
	}{
		{nil, "missed 404", false},
		{[]ing{{name: "all", rules: []string{"* / P b:80"}}}, "missed b", false},
		{[]ing{{name: "all", annotations: regex(), rules: []string{"* / I b:80"}}}, "missed b", false},
		{[]ing{{name: "all", annotations: regex(), rules: []string{"* / I b:80", "* /z.* I c:80"}}}, "~* ^/ -> b", false},
		{[]ing{{name: "all", rules: []string{"* / E c:80"}}}, "= / -> c", false},
		{[]ing{{name: "all", annotations: map[string]string{"force-ssl-redirect": "true"}, rules: []string{"* / P b:80"}}}, "missed b", true},
		{[]ing{{name: "d", spec: "defaultBackend: {service: {name: d, port: {number: 80}}}"}}, "missed d", false},
	} {
		config, _ := world{ingresses: append(test.ingresses, ing{name: "w", rules: []string{"*.foo.com / P a:80", "x.foo.com /y P a:80"}})}.translate(t)
		miss := serverNamed(t, config, "*.foo.com").Miss()
		if got := ask(config, "a.b.foo.com/"); got != test.want || (miss != nil) != strings.HasPrefix(got, "missed") {
			t.Errorf("got %s with the miss %v; want %s", got, miss, test.want)
		}
		if miss != nil && (miss.RedirectToHTTPS != nil) != test.redirect {
			t.Errorf("got the redirect %v", miss.RedirectToHTTPS)
		}
		if serverNamed(t, config, "x.foo.com").Miss() != nil || serverNamed(t, config, "").Miss() != nil {
			t.Error("a precise host has a miss")
		}
	}
}
