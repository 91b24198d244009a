package controller

import (
	"os"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// TestRestartRemembersWhatNginxRefused: with the same nginx, templates and settings
// a form that was refused is not tested again; with another form, or other
// settings, it is.
func TestRestartRemembersWhatNginxRefused(t *testing.T) {
	t.Parallel()
	source := &objects{snapshot.Objects{Ingresses: []*networkingv1.Ingress{form("web", "bad.example"), form("other", "other.example")}}}
	c := idle(t, source)
	c.sync(t.Context())
	c.quarantine.add(c.latest, culprit{object: refOf(web), text: "refused"}, nil)
	c.sync(t.Context())
	if err := c.remember(c.latest); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(c.remembered.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Controller, *objects){
		"nothing":     func(*Controller, *objects) {},
		"the form":    func(_ *Controller, o *objects) { o.Ingresses[0] = form("web", "mended.example") },
		"environment": func(c *Controller, _ *objects) { c.Environment.HTTPPort++ },
	} {
		again := &objects{snapshot.Objects{Ingresses: []*networkingv1.Ingress{form("web", "bad.example"), form("other", "other.example")}}}
		next := idle(t, again)
		next.remembered.written = content
		change(next, again)
		next.sync(t.Context())
		if refused := next.quarantine.entries[web] != nil; refused != (name == "nothing") {
			t.Errorf("%s changed: is it refused without a test? %v", name, refused)
		}
	}
}
