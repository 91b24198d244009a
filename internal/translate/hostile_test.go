package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// FuzzNeighbours: texts in fields of one Ingress, also ones that no manifest may
// contain, do not change its neighbours on other hosts. Refused texts are shortened in
// Problems, and break no line.
func FuzzNeighbours(f *testing.F) {
	for _, seed := range [][5]string{
		{"/x", "h.example", "a", "/$1", "outside.example"},
		{"/a\r\nb\x00{}", "a\";b", "a;b", "\" {}", "127.1"},
		{"/(?<route>x", "*.example", "", "/${p_x}", "::1%eth0"},
		{"/\\c[%2e%2e%2f", "neighbour.example", "b", "/", "localhost"},
		{strings.Repeat("/a", 4000), strings.Repeat("a.", 4000), strings.Repeat("a", 4000), "/x", strings.Repeat("a", 4000)},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, path, host, service, target, external string) {
		if host == "neighbour.example" {
			return
		}
		w := world{
			yaml:      serviceYAML("ext", "{type: ExternalName, externalName: x.example}"),
			ingresses: []ing{{name: "neighbour", age: 1, rules: []string{"neighbour.example /n P a:80", "neighbour.example /e P ext:80"}}, {name: "hostile", rules: []string{"h / P a:80"}}},
		}
		objects := w.objects(t)
		want := serverNamed(t, mustConfig(t, w, nil), "neighbour.example")
		for _, object := range objects.Ingresses {
			if object.Name == "hostile" {
				makeHostile(object, path, host, service, target)
			}
		}
		for _, s := range objects.Services {
			if s.Name == "ext" {
				s.Spec.ExternalName = external
			}
		}
		config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
		if diff := cmp.Diff(want, serverNamed(t, config, "neighbour.example")); diff != "" {
			t.Error(diff)
		}
		for _, p := range problems {
			if strings.ContainsAny(p.String(), "\r\n\x00") || len(p.Text) > 1500 {
				t.Errorf("a problem says %q", p.Text)
			}
		}
		for _, s := range config.Static.Servers {
			for _, l := range s.Locations {
				if strings.ContainsAny(l.Path, "\r\n\x00") {
					t.Errorf("a path is %q", l.Path)
				}
			}
		}
	})
}

// makeHostile puts texts into fields that need valid ones.
func makeHostile(object *networkingv1.Ingress, path, host, service, target string) {
	object.Annotations = map[string]string{"nginx.ingress.kubernetes.io/rewrite-target": target}
	setPaths(object, networkingv1.PathTypeImplementationSpecific, path, path, path)
	rule := &object.Spec.Rules[0]
	rule.Host = host
	rule.HTTP.Paths[1].PathType, rule.HTTP.Paths[2].PathType = new(networkingv1.PathTypeExact), new(networkingv1.PathTypePrefix)
	rule.HTTP.Paths[2].Backend.Service.Name = service
}

// A name that no API server accepts is refused: a "/" would select another backend.
// Other Ingresses stay as they are.
func TestNamesThatAreNone(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{{name: "neighbour", age: 2, rules: []string{"n / P a:80"}}, {name: "hostile", age: 3, spec: "defaultBackend: {service: {name: b, port: {number: 80}}}",
		annotations: map[string]string{"allowlist-source-range": "nonsense"}, rules: []string{"n /x P b:80", "h / P b:80"}}}}
	want := serverNamed(t, mustConfig(t, world{ingresses: w.ingresses[:1]}, nil), "n")
	for field, names := range map[string][]string{
		"metadata.name":      {"", "a/b", "/", "A", "a b", "a_b", ".", "..", "-a", "a\n", "a\x00", "\xff", "*.a", strings.Repeat("a", 254)},
		"metadata.namespace": {"", "a/b", "/", "A", "a.b", "a\n", "\xff", strings.Repeat("a", 64)},
	} {
		for _, name := range names {
			objects := w.objects(t)
			for _, object := range objects.Ingresses {
				switch {
				case object.Name != "hostile":
				case field == "metadata.name":
					object.Name = name
				default:
					object.Namespace = name
				}
			}
			config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
			if len(problems) != 1 || problems[0].Field != field || problems[0].Reason != model.InvalidValue || !strings.Contains(problems[0].Text, model.Quoted(name)) {
				t.Errorf("%s %q: the problems are %v", field, name, problems)
			}
			if diff := cmp.Diff(want, serverNamed(t, config, "n")); diff != "" {
				t.Errorf("%s %q: the neighbour (-want +got):\n%s", field, name, diff)
			}
			if got := ask(config, "h/"); len(config.Static.Servers) != 2 || got != "/ -> 404" {
				t.Errorf("%s %q: %d servers, and the host is answered with %s", field, name, len(config.Static.Servers), got)
			}
		}
	}
	longest := strings.Repeat("a", 63) + "." + strings.Repeat("a", 63)
	if _, problems := (world{ingresses: []ing{{name: longest, rules: []string{"h / P a:80"}}, {name: "0.a-b", rules: []string{"g / P a:80"}}}}).translate(t); problems != nil {
		t.Errorf("names that are fine give %v", problems)
	}
}

