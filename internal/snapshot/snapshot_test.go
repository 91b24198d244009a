package snapshot

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
)

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func ingress(age int, namespace, name string) *networkingv1.Ingress {
	ing := &networkingv1.Ingress{ObjectMeta: meta(namespace, name)}
	if age != 0 {
		ing.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, age, 0, time.UTC))
	}
	return ing
}

func slice(service, name string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: meta("shop", name)}
	if service != "" {
		s.Labels = map[string]string{discoveryv1.LabelServiceName: service}
	}
	return s
}

func ingressNames(s *Snapshot) []string { return appendNames(nil, "", s.Ingresses()) }

func TestParseName(t *testing.T) {
	t.Parallel()
	name, err := ParseName("shop/web.v2")
	if err != nil || name != (Name{"shop", "web.v2"}) || name.String() != "shop/web.v2" {
		t.Errorf("got %v, %v", name, err)
	}
	for _, text := range []string{"", "web", "/", "shop/", "/web", "a/b/c", "Shop/web", "a.b/web", "shop/we b"} {
		if name, err := ParseName(text); err == nil {
			t.Errorf("%q: got %v and no error", text, name)
		}
	}
}

func TestIngressOrder(t *testing.T) {
	t.Parallel()
	want := []string{" z/none", " b/old", " b/equal", " a-b/equal", " a/y", " a/x", " a/new"}
	all := []*networkingv1.Ingress{
		ingress(3, "a", "new"), ingress(2, "a", "x"), ingress(2, "a", "y"), ingress(2, "a-b", "equal"),
		ingress(2, "b", "equal"), ingress(1, "b", "old"), ingress(0, "z", "none"),
	}
	// As ingress-nginx compares: "b/equal" > "a/y" > "a/x" > "a-b/equal".
	want[3], want[4], want[5] = " a/y", " a/x", " a-b/equal"
	for range 20 {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		s, problems := New(Objects{Ingresses: all})
		if diff := cmp.Diff(want, ingressNames(s)); diff != "" || len(problems) > 0 {
			t.Fatalf("order (-want +got):\n%s\nproblems %v", diff, problems)
		}
	}
}

func TestCompareQualified(t *testing.T) {
	t.Parallel()
	names := []Name{{"a", "b"}, {"a", "c"}, {"a-b", "a"}, {"a0", "a"}, {"b", "a"}, {"ab", "a"}, {"", "a"}}
	sign := func(n int) int { return min(max(n, -1), 1) }
	for _, a := range names {
		for _, b := range names {
			want := 0
			if a.String() < b.String() {
				want = -1
			} else if a.String() > b.String() {
				want = 1
			}
			if got := sign(compareQualified(a, b)); got != want {
				t.Errorf("%v against %v: want %d, got %d", a, b, want, got)
			}
		}
	}
}

