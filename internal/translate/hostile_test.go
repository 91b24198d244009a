package translate

import (
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
