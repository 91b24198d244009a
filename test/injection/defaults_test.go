package injection

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/annotations"
	"sluice/internal/render"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// TestLayersGiveWhatAnIngressWouldHave: a hostile value that a Namespace or ConfigMap gives to
// all Ingresses prints what it would if an Ingress had it, or nothing. So all that is tried on
// Ingresses holds for it.
func TestLayersGiveWhatAnIngressWouldHave(t *testing.T) {
	t.Parallel()
	w, equal := newWorker(t), 0
	for name, layer := range layersOf(little(t)) {
		plain := layer.without.Ingresses[0]
		base := w.run(layer.without).file
		for _, doc := range annotationDocs() {
			for _, value := range layerValues() {
				own := layer.without
				own.Ingresses = []*networkingv1.Ingress{havingOne(plain, annotations.FieldOf(prefix, doc.Key), value)}
				file := w.run(layer.with(annotations.FieldOf("", doc.Key) + ": " + value)).file
				switch {
				case file.Equal(base), unserved(file) > unserved(base) && !strings.Contains(string(file.Bytes()), marker):
				case file.Equal(w.run(own).file):
					equal++
				default:
					t.Errorf("%s: %s = %s gives another file than an Ingress with it", name, doc.Key, named(value))
				}
			}
		}
	}
	if equal < 100 {
		t.Errorf("only %d values print something: this shows little", equal)
	}
}

// unserved counts what returns 503: a layer may close more than its value would.
func unserved(file *render.File) int {
	return strings.Count(string(file.Bytes()), "return 503;")
}

// layerValues are hostile values of one line, and some that are valid.
func layerValues() []string {
	values := []string{"true", "5", "10.0.0.0/8", "/x", "users", "cookie", "https://a.example/x?a=$b"}
	for i, value := range attacks {
		if i%3 == 0 && value == strings.TrimSpace(value) && !strings.ContainsAny(value, "\r\n") {
			values = append(values, value)
		}
	}
	return values
}

func havingOne(ing *networkingv1.Ingress, key, value string) *networkingv1.Ingress {
	ing = ing.DeepCopy()
	if ing.Annotations == nil {
		ing.Annotations = map[string]string{}
	}
	ing.Annotations[key] = value
	return ing
}

// layer is a way to give a line to all Ingresses of some objects.
type layer struct {
	without snapshot.Objects
	with    func(line string) snapshot.Objects
}

func layersOf(objects snapshot.Objects) map[string]layer {
	ofNamespace := func(key string) layer {
		return layer{objects, func(line string) snapshot.Objects {
			given := objects
			given.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: map[string]string{key: line}}}}
			return given
		}}
	}
	ofController := func(key string) layer {
		return layer{withData(objects, nil), func(line string) snapshot.Objects { return withData(objects, map[string]string{key: line}) }}
	}
	return map[string]layer{
		"defaults of a Namespace": ofNamespace(settings.NamespaceDefaults), "fixed by a Namespace": ofNamespace(settings.NamespaceFixed),
		"defaults of the controller": ofController("default-annotations"), "fixed by the controller": ofController("fixed-annotations"),
	}
}
