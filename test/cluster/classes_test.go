package cluster

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// An Ingress that moves from one class to another, and back, leaves the sluice of
// the one and is served by that of the other.
func TestIngressMovesBetweenClasses(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	a := newSite(t, c, "move-a")
	b := &site{Cluster: c, Sluice: runFor(t, c, "move-b"), name: "move-b"}
	c.Apply(t, classOf("move-b"))
	a.web(t, "web", 1)
	place := func(class string) {
		c.Apply(t, ingressOf(class, "move-a", "web", Rule("move.example", "/", "web", 80)))
	}
	place("move-a")
	EventuallyAnswer(t, a.get("move.example", "/"), "the pod, at the first", from("web"))
	must(t, b.get("move.example", "/"), "nothing, at the second", status(http.StatusNotFound))
	for range 2 {
		for _, to := range []struct{ there, gone *site }{{b, a}, {a, b}} {
			place(to.there.name)
			began := time.Now()
			EventuallyAnswer(t, to.there.get("move.example", "/"), "the pod, at "+to.there.name, from("web"))
			appeared := time.Since(began)
			EventuallyStatus(t, to.gone.get("move.example", "/"), http.StatusNotFound)
			t.Logf("moved to %s: appeared there after %d ms, had gone after %d ms", to.there.name, appeared.Milliseconds(), time.Since(began).Milliseconds())
		}
	}
}

