package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/settings"
)

const prefix = "nginx.ingress.kubernetes.io"

func readWith(t *testing.T, config, annotations map[string]string) *Policies {
	t.Helper()
	s, _ := settings.Read(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ingress", Name: "controller"}, Data: config})
	full := map[string]string{"kubernetes.io/ingress.class": "nginx"}
	for key, value := range annotations {
		full[prefix+"/"+key] = value
	}
	ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: full}}
	return Read(ing, s, prefix)
}

func texts(p *Policies) []string {
	var lines []string
	for _, problem := range p.Problems() {
		lines = append(lines, problem.String())
	}
	return lines
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	p := readWith(t, nil, nil)
	if len(p.Blocks()) > 0 || len(p.Problems()) > 0 || p.Denied() || len(p.Protects()) > 0 {
		t.Errorf("an Ingress without annotations: %+v", p)
	}
	want := SSLRedirect{WithCertificate: true}
	if diff := cmp.Diff(want, Of[SSLRedirect](p)); diff != "" {
		t.Error(diff)
	}
}
