package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// What is needed is the same whether all Ingresses are looked at or only those that
// changed since the last time.
func TestNeedsOfWhatChanged(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	options := translate.Options{ControllerClass: "ours", AnnotationsPrefix: "nginx.ingress.kubernetes.io", ConfigMap: snapshot.Name{Namespace: "a", Name: "config"}, DefaultCertificate: snapshot.Name{Namespace: "a", Name: "default"}}
	classes := []*networkingv1.IngressClass{{ObjectMeta: metav1.ObjectMeta{Name: "ours"}, Spec: networkingv1.IngressClassSpec{Controller: "ours"}}}
	fresh := func() *networkingv1.Ingress {
		ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("n", random.IntN(4)), Name: fmt.Sprint("i", random.IntN(9))}}
		ing.Spec.IngressClassName = &[]string{"ours", "others"}[random.IntN(2)]
		if random.IntN(2) == 0 {
			ing.Spec.TLS = []networkingv1.IngressTLS{{SecretName: fmt.Sprint("s", random.IntN(5))}}
		}
		return ing
	}
	var spaces []*corev1.Namespace
	var layers []*corev1.ConfigMap
	var list []*networkingv1.Ingress
	var kept needs
	for step := range 1000 {
		list = slices.Clone(list)
		switch at := random.IntN(len(list) + 1); {
		case at == len(list) || random.IntN(3) == 0:
			list = append(list, fresh())
		case random.IntN(2) == 0:
			list[at] = list[len(list)-1]
			list = list[:len(list)-1]
		default:
			list[at] = fresh()
		}
		if random.IntN(50) == 0 {
			classes = slices.Clone(classes)
			class := *classes[0]
			class.Spec.Controller = []string{"ours", "theirs"}[random.IntN(2)]
			classes[0] = &class
		}
		var anew needs
		if random.IntN(20) == 0 {
			spaces = slices.Clone(spaces)
			space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", random.IntN(4))}}
			space.Annotations = map[string]string{"sluice.io/defaults": fmt.Sprint("custom-headers: c", random.IntN(5))}
			spaces = append(slices.DeleteFunc(spaces, func(o *corev1.Namespace) bool { return o.Name == space.Name }), space)
			slices.SortFunc(spaces, func(a, b *corev1.Namespace) int { return strings.Compare(a.Name, b.Name) })
		}
		if random.IntN(100) == 0 {
			layers = []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "config"}, Data: map[string]string{"fixed-annotations": fmt.Sprintf("auth-type: basic\nauth-secret: a/u%d", random.IntN(5))}}}[:random.IntN(2)]
		}
		of := referring{list, classes, spaces, layers}
		anew.update(of, options)
		kept.update(of, options)
		for _, n := range []*needs{&anew, &kept} {
			n.secrets.list()
			n.headers.list()
		}
		if diff := cmp.Diff(anew, kept, cmp.AllowUnexported(needs{}, need{}, tally{}, referring{}), cmpopts.IgnoreFields(needs{}, "known", "settingsOf"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("step %d (-anew +kept):\n%s", step, diff)
		}
	}
}
