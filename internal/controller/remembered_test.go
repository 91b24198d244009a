package controller

import (
	"fmt"
	"os"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/quarantine"
	"sluice/internal/snapshot"
)

// TestRestartRemembersRefusals: with the same nginx, templates and settings, a refused
// form is not tested again. Another form is tested, and so is the same form with other
// settings.
func TestRestartRemembersRefusals(t *testing.T) {
	t.Parallel()
	source := &objects{snapshot.Objects{Ingresses: []*networkingv1.Ingress{form("web", "bad.example"), form("other", "other.example")}}}
	c := idle(t, source)
	c.sync(t.Context())
	c.quarantined(t, web, "refused")
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
		if refused := next.quarantine.Of(quarantine.Of(refOf(web))) != nil; refused != (name == "nothing") {
			t.Errorf("%s changed: is it refused without a test? %v", name, refused)
		}
	}
}

// TestFilesOfAnEarlierVersionAreRead: their objects and deletions had names without a
// kind.
func TestFilesOfAnEarlierVersionAreRead(t *testing.T) {
	t.Parallel()
	source := &objects{snapshot.Objects{Ingresses: []*networkingv1.Ingress{form("web", "bad.example")}}}
	c := idle(t, source)
	c.sync(t.Context())
	next := idle(t, source)
	next.remembered.written = fmt.Appendf(nil, `{"basis":%q,"refused":[{"name":{"Namespace":"shop","Name":"web"},"hash":%q,"text":"refused"}]}`,
		c.fingerprint(c.latest), hashOf(source.Ingresses[0]))
	if next.sync(t.Context()); next.quarantine.Of(quarantine.Of(refOf(web))) == nil {
		t.Error("what nginx refused is forgotten")
	}
	path := t.TempDir() + "/last-good.jsonl"
	lines := `{"ingress":{"metadata":{"namespace":"shop","name":"web"},"spec":{}}}
{"ingress":{"metadata":{"namespace":"shop","name":"gone"},"spec":{}}}
{"deleted":{"Namespace":"shop","Name":"gone"}}
`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if l := reopen(t, path); len(l.ingresses) != 1 || l.form(refOf(web)) == nil {
		t.Errorf("kept are %v", l.ingresses)
	}
}
