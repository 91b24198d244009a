package plugin

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"sluice/internal/snapshot"
)

func to[T any](value T) *T { return &value }

func ownedBy(kind, name, hash string) *corev1.Pod {
	owner := metav1.NewControllerRef(&metav1.ObjectMeta{Name: name}, schema.GroupVersionKind{Kind: kind})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", OwnerReferences: []metav1.OwnerReference{*owner}}}
	if hash != "" {
		pod.Labels = map[string]string{"pod-template-hash": hash}
	}
	return pod
}

func TestOwner(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pod  *corev1.Pod
		want owner
	}{
		{ownedBy("ReplicaSet", "sluice-controller-5d8f", "5d8f"), owner{"Deployment", "sluice-controller"}},
		{ownedBy("ReplicaSet", "made-by-hand", ""), owner{"ReplicaSet", "made-by-hand"}},
		{ownedBy("ReplicaSet", "made-by-hand", "5d8f"), owner{"ReplicaSet", "made-by-hand"}},
		{ownedBy("DaemonSet", "sluice-controller", "5d8f"), owner{"DaemonSet", "sluice-controller"}},
		{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "alone"}}, owner{"Pod", "alone"}},
	} {
		if got := ownerOf(test.pod); got != test.want {
			t.Errorf("the pod of %v: %v, want %v", test.pod.OwnerReferences, got, test.want)
		}
	}
}

func TestLooksLikeController(t *testing.T) {
	t.Parallel()
	with := func(image string, arguments ...string) corev1.Pod {
		return corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: image, Args: arguments}}}}
	}
	labelled := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/name": "sluice"}}}
	for _, test := range []struct {
		pod  corev1.Pod
		want bool
	}{
		{labelled, true}, {with("registry.example:5000/x/sluice:1"), true}, {with("sluice@sha256:ab"), true}, {with("mine", "sluice", "run"), true},
		{with("sluiced"), false}, {with("nginx:sluice"), false}, {corev1.Pod{}, false},
	} {
		if got := looksLikeController(&test.pod); got != test.want {
			t.Errorf("%v: %t", test.pod.Spec.Containers, got)
		}
	}
}

// TestIngressRows: each way in which a rule may say where it goes to.
func TestIngressRows(t *testing.T) {
	t.Parallel()
	service := func(name, port string, number int32) networkingv1.IngressBackend {
		return networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Name: port, Number: number}}}
	}
	bucket := networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{Kind: "Bucket", Name: "images"}}
	web := service("web", "", 80)
	exact := networkingv1.PathTypeExact
	rules := networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "rules"}, Spec: networkingv1.IngressSpec{
		DefaultBackend: &web, TLS: []networkingv1.IngressTLS{{Hosts: []string{"Shop.example"}}},
		Rules: []networkingv1.IngressRule{
			{Host: "shop.example", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{
				{Path: "/a", PathType: &exact, Backend: service("api", "http", 0)}, {Path: "/images", Backend: bucket},
			}}}},
			{Host: "bare.example"},
			{IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: "/x", Backend: web}}}}},
		}}}
	rules.Annotations = map[string]string{snapshot.LegacyClass: "old"}
	rules.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}, {Hostname: "lb.example"}}
	catches := networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "catches"}, Spec: networkingv1.IngressSpec{DefaultBackend: &web, IngressClassName: to("new")}}
	counts := map[snapshot.Name]int{{Namespace: "shop", Name: "web"}: 2, {Namespace: "shop", Name: "api"}: 0}
	var out bytes.Buffer
	if err := printIngresses(output{Writer: &out, format: asWide}, ingressRows([]networkingv1.Ingress{catches, rules}, counts), true); err != nil {
		t.Fatal(err)
	}
	const want = `NAMESPACE   INGRESS NAME   HOST+PATH             ADDRESSES              TLS   SERVICE         SERVICE PORT   ENDPOINTS   CLASS   PATH TYPE
shop        catches        *                                            NO    web             80             2           new
shop        rules          shop.example/a        192.0.2.1,lb.example   YES   api             http           0           old     Exact
shop        rules          shop.example/images   192.0.2.1,lb.example   YES   Bucket/images                  N/A         old
shop        rules          bare.example          192.0.2.1,lb.example   NO    web             80             2           old
shop        rules          */x                   192.0.2.1,lb.example   NO    web             80             2           old
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestCountEndpoints: ready ones, each once, in however many slices.
func TestCountEndpoints(t *testing.T) {
	t.Parallel()
	slice := func(service string, endpoints ...discoveryv1.Endpoint) discoveryv1.EndpointSlice {
		return discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Labels: map[string]string{discoveryv1.LabelServiceName: service}}, Endpoints: endpoints}
	}
	at := func(address string, ready *bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: ready}}
	}
	counts := countEndpoints([]discoveryv1.EndpointSlice{
		slice("web", at("10.0.0.1", nil), at("10.0.0.2", to(true)), at("10.0.0.3", to(false))), slice("web", at("10.0.0.1", to(true))), slice("empty"),
	})
	web, empty := counts[snapshot.Name{Namespace: "shop", Name: "web"}], counts[snapshot.Name{Namespace: "shop", Name: "empty"}]
	if _, known := counts[snapshot.Name{Namespace: "shop", Name: "empty"}]; web != 2 || empty != 0 || !known || len(counts) != 2 {
		t.Errorf("the counts are %v", counts)
	}
}

// TestStateDir: where the controller's arguments name a state directory, it is
// asked for there.
func TestStateDir(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		arguments string
		want      string
	}{
		{"run", ""}, {"run --state-dir=/a --x", "/a"}, {"run --state-dir /b", "/b"}, {"run --state-dir", ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "other", Args: []string{"--state-dir=/other"}}, {Name: "controller", Args: strings.Fields(test.arguments)},
		}}}
		if got := (&controller{pod: pod, container: "controller"}).stateDir(); got != test.want {
			t.Errorf("%s: %q, want %q", test.arguments, got, test.want)
		}
	}
}
