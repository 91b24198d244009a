package cluster

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// formerController is a Deployment of ingress-nginx with these arguments.
func formerController(namespace string, arguments ...string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "ingress-nginx", "app.kubernetes.io/instance": namespace}
	none := int32(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ingress-nginx-controller", Labels: labels},
		Spec: appsv1.DeploymentSpec{Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "controller", Image: "registry.example/ingress-nginx/controller:v1.15.1", Args: append([]string{"/nginx-ingress-controller"}, arguments...),
			}}},
		}},
	}
}

// TestMigrateFromCluster: the report is about the Ingresses, the ConfigMap and the flags of
// an ingress-nginx in a cluster, from `sluice` and from the plugin, and no content of a
// Secret is asked for.
func TestMigrateFromCluster(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "migrated"
	c.Apply(t, Web(name, "web", 1)...)
	protected := ingressOf(name, name, "protected", Rule("protected.example", "/", "web", 80))
	protected.Annotations = map[string]string{"nginx.ingress.kubernetes.io/auth-type": "basic", "nginx.ingress.kubernetes.io/auth-secret": "mine"}
	slash := ingressOf(name, name, "slash", Rule("slash.example", "/shop/", "web", 80))
	c.Apply(t, classOf(name), c.TLSSecret(t, name, "mine", "mine.example"), protected, slash,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "settings"}, Data: map[string]string{"proxy-body-size": "8m", "no-such-setting": "x"}},
		formerController(name, "--ingress-class="+name, "--controller-class="+controllerOf(name), "--configmap=$(POD_NAMESPACE)/settings", "--enable-metrics=true"))
	kubeconfig, asked := overhear(t, c)
	var report struct {
		Ingresses []struct{ Name, Status string }
		Settings  []struct{ Name, Fate string }
		Flags     []struct{ Name, Fate string }
	}
	common := []string{"--kubeconfig", kubeconfig, "--namespace", name, "--output", "json", "--fail-on", "never"}
	plugin, err := pluginBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []*exec.Cmd{
		exec.Command(SluicePath(), append([]string{"migrate", "--from-cluster", "--ingress-class", name, "--controller-class", controllerOf(name), "--configmap", name + "/settings"}, common...)...),
		exec.Command(plugin, append([]string{"migrate", "--sluice", SluicePath()}, common...)...),
	} {
		var out, diagnostics bytes.Buffer
		command.Stdout, command.Stderr = &out, &diagnostics
		if err := command.Run(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, &diagnostics)
		}
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, &out)
		}
		text := out.String()
		for _, want := range []string{`"id": "prefix-slash"`, `"name": "no-such-setting"`, `"fate": "unknown"`, `"name": "--enable-metrics"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: nothing has %s\n%s", command, want, &diagnostics)
			}
		}
		if len(report.Ingresses) != 2 || report.Ingresses[0].Status != "different" || report.Ingresses[1].Status != "ready" {
			t.Errorf("%s: %+v", command, report.Ingresses)
		}
	}
	for _, r := range asked() {
		if strings.Contains(r.URL.Path, "/secrets") && !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
			t.Errorf("content was asked for: %s", r.URL)
		}
	}
}
