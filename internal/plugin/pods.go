package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// podFlags select a pod of the controller: --pod, else --selector, else --deployment.
type podFlags struct {
	pod        string
	selector   string
	deployment string
	container  string
	// namespace is the namespace of the controller; empty for that of the call.
	namespace string
}

func (f *podFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.pod, "pod", "", "name of the controller's pod; overrides --selector")
	flags.StringVarP(&f.selector, "selector", "l", "", "labels of the controller's pods, such as app.kubernetes.io/name=sluice; overrides --deployment")
	flags.StringVar(&f.deployment, "deployment", "sluice-controller", "name of the controller's Deployment or DaemonSet")
	flags.StringVar(&f.container, "container", "controller", "name of the controller's container")
	flags.StringVar(&f.namespace, "controller-namespace", "", "namespace of the controller's pods, if it differs from --namespace")
}

// description describes the selected pods.
func (f *podFlags) description() string {
	switch {
	case f.pod != "":
		return fmt.Sprintf("pod %q", f.pod)
	case f.selector != "":
		return fmt.Sprintf("pod with the labels %q", f.selector)
	}
	return fmt.Sprintf("pod of a Deployment or DaemonSet %q", f.deployment)
}

// pick returns the pod to ask: the first ready one by name. If there was a choice, it
// prints the name.
func (f *podFlags) pick(ctx context.Context, s *session, c *cluster) (*corev1.Pod, error) {
	pods, err := f.find(ctx, c)
	if err != nil {
		return nil, err
	}
	one := &pods[0]
	ready := len(slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool { return !isReady(&p) }))
	switch {
	case len(pods) > 1:
		s.note("pod %s/%s (of %d, %d ready; --pod picks another)", one.Namespace, one.Name, len(pods), ready)
	case ready == 0 && f.pod == "":
		s.note("pod %s/%s (it is not ready)", one.Namespace, one.Name)
	case one.Namespace != f.within(c):
		s.note("pod %s/%s (there is none in the namespace %q)", one.Namespace, one.Name, f.within(c))
	}
	return one, nil
}

// within is the namespace to search first.
func (f *podFlags) within(c *cluster) string { return cmp.Or(f.namespace, c.namespace) }

// find returns the selected pods, at least one, ready ones first.
func (f *podFlags) find(ctx context.Context, c *cluster) ([]corev1.Pod, error) {
	namespace := f.within(c)
	if f.pod != "" {
		pod := corev1.Pod{}
		err := c.Get(ctx, kube.Pods, snapshot.Name{Namespace: namespace, Name: f.pod}, &pod)
		if apierrors.IsNotFound(err) {
			return nil, f.missing(ctx, c, namespace)
		}
		return []corev1.Pod{pod}, c.explained(err, "read the pod %s/%s", namespace, f.pod)
	}
	pods, err := f.list(ctx, c, namespace)
	if err != nil {
		return nil, c.explained(err, "list the pods of the namespace %q (--namespace says where the controller is)", namespace)
	}
	if len(pods) == 0 && f.namespace == "" {
		pods = f.elsewhere(ctx, c)
	}
	if len(pods) == 0 {
		return nil, f.missing(ctx, c, namespace)
	}
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return cmp.Or(-compareReady(&a, &b), strings.Compare(a.Name, b.Name)) })
	return pods, nil
}

// elsewhere returns the pods of the only other namespace with such pods; none if that
// is unknown or ambiguous.
func (f *podFlags) elsewhere(ctx context.Context, c *cluster) []corev1.Pod {
	pods, err := f.list(ctx, c, metav1.NamespaceAll)
	if err != nil {
		return nil
	}
	for _, p := range pods {
		if p.Namespace != pods[0].Namespace {
			return nil
		}
	}
	return pods
}

// list returns the selected pods of a namespace that have not ended.
func (f *podFlags) list(ctx context.Context, c *cluster, namespace string) ([]corev1.Pod, error) {
	list := corev1.PodList{}
	if err := c.List(ctx, kube.Pods, namespace, metav1.ListOptions{LabelSelector: f.selector}, &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		return ended || f.selector == "" && ownerOf(&p).name != f.deployment
	}), nil
}

// missing returns the error that there is no such pod, with a suggestion.
func (f *podFlags) missing(ctx context.Context, c *cluster, namespace string) error {
	text := fmt.Sprintf("no %s in the namespace %q", f.description(), namespace)
	list := corev1.PodList{}
	if err := c.List(ctx, kube.Pods, metav1.NamespaceAll, metav1.ListOptions{}, &list); err != nil {
		return fmt.Errorf("%s; --namespace and --deployment, --selector or --pod say where the controller is (the pods of all namespaces cannot be listed: %v)", text, err)
	}
	var found []string
	for _, p := range list.Items {
		if looksLikeController(&p) {
			found = append(found, "  "+ownerOf(&p).flags(p.Namespace))
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("%s, and no pod of the cluster looks like a controller: is Sluice installed, in this cluster? --context names another", text)
	}
	slices.Sort(found)
	return fmt.Errorf("%s; these look like a controller:\n%s", text, strings.Join(slices.Compact(found), "\n"))
}

// owner is the owner of a pod: a Deployment, a DaemonSet or the like, or the pod
// itself if it has none.
type owner struct{ kind, name string }

// ownerOf derives a Deployment from the name of its ReplicaSet, so that reading pods
// is enough.
func ownerOf(p *corev1.Pod) owner {
	ref := metav1.GetControllerOf(p)
	if ref == nil {
		return owner{"Pod", p.Name}
	}
	hash := p.Labels["pod-template-hash"]
	if deployment, is := strings.CutSuffix(ref.Name, "-"+hash); ref.Kind == "ReplicaSet" && hash != "" && is {
		return owner{"Deployment", deployment}
	}
	return owner{ref.Kind, ref.Name}
}

// flags returns the flags that select the pods.
func (o owner) flags(namespace string) string {
	flag := "--deployment"
	if o.kind == "Pod" {
		flag = "--pod"
	}
	return fmt.Sprintf("--namespace %s %s %s", namespace, flag, o.name)
}

// looksLikeController recognises pods of Sluice by their labels and their programs.
func looksLikeController(p *corev1.Pod) bool {
	if name := p.Labels["app.kubernetes.io/name"]; name == "sluice" {
		return true
	}
	for _, container := range p.Spec.Containers {
		image := container.Image[strings.LastIndex(container.Image, "/")+1:]
		if end := strings.IndexAny(image, ":@"); end >= 0 {
			image = image[:end]
		}
		if image == "sluice" || slices.Contains(slices.Concat(container.Command, container.Args), "sluice") {
			return true
		}
	}
	return false
}

func isReady(p *corev1.Pod) bool {
	if p.DeletionTimestamp != nil {
		return false
	}
	for _, condition := range p.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// compareReady returns 1 if only a is ready, -1 if only b is, and 0 otherwise.
func compareReady(a, b *corev1.Pod) int {
	value := map[bool]int{true: 1}
	return value[isReady(a)] - value[isReady(b)]
}
