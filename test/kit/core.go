package kit

import (
	"sync"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/selfsigned"
	"sluice/internal/translate"
	"sluice/templates"
)

// Templates are those of Sluice, parsed once for all tests.
func Templates(t testing.TB) *render.Templates {
	t.Helper()
	set, err := loadTemplates()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var loadTemplates = sync.OnceValues(func() (*render.Templates, error) { return render.Load(templates.Files) })

// Options are those of a controller that was started with no more flags than it
// takes to read manifests.
func Options(t testing.TB) translate.Options {
	t.Helper()
	fallback, err := fallbackCertificate()
	if err != nil {
		t.Fatal(err)
	}
	return translate.Options{
		FallbackCertificate: fallback,
		IngressClasses:      []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true,
		AnnotationsPrefix: "nginx.ingress.kubernetes.io", HTTPSPort: 443,
		Reserved: []translate.ReservedPort{{Number: 80, Use: "--http-port"}, {Number: 443, Use: "--https-port"}, {Number: 10254, Use: "--healthz-port"}},
	}
}

// fallbackCertificate is what is presented where no Secret gives a certificate.
var fallbackCertificate = sync.OnceValues(func() (*model.Certificate, error) { return selfsigned.Certificate(time.Now()) })

// WithEndpoints gives what is pushed to nginx with an endpoint of the test's own
// for each backend that has any.
func WithEndpoints(d model.Dynamic, endpoint func(key string) model.Endpoint) model.Dynamic {
	backends := make([]*model.Backend, 0, len(d.Backends))
	for _, b := range d.Backends {
		replaced := *b
		if len(b.Endpoints) > 0 || b.ExternalName != "" {
			replaced.Endpoints = []model.Endpoint{endpoint(b.Key)}
			replaced.ExternalName = ""
		}
		backends = append(backends, &replaced)
	}
	d.Backends = backends
	return d
}
