package cluster

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/translate"
)

// BenchmarkNeeds is what it takes to find out what is to be read where 10,000 Ingresses
// have a certificate each and one more came, with Secrets that are read by name.
func BenchmarkNeeds(b *testing.B) {
	const n = 10_000
	fresh := func(i int) *networkingv1.Ingress {
		return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("team-", i%97), Name: fmt.Sprint("shop-", i)},
			Spec: networkingv1.IngressSpec{TLS: []networkingv1.IngressTLS{{SecretName: fmt.Sprint("shop-", i)}}}}
	}
	options := translate.Options{WithoutClass: true, AnnotationsPrefix: "nginx.ingress.kubernetes.io"}
	source := New(Options{Secrets: ReferencedSecrets, Translate: options})
	secrets := source.secrets.(*polledObjects[corev1.Secret, *corev1.Secret])
	list := make([]*networkingv1.Ingress, 0, n)
	for i := range n {
		list = append(list, fresh(i))
	}
	look := func() {
		source.needs.update(referring{ingresses: list}, options)
		for _, name := range secrets.keep(source.needs.secrets.list()) {
			secrets.hold(name, nil, context.Canceled)
		}
		if !secrets.hasSynced() || len(secrets.all()) > 0 {
			b.Fatal("not all Secrets are held as missing")
		}
	}
	look()
	b.ReportAllocs()
	for b.Loop() {
		list = append(slices.Clip(list), fresh(len(list)))
		look()
	}
}
