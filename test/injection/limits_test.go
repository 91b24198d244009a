package injection

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/manifest/decode"
	"sluice/test/kit"
)

type secret = corev1.Secret

// Input of a size that ate the memory of a webhook: it is refused as YAML, and
// as an object leaves no more in the file than the same object without it.
func TestCVE2026_24514(t *testing.T) {
	t.Parallel()
	const megabytes = 9 << 20
	huge := strings.Repeat("a", megabytes)
	usual := newWorker(t).run(worldObjects(t)).file.Len()
	for name, change := range map[string]func(*networkingv1.Ingress){
		"an annotation of ours":      func(ing *networkingv1.Ingress) { ing.Annotations[prefix+"proxy-body-size"] = huge },
		"a list":                     func(ing *networkingv1.Ingress) { ing.Annotations[prefix+"cors-allow-headers"] = huge },
		"an allow list":              func(ing *networkingv1.Ingress) { ing.Annotations[prefix+"allowlist-source-range"] = huge },
		"an annotation nobody reads": func(ing *networkingv1.Ingress) { ing.Annotations["example.org/x"] = huge },
		"a label":                    func(ing *networkingv1.Ingress) { ing.Labels["x"] = huge },
		"the name of an annotation":  func(ing *networkingv1.Ingress) { ing.Annotations["example.org/"+huge] = "x" },
		"a path":                     func(ing *networkingv1.Ingress) { ing.Spec.Rules[0].HTTP.Paths[0].Path = "/" + huge },
		"a host":                     func(ing *networkingv1.Ingress) { ing.Spec.Rules[0].Host = huge },
	} {
		a := attack(t, change)
		if a.file.Len() > usual+1000 {
			t.Errorf("%s: the file has %d bytes, else %d", name, a.file.Len(), usual)
		}
		for _, p := range a.problems {
			if len(p.Text) > 2500 {
				t.Errorf("%s: a problem has %d bytes", name, len(p.Text))
			}
		}
	}
	manifest := "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: a\n  namespace: b\n  annotations: {x: " + huge + "}\nspec:\n  defaultBackend: {service: {name: a, port: {number: 80}}}\n"
	read, _, err := decode.FromYAML("huge.yaml", []byte(manifest))
	if err == nil || read.Len() > 0 {
		t.Errorf("annotations of %d bytes pass: %d objects", len(huge), read.Len())
	} else if len(err.Error()) > 2500 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

// A named group of a pattern becomes a variable of nginx. None may be one that
// Sluice or nginx uses: with "route" a tenant would choose the backend.
func TestNamedGroupsOverwriteNothing(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"/(?<route>other/neighbour/side/80)", "/(?P<route>other/neighbour/side/80)", "/(?'route'other/neighbour/side/80)", `/x(?<route>.*)`,
		"/(?<host>a)|b", "/(?<p_route>a)(?<namespace>b)", "/[[](?<route>.*)", `/\Q[\E(?<route>.*)`, `/\\(?<route>.*)`, "/[]](?<route>.*)", "/(?#()(?<route>.*)", "/(?i)(?<route>.*)",
		"/(?|(?<route>a)|(?<route>b))", "/(?x)[ # ](?<route>.*)", "/(?<route>(?<namespace>a))", "/(?:(?<route>a))", "/(?=(?<route>.*))",
	}
	allowed := map[string]bool{}
	groups := func(o outcome) (names []string) {
		all(o.tree(t), func(d *directive) {
			if strings.HasPrefix(strings.Join(d.args, " "), "$location_path ") {
				return // a text and no pattern
			}
			for _, argument := range append(d.args, d.name) {
				for _, m := range group.FindAllStringSubmatch(argument, -1) {
					names = append(names, m[1])
				}
			}
		})
		return names
	}
	for _, name := range groups(newWorker(t).run(worldObjects(t))) {
		allowed[name] = true
	}
	for _, path := range patterns {
		for _, target := range []string{"", "/x/$route", "/$1"} {
			a := attack(t, func(ing *networkingv1.Ingress) {
				ing.Annotations[prefix+"use-regex"] = "true"
				ing.Annotations[prefix+"rewrite-target"] = target
				ing.Spec.Rules[0].HTTP.Paths[2].Path = path
			})
			for _, name := range groups(a.outcome) {
				if !allowed[name] && !strings.HasPrefix(name, "p_") {
					t.Errorf("%s with %s: a group is named %s", path, target, name)
				}
			}
		}
	}
}

// Real nginx sends what asks for another tenant's backend by such a group to its
// own.
func TestNamedGroupsLeadNowhere(t *testing.T) {
	eachNginx(t, func(t *testing.T, installed kit.Nginx) {
		objects := worldObjects(t)
		objects.EndpointSlices = append(objects.EndpointSlices, objectsOf(t, sideSlice).EndpointSlices...)
		ingress(t, objects, "pattern").Spec.Rules[0].HTTP.Paths[0].Path = "/g/(?<route>other/neighbour/side/80)"
		s := serving(t, installed, objects)
		if got := s.ask(t, "pattern.example", "/g/other/neighbour/side/80"); got.backend != "default/web/80" {
			t.Errorf("%s nginx: answered by %q with %d", s.Name, got.backend, got.status)
		}
	})
}
