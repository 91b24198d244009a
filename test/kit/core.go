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

// Templates returns the templates of Sluice, parsed once for all tests.
func Templates(t testing.TB) *render.Templates {
	t.Helper()
	set, err := loadTemplates()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

var loadTemplates = sync.OnceValues(func() (*render.Templates, error) { return render.Load(templates.Files) })

// Options returns the options of a controller that reads manifests with default
// flags.
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

// fallbackCertificate is the default certificate.
var fallbackCertificate = sync.OnceValues(func() (*model.Certificate, error) { return selfsigned.Certificate(time.Now()) })

// WithEndpoints returns d with an endpoint of the test for each backend that has any.
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
