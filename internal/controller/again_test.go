package controller

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/dynamic"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/ocsp"
	"sluice/internal/prober"
	"sluice/internal/render"
	"sluice/internal/resolver"
	"sluice/internal/selfsigned"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// objects is a Source whose objects a test sets.
type objects struct{ snapshot.Objects }

func (o *objects) Load(context.Context) (snapshot.Loaded, error) {
	return snapshot.Loaded{Objects: o.Objects}, nil
}

// put replaces an Ingress in a copy of the list, as sources do.
func (o *objects) put(at int, ing *networkingv1.Ingress) {
	o.Ingresses = slices.Clone(o.Ingresses)
	o.Ingresses[at] = ing
}

func (o *objects) Watch(context.Context) (<-chan struct{}, error) { return nil, nil }

// These are read and made once, because they take longer than most tests.
var (
	loadedTemplates = sync.OnceValues(func() (*render.Templates, error) { return render.Load(templates.Files) })
	ownCertificate  = sync.OnceValues(func() (*model.Certificate, error) { return selfsigned.Certificate(time.Now()) })
)

// fixed are templates that nobody replaces.
type fixed struct{ templates *render.Templates }

func (f fixed) Current() *render.Templates { return f.templates }
func (fixed) Changes() <-chan struct{}     { return nil }

// idle returns a controller whose plans nobody applies.
func idle(t *testing.T, source Source) *Controller {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	loaded, err := loadedTemplates()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := ownCertificate()
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Options{
		Source: source, Templates: fixed{loaded}, StateDir: t.TempDir(), Log: log,
		Process:     nginx.New(nginx.Install{}, nginx.Options{}, nil),
		Environment: render.Environment{HTTPPort: 80, HTTPSPort: 443, StateDir: "/state", Lua: "/lua"},
		Translate:   translate.Options{WithoutClass: true, AnnotationsPrefix: "nginx.ingress.kubernetes.io", FallbackCertificate: certificate},
		Runtime:     dynamic.New(t.TempDir() + "/none.sock"), Resolver: resolver.New(resolver.Options{Logger: log}), Prober: prober.New(log), Stapler: ocsp.New(ocsp.Options{Logger: log}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// submitted takes the submitted plan, nil if there is none.
func (c *Controller) submitted() *plan {
	select {
	case p := <-c.applier.submitted:
		return p
	default:
		return nil
	}
}

// TestFailedPlanWaitsForTheTimer: a file fails for a reason that no object causes.
// Changes outside the file, such as endpoints, do not make nginx reload it again; the
// timer does, and so does another file.
func TestFailedPlanWaitsForTheTimer(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "a.example")}
	c := idle(t, source)
	c.sync(t.Context())
	failed := c.submitted()
	if failed == nil {
		t.Fatal("nothing was to be done at first")
	}
	c.applied(t.Context(), outcome{plan: failed, err: errors.New("too many open files")})
	for range 30 {
		source.Services = []*corev1.Service{{}}
		source.Services[0].Namespace, source.Services[0].Name = "shop", "other"
		c.sync(t.Context())
		if c.submitted() != nil {
			t.Fatal("the file that failed was applied again without the timer")
		}
	}
	c.retry = nil
	c.sync(t.Context())
	if c.submitted() == nil {
		t.Error("the timer did not try again")
	}
	c.applied(t.Context(), outcome{plan: c.target, err: errors.New("too many open files")})
	source.Ingresses = append(source.Ingresses, form("more", "b.example"))
	c.sync(t.Context())
	if c.submitted() == nil {
		t.Error("another file was not applied")
	}
}
