package decode

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Documents say where what was read last is written, whether it was good or not
// and whether it was read before or not.
func TestReaderDocuments(t *testing.T) {
	t.Parallel()
	type written struct {
		Number, Line int
		Names        []string
	}
	const class = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: x.example/y}\n"
	first := "# licence\n\n" + class + "---\n# broken\n\nkind: Service\n---\n# nothing\n"
	second := first + "--- # two in a list\n%YAML 1.1\n---\n" + "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n"
	var r Reader
	for _, test := range []struct {
		text string
		want []written
	}{
		{"", nil},
		{first, []written{{1, 3, []string{"IngressClass /nginx"}}, {2, 10, nil}}},
		{second, []written{{1, 3, []string{"IngressClass /nginx"}}, {2, 10, nil}, {3, 16, []string{"Namespace /a", "Namespace /b"}}}},
		{class, []written{{1, 1, []string{"IngressClass /nginx"}}}},
	} {
		_, _, _ = r.Read("f.yaml", []byte(test.text))
		var got []written
		for _, d := range r.Documents() {
			if d.File != "f.yaml" {
				t.Errorf("the file is %q", d.File)
			}
			got = append(got, written{d.Number, d.Line, namesOf(*d.Objects)})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("documents (-want +got):\n%s", diff)
		}
	}
}

// A kind is meant where only its version or its spelling is another one, and is another
// thing in the groups of others.
func TestNotesOfKindsThatAreMeant(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a}}":            "apiVersion",
		"{apiVersion: networking.k8s.io/v1beta1, kind: Ingress, metadata: {name: a}}":     "apiVersion",
		"{apiVersion: discovery.k8s.io/v1beta1, kind: EndpointSlice}":                     "apiVersion",
		"{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: a}}":        "",
		"{apiVersion: networking.internal.knative.dev/v1, kind: Ingress}":                 "",
		"{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: a}}":         "",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b, annotations: {}}}": "",
		"{apiVersion: v1, kind: Ingress, metadata: {name: a}}":                            "apiVersion",
		"{apiVersion: apps/v1, kind: Service, metadata: {name: a}}":                       "apiVersion",
		"{apiVersion: networking.k8s.io/v1, kind: ingress, metadata: {name: a}}":          "kind",
		"{apiVersion: networking.k8s.io/v1, kind: Ingresses, metadata: {name: a}}":        "kind",
		"{apiVersion: networking.k8s.io/v1, kind: Ingres, metadata: {name: a}}":           "kind",
		"{apiVersion: networking.k8s.io/v1, kind: ingressclass, metadata: {name: a}}":     "kind",
		"{apiVersion: extensions/v1beta1, kind: IngressList, items: []}":                  "kind",
		"{apiVersion: v1, kind: list, items: []}":                                         "kind",
		"{apiVersion: v1, kind: SERVICE, metadata: {name: a}}":                            "kind",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}":                     "",
		"{apiVersion: config.openshift.io/v1, kind: ingress, metadata: {name: a}}":        "",
		"{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass}":                  "",
	} {
		_, notes, err := FromYAML("f.yaml", []byte(header))
		if err != nil || len(notes) != 1 || notes[0].Field != want {
			t.Errorf("%s: got %+v, %v", header, notes, err)
		}
	}
	_, notes, _ := FromYAML("f.yaml", []byte("{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a}}"))
	if notes[0].Object != "Ingress default/a" {
		t.Errorf("the object is %q", notes[0].Object)
	}
}

// A second version of a file keeps the pointers of the documents that did not
// change, wherever they are now.
func TestReaderKeepsPointers(t *testing.T) {
	t.Parallel()
	const doc = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n"
	one := []byte(fmt.Sprintf(doc, "a") + fmt.Sprintf(doc, "b") + fmt.Sprintf(doc, "B"))
	two := []byte("# edited\n" + fmt.Sprintf(doc, "b") + fmt.Sprintf(doc, "B") + fmt.Sprintf(doc, "c") + fmt.Sprintf(doc, "a"))
	var r Reader
	first, _, firstErr := r.Read("f.yaml", one)
	second, _, secondErr := r.Read("f.yaml", two)
	if len(second.Namespaces) != 3 || second.Namespaces[0] != first.Namespaces[1] || second.Namespaces[2] != first.Namespaces[0] {
		t.Errorf("pointers changed: %p then %p", first.Namespaces, second.Namespaces)
	}
	if len(Errors(firstErr)) != 1 || len(Errors(secondErr)) != 1 || firstErr.Error() == secondErr.Error() {
		t.Errorf("errors: %v, then %v", firstErr, secondErr)
	}
	fresh, _, freshErr := FromYAML("f.yaml", two)
	if diff := cmp.Diff(fresh, second); diff != "" || freshErr.Error() != secondErr.Error() {
		t.Errorf("a reader gives something else (-fresh +reader):\n%s", diff)
	}
}
