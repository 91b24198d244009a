package translate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// FuzzNeighbours: whatever one Ingress says, in fields that no manifest may hold
// so, its neighbours on other hosts get what they always get, nothing that was
// refused is said in full length, and no line can be broken.
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

// makeHostile puts texts where only valid ones belong.
func makeHostile(object *networkingv1.Ingress, path, host, service, target string) {
	object.Annotations = map[string]string{"nginx.ingress.kubernetes.io/rewrite-target": target}
	setPaths(object, networkingv1.PathTypeImplementationSpecific, path, path, path)
	rule := &object.Spec.Rules[0]
	rule.Host = host
	rule.HTTP.Paths[1].PathType, rule.HTTP.Paths[2].PathType = new(networkingv1.PathTypeExact), new(networkingv1.PathTypePrefix)
	rule.HTTP.Paths[2].Backend.Service.Name = service
}

func mustConfig(t *testing.T, w world, m *Memo) model.Config {
	t.Helper()
	config, _ := Config(newSnapshot(t, w.objects(t)), w.flags(), m)
	return config
}

// Large annotations and many paths are fine, but not both: an Ingress cannot
// multiply what it says until nginx.conf is too large for everybody.
func TestOneIngressCannotFillTheFile(t *testing.T) {
	t.Parallel()
	addresses := make([]string, 10_000)
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
