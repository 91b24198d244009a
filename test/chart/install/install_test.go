// Package install tests what charts/sluice renders against a real API server: it
// takes each object, and the pod that kube-controller-manager makes of the
// Deployment serves an Ingress with the container's own arguments.
package install

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"sluice/test/chart/rendering"
	"sluice/test/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

//go:embed kinds.yaml
var kinds string

// TestSetsAreAccepted: the API server takes each object of each set of values, with
// no field that it does not know. Of ServiceMonitors, PrometheusRules and
// ScaledObjects, which are others' to define, it knows that they exist.
func TestSetsAreAccepted(t *testing.T) {
	c := cluster.Shared(t)
	c.ApplyYAML(t, kinds)
	awaitKinds(t, c)
	for _, namespace := range []string{"sluice", "shop", "settings", "edge", "monitoring"} {
		c.Apply(t, cluster.Namespace(namespace))
	}
	files, err := filepath.Glob("../testdata/sets/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatalf("the sets are %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			set, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := rendering.Default().Render(string(set.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Objects) < 2 {
				t.Errorf("there are %d objects only", len(r.Objects))
			}
			c.CheckYAML(t, r.Manifests)
		})
	}
}

// awaitKinds waits until the API server has the kinds of kinds.yaml.
func awaitKinds(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the kinds of others", func(ctx context.Context) error {
		list, err := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != strings.Count(kinds, "kind: CustomResourceDefinition") {
			return fmt.Errorf("there are %d", len(list.Items))
		}
		for _, one := range list.Items {
			if !established(&one) {
				return errors.New(one.GetName() + " is not served yet")
			}
		}
		return nil
	})
}

func established(o *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, one := range conditions {
		if condition := one.(map[string]any); condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}

// TestTwoReleasesAreApart: two releases of one namespace have no object in
// common, so that they can be side by side.
func TestTwoReleasesAreApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range []string{"sluice", "inner"} {
		release := rendering.Default()
		release.Name = name
		r, err := release.Render("controller: {ingressClassResource: {name: " + name + "}}")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Objects {
			key := o.GetKind() + " " + o.GetName()
			if seen[key] {
				t.Errorf("both releases have the %s", key)
			}
			seen[key] = true
		}
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}
