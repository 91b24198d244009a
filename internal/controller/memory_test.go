package controller

import (
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/dynamic"
	"sluice/internal/model"
)

// TestOwnersAreToldWhatNginxHasNoRoomFor: the owners of endpoints and certificates that
// did not fit get Problems, even if the plan fits.
func TestOwnersAreToldWhatNginxHasNoRoomFor(t *testing.T) {
	t.Parallel()
	serving := func(name, host string, tls ...networkingv1.IngressTLS) *networkingv1.Ingress {
		return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Spec: networkingv1.IngressSpec{TLS: tls, Rules: []networkingv1.IngressRule{{Host: host}}}}
	}
	c := &Controller{roomless: dynamic.Roomless{Backends: []string{"shop/web/80"}, Hosts: []string{"a.example", "alias.example"}}}
	p := &plan{accepted: []*networkingv1.Ingress{serving("plain", "a.example"), serving("tls", "a.example", networkingv1.IngressTLS{SecretName: "s"})}}
	web := model.ServicePort{Namespace: "shop", Name: "web", Port: "80"}
	p.config.Dynamic.Backends = []*model.Backend{{Key: "shop/web/80", Target: model.Target{ServicePort: web}}}
	c.tellRoomless(p)
	var told []string
	for _, problem := range p.problems {
		told = append(told, string(problem.Reason)+" "+problem.Object.String()+" "+problem.Field)
	}
	if want := []string{"NoRoom Ingress shop/tls spec.tls", "NoRoom Service shop/web "}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
