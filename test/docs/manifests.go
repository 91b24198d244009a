package docs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"sluice/test/cluster"
	"sluice/test/pages"
)

// Manifests holds the manifests of pages to what the API server says of them, in
// a dry run with strict validation, and to what Sluice makes of them.
type Manifests struct {
	Cluster *cluster.Cluster
	// Folder is where they are written to; Tools says which kubectl and sluice read
	// them.
	Folder string
	Tools  Tools
	// Chart is the chart that values are for.
	Chart string
	count int
}

// documents is what stands between the documents of a YAML text.
var documents = regexp.MustCompile(`(?m)^---.*\n`)

// Check checks a block.
func (m *Manifests) Check(b pages.Block) error {
	if b.Marks.PartOf == "values" {
		return m.values(b)
	}
	text, err := whole(b)
	if err != nil {
		return err
	}
	ingresses, err := m.makeNamespaces(text)
	if err != nil {
		return err
	}
	path, err := m.write(text)
	if err != nil {
		return err
	}
	_, err = m.Tools.Run("kubectl", "apply", "--dry-run=server", "--validate=strict", "--server-side", "-f", path)
	if err != nil || !ingresses {
		return err
	}
	return m.render(path, b.Marks.Finding)
}

// values has the chart rendered with values of it, and with an image, which no page but
// those about the installation has to name.
func (m *Manifests) values(b pages.Block) error {
	path, err := m.write(b.Text)
	if err != nil {
		return err
	}
	image, err := m.write("controller: {image: {repository: registry.example/sluice}}\n")
	if err != nil {
		return err
	}
	_, err = m.Tools.Run("helm", "template", "sluice", m.Chart, "--values", image, "--values", path)
	return err
}

func (m *Manifests) write(text string) (path string, err error) {
	m.count++
	path = filepath.Join(m.Folder, fmt.Sprintf("manifest-%d.yaml", m.count))
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// render has Sluice render the Ingresses, and find nothing but what the page says
// and what a manifest alone cannot have: Services, Secrets and the like of other
// manifests. What could replace a snippet is no fault of the page.
func (m *Manifests) render(path, finding string) error {
	if _, err := m.Tools.Run("sluice", "render", "-f", path); err != nil {
		return err
	}
	said, err := m.Tools.Run("sluice", "lint", "-f", path, "-o", "json", "--fail-on", "never")
	if err != nil {
		return err
	}
	var report struct {
		Findings []struct{ Reason, Text, Field string }
	}
	if err := json.Unmarshal([]byte(said), &report); err != nil {
		return fmt.Errorf("sluice lint -o json: %w", err)
	}
	found := false
	for _, f := range report.Findings {
		found = found || f.Reason == finding
		if f.Reason != finding && f.Reason != "NotFound" && f.Reason != "Snippet" {
			return fmt.Errorf("%s: %s [%s]; if it is meant to be so: <!-- finding: %s -->", f.Field, f.Text, f.Reason, f.Reason)
		}
	}
	if finding != "" && !found {
		return fmt.Errorf("sluice lint finds no %s", finding)
	}
	return nil
}

// makeNamespaces makes the namespaces that the documents are in: a dry run wants
// them. It says whether there are Ingresses.
func (m *Manifests) makeNamespaces(text string) (ingresses bool, err error) {
	for _, document := range documents.Split(text, -1) {
		var object metav1.PartialObjectMetadata
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return false, err
		}
		ingresses = ingresses || object.Kind == "Ingress"
		if object.Namespace == "" {
			continue
		}
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.Namespace}}
		_, err := m.Cluster.Admin().CoreV1().Namespaces().Create(context.Background(), namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return false, err
		}
	}
	return ingresses, nil
}

// skeletons are the objects that a block can be a part of, without that part.
// Where the name is not a kind, the block is what is below a field of it.
var skeletons = map[string]struct{ skeleton, below string }{
	"Ingress": {`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: part}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`, ""},
	"annotations": {`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: part}
spec:
  ingressClassName: nginx
  defaultBackend: {service: {name: web, port: {number: 80}}}
`, "metadata:\n  annotations:\n    "},
	"settings": {`
apiVersion: v1
kind: ConfigMap
metadata: {name: part}
`, "data:\n  "},
}

// whole makes an object of a block that is a part of one.
func whole(b pages.Block) (string, error) {
	if b.Marks.PartOf == "" {
		return b.Text + "\n", nil
	}
	into, known := skeletons[b.Marks.PartOf]
	if !known {
		return "", fmt.Errorf("nobody knows how to make a whole %s of a part", b.Marks.PartOf)
	}
	text := b.Text
	if into.below != "" {
		indentation := into.below[strings.LastIndex(into.below, "\n")+1:]
		text = into.below + strings.ReplaceAll(text, "\n", "\n"+indentation)
	}
	object, part := map[string]any{}, map[string]any{}
	if err := errors.Join(yaml.Unmarshal([]byte(into.skeleton), &object), yaml.UnmarshalStrict([]byte(text), &part)); err != nil {
		return "", err
	}
	merge(object, part)
	content, err := yaml.Marshal(object)
	return string(content), err
}

// merge puts what a part says into an object.
func merge(object, part map[string]any) {
	for key, value := range part {
		inner, isMap := value.(map[string]any)
		there, wasMap := object[key].(map[string]any)
		if isMap && wasMap {
			merge(there, inner)
			continue
		}
		object[key] = value
	}
}