// The legacy annotation is followed, also against the field, and the conflict is
// said.
func TestLegacyClassAnnotation(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "legacy")
	s.web(t, "web", 1)
	legacy := func(name, class string) *networkingv1.Ingress {
		ing := s.ingress(name, Rule(name+".legacy.example", "/", "web", 80))
		ing.Spec.IngressClassName = nil
		ing.Annotations = map[string]string{"kubernetes.io/ingress.class": class}
		return ing
	}
	s.Apply(t, legacy("ours", "legacy"), legacy("another", "another"), s.ingress("field", Rule("field.legacy.example", "/", "web", 80)))
	for _, name := range []string{"ours", "field"} {
		EventuallyAnswer(t, s.get(name+".legacy.example", "/"), "the pod", from("web"))
	}
	must(t, s.get("another.legacy.example", "/"), "nothing", status(http.StatusNotFound))
	// The API server takes both only where one is there before.
	annotate := func(name, class string) func() {
		return func() {
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"kubernetes.io/ingress.class":%q}}}`, class)
			if _, err := s.Admin().NetworkingV1().Ingresses("legacy").Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	field := s.get("field.legacy.example", "/")
	takes(t, "the annotation names another class than the field", annotate("field", "another"), field, status(http.StatusNotFound))
	takes(t, "the annotation names the same class", annotate("field", "legacy"), field, from("web"))
	field2 := s.ingress("other-field", Rule("other-field.legacy.example", "/", "web", 80))
	other := "legacy-other"
	field2.Spec.IngressClassName = &other
	s.Apply(t, field2)
	takes(t, "the annotation names our class, the field another", annotate("other-field", "legacy"), s.get("other-field.legacy.example", "/"), from("web"))
	logged(t, s.Sluice, "msg=problem", `object="Ingress legacy/other-field"`, "field=spec.ingressClassName", "Ambiguous")
}

// Ingresses that name no class are served with --watch-ingress-without-class
// only, and by whom the default class belongs to: the API server writes it into
// those that are created from then on.
func TestIngressWithoutClass(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	plain := newSite(t, c, "default")
	without := &site{Cluster: c, Sluice: runFor(t, c, "without", "--watch-ingress-without-class", "--watch-namespace", "default-ns"), name: "without"}
	c.Apply(t, Web("default-ns", "web", 1)...)
	c.AwaitEndpoints(t, "default-ns", "web", 1)
	classless := func(name string) *networkingv1.Ingress {
		ing := ingressOf("", "default-ns", name, Rule(name+".default.example", "/", "web", 80))
		ing.Spec.IngressClassName = nil
		return ing
	}
	c.Apply(t, classless("none"))
	EventuallyAnswer(t, without.get("none.default.example", "/"), "the pod, where Ingresses without class are served", from("web"))
	must(t, plain.get("none.default.example", "/"), "nothing, where they are not", status(http.StatusNotFound))

	class := classOf("default")
	class.Annotations = map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}
	c.Apply(t, class)
	t.Cleanup(func() { c.Delete(t, class) })
	// The API server hears of the default class by a watch of its own.
	Eventually(t, "a default class in a new Ingress", func(ctx context.Context) error {
		made, err := c.Admin().NetworkingV1().Ingresses("default-ns").Create(ctx, classless("given"), metav1.CreateOptions{})
		if err == nil && made.Spec.IngressClassName == nil {
			err = c.Admin().NetworkingV1().Ingresses("default-ns").Delete(ctx, "given", metav1.DeleteOptions{})
			return fmt.Errorf("it has none yet (%v)", err)
		}
		return err
	})
	EventuallyAnswer(t, plain.get("given.default.example", "/"), "the pod, at the sluice of the default class", from("web"))
	EventuallyStatus(t, without.get("given.default.example", "/"), http.StatusNotFound)
	must(t, without.get("none.default.example", "/"), "the pod: what was there keeps no class", from("web"))
	must(t, plain.get("none.default.example", "/"), "nothing: what was there keeps no class", status(http.StatusNotFound))
}

// With --ingress-class-by-name a class is served whatever its controller.
func TestClassByName(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	foreign := classOf("by-name")
	foreign.Spec.Controller = "sluice.test/somebody-else"
	c.Apply(t, foreign)
	c.Apply(t, Web("by-name", "web", 1)...)
	c.Apply(t, ingressOf("by-name", "by-name", "web", Rule("by-name.example", "/", "web", 80)))
	byName := &site{Cluster: c, Sluice: runFor(t, c, "by-name", "--ingress-class-by-name")}
	EventuallyAnswer(t, byName.get("by-name.example", "/"), "the pod", from("web"))
	byController := &site{Cluster: c, Sluice: RunSluice(t, c.Kubeconfig(t, "by-controller", "system:masters"), flagsFor("by-name", "--election-id", "by-controller")...)}
	must(t, byController.get("by-name.example", "/"), "nothing", status(http.StatusNotFound))
}

// One sluice serves all classes of its controller, and those that
// --ingress-class lists in the annotation. A class may come after its Ingress,
// and go, and belong to another controller from then on.
func TestClassesComeAndGo(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	c.Apply(t, Web("several", "web", 1)...)
	one, two := classOf("several"), classOf("several-two")
	two.Spec.Controller = one.Spec.Controller
	annotated := ingressOf("", "several", "annotated", Rule("annotated.several.example", "/", "web", 80))
	annotated.Spec.IngressClassName, annotated.Annotations = nil, map[string]string{"kubernetes.io/ingress.class": "several-three"}
	c.Apply(t, one, annotated,
		ingressOf("several", "several", "one", Rule("one.several.example", "/", "web", 80)),
		ingressOf("several-two", "several", "two", Rule("two.several.example", "/", "web", 80)))
	s := &site{Cluster: c, Sluice: runFor(t, c, "several", "--ingress-class", "several,several-three")}
	for _, host := range []string{"one.several.example", "annotated.several.example"} {
		EventuallyAnswer(t, s.get(host, "/"), "the pod", from("web"))
	}
	request := s.get("two.several.example", "/")
	must(t, request, "nothing: there is no class of this name", status(http.StatusNotFound))
	takes(t, "the class came after its Ingress", func() { c.Apply(t, two) }, request, from("web"))
	takes(t, "the class was deleted", func() { c.Delete(t, two) }, request, status(http.StatusNotFound))
	two.Spec.Controller = "sluice.test/somebody-else"
	c.Apply(t, two)
	c.Apply(t, ingressOf("several", "several", "later", Rule("later.several.example", "/", "web", 80)))
	EventuallyAnswer(t, s.get("later.several.example", "/"), "the pod", from("web"))
	must(t, request, "nothing: the class is another controller's", status(http.StatusNotFound))
}

// An account that may not read IngressClasses serves the class whose name
// --ingress-class has, and no other.
func TestClassesUnreadable(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	c.Apply(t, Web("unreadable", "web", 1)...)
	c.Apply(t, classOf("unreadable"), ingressOf("unreadable", "unreadable", "ours", Rule("ours.unreadable.example", "/", "web", 80)),
		ingressOf("another", "unreadable", "another", Rule("another.unreadable.example", "/", "web", 80)))
	s := within(t, c, "unreadable")
	EventuallyAnswer(t, s.get("ours.unreadable.example", "/"), "the pod", from("web"))
	must(t, s.get("another.unreadable.example", "/"), "nothing", status(http.StatusNotFound))
	later := ingressOf("unreadable", "unreadable", "later", Rule("later.unreadable.example", "/", "web", 80))
	takes(t, "one that came later", func() { c.Apply(t, later) }, s.get("later.unreadable.example", "/"), from("web"))
	if lines := s.Log.Lines(t, "ingressclasses"); len(lines) != 1 {
		t.Errorf("that classes cannot be read is said %d times, want once: %q", len(lines), lines)
	}
}

// The ConfigMap that a class names holds the settings of its Ingresses alone, as
// it is now.
func TestClassParameters(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	s := newSite(t, c, "parameters")
	s.web(t, "web", 1)
	scope, namespace := networkingv1.IngressClassParametersReferenceScopeNamespace, "parameters"
	strict := classOf("parameters-strict")
	strict.Spec.Controller = controllerOf("parameters")
	strict.Spec.Parameters = &networkingv1.IngressClassParametersReference{Kind: "ConfigMap", Name: "strict", Scope: &scope, Namespace: &namespace}
	settings := func(pairs ...string) *corev1.ConfigMap {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "parameters", Name: "strict"}, Data: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			o.Data[pairs[i]] = pairs[i+1]
		}
		return o
	}
	s.Apply(t, strict, s.ingress("plain", Rule("plain.parameters.example", "/", "web", 80)),
		ingressOf("parameters-strict", "parameters", "strict", Rule("strict.parameters.example", "/", "web", 80)))
	request := s.get("strict.parameters.example", "/")
	closed := status(http.StatusServiceUnavailable)
	EventuallyAnswer(t, request, "503, as nobody knows whom the ConfigMap would keep out", closed)
	logged(t, s.Sluice, "msg=problem", `object="IngressClass parameters-strict"`, "parameters/strict")
	takes(t, "the ConfigMap came", func() { s.Apply(t, settings("force-ssl-redirect", "true")) }, request, status(http.StatusPermanentRedirect))
	must(t, s.get("plain.parameters.example", "/"), "the pod: the other class has no such settings", from("web"))
	takes(t, "it changed", func() { s.Apply(t, settings("force-ssl-redirect", "false")) }, request, from("web"))
	takes(t, "it changed back", func() { s.Apply(t, settings("force-ssl-redirect", "true")) }, request, status(http.StatusPermanentRedirect))
	takes(t, "it was deleted", func() { s.Delete(t, settings()) }, request, closed)
	must(t, s.get("plain.parameters.example", "/"), "the pod: the other class goes on", from("web"))
}