func TestIndexes(t *testing.T) {
	t.Parallel()
	o := Objects{
		Ingresses:      []*networkingv1.Ingress{ingress(1, "shop", "web")},
		IngressClasses: []*networkingv1.IngressClass{{ObjectMeta: meta("", "z")}, {ObjectMeta: meta("", "a")}},
		Services:       []*corev1.Service{{ObjectMeta: meta("shop", "web")}},
		EndpointSlices: []*discoveryv1.EndpointSlice{slice("web", "web-2"), slice("api", "api-1"), slice("web", "web-1"), slice("", "free")},
		Secrets:        []*corev1.Secret{{ObjectMeta: meta("shop", "tls")}},
		ConfigMaps:     []*corev1.ConfigMap{{ObjectMeta: meta("shop", "settings")}},
		Namespaces:     []*corev1.Namespace{{ObjectMeta: meta("", "shop")}},
	}
	s, problems := New(o)
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	found := map[string]bool{
		"Ingress":       s.Ingress(Name{"shop", "web"}) == o.Ingresses[0],
		"class":         s.IngressClass("z") == o.IngressClasses[0],
		"class order":   s.IngressClasses()[0].Name == "a",
		"Service":       s.Service(Name{"shop", "web"}) == o.Services[0],
		"Secret":        s.Secret(Name{"shop", "tls"}) == o.Secrets[0],
		"ConfigMap":     s.ConfigMap(Name{"shop", "settings"}) == o.ConfigMaps[0],
		"Namespace":     s.Namespace("shop") == o.Namespaces[0],
		"no Ingress":    s.Ingress(Name{"shop", "x"}) == nil,
		"no class":      s.IngressClass("x") == nil,
		"no Service":    s.Service(Name{"shop", "x"}) == nil,
		"no Secret":     s.Secret(Name{"x", "tls"}) == nil,
		"no ConfigMap":  s.ConfigMap(Name{}) == nil,
		"no Namespace":  s.Namespace("x") == nil,
		"no slices":     s.EndpointSlices(Name{"shop", "x"}) == nil,
		"caller's list": o.IngressClasses[0].Name == "z",
	}
	for what, ok := range found {
		if !ok {
			t.Error(what)
		}
	}
	if diff := cmp.Diff([]string{" shop/web-1", " shop/web-2"}, appendNames(nil, "", s.EndpointSlices(Name{"shop", "web"}))); diff != "" {
		t.Errorf("slices (-want +got):\n%s", diff)
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	first, second := ingress(2, "shop", "web"), ingress(1, "shop", "web")
	s, problems := New(Objects{
		Ingresses:      []*networkingv1.Ingress{first, second, first, ingress(1, "shop", "api")},
		EndpointSlices: []*discoveryv1.EndpointSlice{slice("web", "a"), slice("web", "a")},
		Namespaces:     []*corev1.Namespace{{ObjectMeta: meta("", "a")}, {ObjectMeta: meta("", "a")}},
	})
	if len(s.Ingresses()) != 2 || s.Ingress(Name{"shop", "web"}) != first || s.Ingresses()[1] != first {
		t.Errorf("the first was not kept: %v", ingressNames(s))
	}
	if n := len(s.EndpointSlices(Name{"shop", "web"})); n != 1 {
		t.Errorf("want 1 slice, got %d", n)
	}
	var got []string
	for _, p := range problems {
		if p.Reason != model.Conflict {
			t.Errorf("reason %s", p.Reason)
		}
		got = append(got, p.String())
	}
	want := []string{
		"EndpointSlice shop/a: metadata.name: want one EndpointSlice of this name (got several): the first is used, the others are left out",
		"Ingress shop/web: metadata.name: want one Ingress of this name (got several): the first is used, the others are left out",
		"Namespace a: metadata.name: want one Namespace of this name (got several): the first is used, the others are left out",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestWithIngresses(t *testing.T) {
	t.Parallel()
	s, _ := New(Objects{Ingresses: []*networkingv1.Ingress{ingress(1, "n", "a"), ingress(2, "n", "b"), ingress(3, "n", "c"), ingress(4, "n", "d")}})
	before := ingressNames(s)
	changed := s.WithIngresses(map[Name]*networkingv1.Ingress{
		{"n", "a"}: ingress(9, "n", "a"), // moves to the end
		{"n", "b"}: nil,
		{"n", "e"}: ingress(3, "n", "e"), // goes before c
		{"n", "x"}: nil,
	})
	if diff := cmp.Diff([]string{" n/e", " n/c", " n/d", " n/a"}, ingressNames(changed)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if changed.Ingress(Name{"n", "b"}) != nil || changed.Ingress(Name{"n", "e"}) == nil || changed.Ingress(Name{"n", "c"}) != s.Ingress(Name{"n", "c"}) {
		t.Error("the index does not agree with the list")
	}
	again := changed.WithIngresses(map[Name]*networkingv1.Ingress{{"n", "b"}: ingress(2, "n", "b")})
	if diff := cmp.Diff([]string{" n/b", " n/e", " n/c", " n/d", " n/a"}, ingressNames(again)); diff != "" {
		t.Errorf("changed again (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, ingressNames(s)); diff != "" || s.Ingress(Name{"n", "b"}) == nil {
		t.Errorf("the original changed:\n%s", diff)
	}
	if s.WithIngresses(nil) != s {
		t.Error("nothing to replace makes another snapshot")
	}
}

// An Ingress that was left out and is another now is a change, like every other one.
func TestOnlyServices(t *testing.T) {
	t.Parallel()
	var b Builder
	left := map[Name]*networkingv1.Ingress{{"n", "b"}: nil}
	objects := Objects{Ingresses: []*networkingv1.Ingress{ingress(1, "n", "a"), ingress(2, "n", "b")}, EndpointSlices: []*discoveryv1.EndpointSlice{slice("web", "web-1")}}
	next := func() *Snapshot {
		s, _ := b.Next(objects)
		return s.WithIngresses(left)
	}
	before := next()
	objects.EndpointSlices = []*discoveryv1.EndpointSlice{slice("web", "web-1")}
	slices := next()
	if services, only := slices.OnlyServices(before); !only || len(services) == 0 || services[0] != (Name{"shop", "web"}) {
		t.Errorf("after a change of endpoints: %v, %t", services, only)
	}
	objects.Ingresses = []*networkingv1.Ingress{objects.Ingresses[0], ingress(3, "n", "b")}
	if _, only := next().OnlyServices(slices); only {
		t.Error("an Ingress that was left out and is another now is no change")
	}
}

func TestWithConfigMap(t *testing.T) {
	t.Parallel()
	old, other := &corev1.ConfigMap{ObjectMeta: meta("n", "a")}, &corev1.ConfigMap{ObjectMeta: meta("n", "b")}
	s, _ := New(Objects{ConfigMaps: []*corev1.ConfigMap{old, other}})
	replacement := &corev1.ConfigMap{ObjectMeta: meta("n", "a")}
	changed := s.WithConfigMap(replacement)
	name := Name{"n", "a"}
	if changed.ConfigMap(name) != replacement || s.ConfigMap(name) != old || changed.ConfigMap(Name{"n", "b"}) != other {
		t.Error("the ConfigMap was not replaced in the new snapshot alone")
	}
}

func appendNames[T any, P Object[T]](names []string, kind string, objects []P) []string {
	for _, o := range objects {
		names = append(names, kind+" "+NameOf(o).String())
	}
	return names
}