// An invalid host gets a Problem, and its path is on no host.
func TestHostsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"/", "a/b", "h/", "http://h", "h:80", "H", "*", "a.*", "*.*.a", "h.", "10.0.0.1", "h\n", "\xff"} {
		w := world{ingresses: []ing{{name: "hostile", rules: []string{"h / P a:80"}}}}
		objects := w.objects(t)
		objects.Ingresses[0].Spec.Rules[0].Host = host
		config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
		if len(problems) != 1 || problems[0].Field != "spec.rules[0].host" || problems[0].Reason != model.InvalidValue || len(config.Static.Servers) != 1 {
			t.Errorf("%q: the problems are %v, with %d servers", host, problems, len(config.Static.Servers))
		}
	}
}

// Invalid names of ports and of certificates are shortened and quoted in Problems.
func TestListed(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"no name":                               {},
		"a, *.b, c d, ...":                      {"a", "*.b", "c d", "e"},
		`"a\n", "\xff", "\u2028"`:               {"a\n", "\xff", "\u2028"},
		`"` + strings.Repeat("a", 200) + `"...`: {strings.Repeat("a", 201)},
	} {
		if got := claim.Listed(names); got != want {
			t.Errorf("%.50q gives %s, want %s", names, got, want)
		}
	}
}

// Long names of ports do not make a Problem long.
func TestPortsAreListedShortly(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{{name: "i", rules: []string{"h / P a:99"}}}}
	for _, name := range []string{strings.Repeat("a", 100_000), "\xff\n", strings.Repeat("\x00", 1000)} {
		objects := w.objects(t)
		for _, s := range objects.Services {
			s.Spec.Ports[0].Name = name
		}
		_, problems := Config(newSnapshot(t, objects), w.flags(), nil)
		if len(problems) != 1 || len(problems[0].Text) > 1000 || !strings.Contains(problems[0].Text, model.Quoted(name)[1:5]) || model.OneLine(problems[0].Text, 1000) != problems[0].Text {
			t.Errorf("the problems are %.300q", problems)
		}
	}
}

func mustConfig(t *testing.T, w world, m *Memo) model.Config {
	t.Helper()
	config, _ := Config(newSnapshot(t, w.objects(t)), w.flags(), m)
	return config
}

// An Ingress may have large annotations or many paths, but not both: nginx.conf would
// become too large.
func TestOneIngressCannotFillTheFile(t *testing.T) {
	t.Parallel()
	addresses := make([]string, 4_096)
	for i := range addresses {
		addresses[i] = fmt.Sprintf("10.0.%d.%d", i/250, i%250)
	}
	list := strings.Join(addresses, ",")
	for name, test := range map[string]struct {
		list   string
		paths  int
		denied int
	}{
		"large list": {list, 100, 0},
		"many paths": {addresses[0], 5_000, 0},
		"both":       {list, 5_000, 5_001},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{ingresses: []ing{
				{name: "large", annotations: map[string]string{"allowlist-source-range": test.list}, rules: []string{"h /x E a:80"}},
				{name: "neighbour", rules: []string{"n / P b:80"}},
			}}
			objects := w.objects(t)
			paths := make([]string, test.paths)
			for i := range paths {
				paths[i] = fmt.Sprintf("/p%d", i)
			}
			for _, object := range objects.Ingresses {
				if object.Name == "large" {
					setPaths(object, networkingv1.PathTypeExact, paths...)
				}
			}
			config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
			if got := countStatus(config, 503); got != test.denied || (len(problems) > 0) != (test.denied > 0) {
				t.Errorf("%d locations answer 503, want %d; problems %v", got, test.denied, problems)
			}
			if got := ask(config, "n/"); got != "^~ / -> b" {
				t.Errorf("the neighbour is answered with %s", got)
			}
		})
	}
}
