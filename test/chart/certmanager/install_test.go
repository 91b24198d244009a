//go:build image

package certmanager

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/test/chart/rendering"
	"sluice/test/cluster"
)

// values let cert-manager make the certificate of the webhook, without which no Ingress is stored.
const values = `
controller:
  image: {repository: registry.example/sluice, tag: test}
  replicaCount: 2
  podAnnotations: {` + cluster.UnheardAnnotation + `: "true"}
  admissionWebhooks:
    failurePolicy: Fail
    certManager: {enabled: true}
`

// The release, and the name of its webhook's Secret, Service and Certificate.
const (
	release  = "sluice"
	hookName = release + "-admission"
)

// replica is a sluice that runs as a pod of the chart.
type replica struct {
	*cluster.Sluice
	address string // of its pod
}

// install installs the chart, and runs its two pods. The first one has ports 80 and 443.
func (w *world) install(t *testing.T) {
	t.Helper()
	r, err := rendering.Default().Render(values)
	if err != nil {
		t.Fatal(err)
	}
	w.Apply(t, cluster.Namespace(release))
	w.ApplyYAML(t, r.Manifests)
	w.certificateReady(t, release, hookName)
	for i, pod := range w.awaitPods(t, 2) {
		var flags []string
		if i == 0 {
			flags = []string{"--http-port", "80", "--https-port", "443"}
		}
		w.replicas = append(w.replicas, w.run(t, pod, flags))
	}
}

// awaitPods waits for the pods of the Deployment.
func (w *world) awaitPods(t *testing.T, count int) (pods []corev1.Pod) {
	t.Helper()
	w.AwaitDeployment(t, release, release+"-controller")
	list, err := w.Admin().CoreV1().Pods(release).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=controller"})
	if err != nil || len(list.Items) != count {
		t.Fatalf("%d pods, %v", len(list.Items), err)
	}
	return list.Items
}

// run runs sluice with the arguments, the account and the files of a pod.
func (w *world) run(t *testing.T, pod corev1.Pod, more []string) *replica {
	t.Helper()
	s := cluster.PrepareSluice(t, w.TokenKubeconfig(t, pod.Namespace, pod.Spec.ServiceAccountName), "--shutdown-grace-period", "0")
	s.Environment = []string{"POD_NAME=" + pod.Name, "POD_NAMESPACE=" + pod.Namespace}
	container := pod.Spec.Containers[0]
	replacer := strings.NewReplacer("$(POD_NAME)", pod.Name, "$(POD_NAMESPACE)", pod.Namespace, certificateFolder(t, container), w.mount(t, pod))
	var arguments []string
	for _, argument := range container.Args {
		if strings.HasPrefix(argument, "-") {
			arguments = append(arguments, replacer.Replace(argument))
		}
	}
	// Of a flag that is given twice, the last counts.
	s.Arguments = slices.Concat(s.Arguments[:1], arguments, s.Arguments[1:], []string{"--validating-webhook=" + pod.Status.PodIP + ":8443"}, more)
	if len(more) > 0 {
		s.HTTP, s.HTTPS = 80, 443
	}
	s.Launch(t)
	s.AwaitReady(t)
	return &replica{Sluice: s, address: pod.Status.PodIP}
}

// certificateFolder is where the container has the files of the webhook's Secret.
func certificateFolder(t *testing.T, container corev1.Container) string {
	t.Helper()
	for _, mount := range container.VolumeMounts {
		if mount.Name == "webhook-cert" {
			return mount.MountPath
		}
	}
	t.Fatal("the container has no files of the webhook's Secret")
	return ""
}

// secret reads a Secret.
func (w *world) secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	found, err := w.Admin().CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("Secret %s/%s: %w", namespace, name, err)
	}
	return found, nil
}
