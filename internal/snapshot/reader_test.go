package snapshot

import (
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

// A kind is outdated in the groups that Kubernetes had it in, and another thing
// elsewhere.
func TestOutdatedNotes(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a}}":            true,
		"{apiVersion: networking.k8s.io/v1beta1, kind: Ingress, metadata: {name: a}}":     true,
		"{apiVersion: discovery.k8s.io/v1beta1, kind: EndpointSlice}":                     true,
		"{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: a}}":        false,
		"{apiVersion: networking.internal.knative.dev/v1, kind: Ingress}":                 false,
		"{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: a}}":         false,
		"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b, annotations: {}}}": false,
	} {
		_, notes, err := FromYAML("f.yaml", []byte(header))
		if err != nil || len(notes) != 1 || notes[0].Outdated != want {
			t.Errorf("%s: got %+v, %v", header, notes, err)
		}
	}
	_, notes, _ := FromYAML("f.yaml", []byte("{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: a}}"))
	if notes[0].Object != "Ingress default/a" {
		t.Errorf("the object is %q", notes[0].Object)
	}
}
