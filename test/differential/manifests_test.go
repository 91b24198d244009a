package differential

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// manifests are the objects that the world's Ingresses name, as YAML.
func (w *world) manifests(t *testing.T) string {
	t.Helper()
	objects := w.objects(t)
	list := []any{class, objects.ConfigMaps[0]}
	ingresses := ""
	for _, ing := range objects.Ingresses {
		list = append(list, ing)
		ingresses += document(t, ing)
	}
	if strings.Contains(ingresses, "secretName: ") {
		list = append(list, objects.Secrets[0])
	}
	for i, service := range objects.Services {
		if strings.Contains(ingresses, "name: "+service.Name+"\n") || w.defaultBackend && service.Name == fallbackService {
			list = append(list, service, objects.EndpointSlices[i])
		}
	}
	var documents []string
	for _, object := range list {
		documents = append(documents, document(t, object))
	}
	return strings.Join(documents, "---\n")
}

// document is one object as YAML, without its status.
func document(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := yaml.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	if text, err = yaml.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	return string(text)
}
