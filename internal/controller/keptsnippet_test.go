package controller

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// TestServerSnippetThatRanStays: nginx ran the server snippet of an Ingress, whose new form is
// closed. The same snippet stays, as it may close paths of others on the host. A snippet that
// nginx never ran is left out, and other paths of the namespace are closed while it waits. A
// refused one is left out.
func TestServerSnippetThatRanStays(t *testing.T) {
	t.Parallel()
	const list, same, other = "whitelist-source-range", "location /same { return 403; }", "location /other { return 403; }"
	web := objectOf("shop", "web")
	hold := func(t *testing.T, c *Controller, sync func()) {
		t.Helper()
		c.quarantined(t, snapshot.Name{Namespace: "shop", Name: "bad"}, "refused")
		sync()
	}
	setAside := func(t *testing.T, c *Controller, sync func()) {
		t.Helper()
		sync()
		if !c.setAside(outcome{plan: c.latest, err: errors.New("nobody is named")}) {
			t.Fatal("nobody is set aside")
		}
		sync()
	}
	refuse := func(t *testing.T, c *Controller, sync func()) {
		t.Helper()
		sync()
		c.quarantined(t, nameOf(web), "refused")
		sync()
	}
	for name, test := range map[string]struct {
		edited []string
		close  func(*testing.T, *Controller, func())
		want   string
		closes bool // the other path
	}{
		"held":                {[]string{list, "10.0.0.0/8", "server-snippet", same}, hold, same, false},
		"held, another":       {[]string{list, "10.0.0.0/8", "server-snippet", other}, hold, "", true},
		"set aside":           {[]string{list, "10.0.0.0/8", "server-snippet", same}, setAside, same, false},
		"set aside, another":  {[]string{list, "10.0.0.0/8", "server-snippet", other}, setAside, "", true},
		"refused with a list": {[]string{list, "10.0.0.0/8", "server-snippet", same}, refuse, same, false},
		"refused as it ran":   {[]string{"server-snippet", same}, refuse, "", false},
		"refused with what stays": {[]string{list, "10.0.0.0/8", "server-snippet", same}, func(t *testing.T, c *Controller, sync func()) {
			t.Helper()
			refuse(t, c, sync)
			c.quarantineAgain(t, web)
			sync()
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := &objects{}
			source.say(allowing())
			source.Ingresses = []*networkingv1.Ingress{
				plain("shop", "web", "h.test", "server-snippet", same), plain("shop", "other", "h.test"), form("bad", "bad.test"),
			}
			c := idle(t, source)
			c.Translate.ConfigMap = config
			c.trials.free = 0 // nobody tests
			c.sync(t.Context())
			c.applied(t.Context(), outcome{plan: c.submitted()})
			test.close(t, c, func() {
				source.Ingresses = append([]*networkingv1.Ingress{plain("shop", "web", "h.test", test.edited...)}, source.Ingresses[1:]...)
				c.sync(t.Context())
			})
			if c.latest.options.Denied[web] == 0 {
				t.Fatal("it is not closed")
			}
			var file bytes.Buffer
			if _, err := c.latest.file.WriteTo(&file); err != nil {
				t.Fatal(err)
			}
			if got := !strings.Contains(file.String(), "set $route shop/other"); got != test.closes {
				t.Errorf("the other path is closed: %v", got)
			}
			for _, text := range []string{same, other} {
				if got := strings.Contains(file.String(), text); got != (text == test.want) {
					t.Errorf("the file has %q: %v", text, got)
				}
			}
		})
	}
}

// quarantineAgain makes nginx refuse what is served of an Ingress in quarantine.
func (c *Controller) quarantineAgain(t *testing.T, o model.ObjectRef) {
	t.Helper()
	if f, ok := c.latest.finding(culprit{object: o, text: "refused"}, c.good); !ok || !c.quarantine.Refuse(c.latest.turn, f) {
		t.Fatalf("nothing else is served of %v", o)
	}
}

// TestUntestedSnippetClosesNothingInATest: a test of another Ingress of the host is about its
// open paths, though a plan closes them while a snippet waits.
func TestUntestedSnippetClosesNothingInATest(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.say(allowing())
	other := plain("shop", "other", "h.test")
	source.Ingresses = []*networkingv1.Ingress{plain("shop", "web", "h.test", "server-snippet", "location /same { return 403; }"), other}
	c := idle(t, source)
	c.Translate.ConfigMap = config
	c.trials.free = 0 // nobody tests
	c.sync(t.Context())
	if !c.setAside(outcome{plan: c.latest, err: errors.New("nobody is named")}) {
		t.Fatal("nobody is set aside")
	}
	c.sync(t.Context())
	all := func(model.ObjectRef) bool { return true }
	for open, file := range map[bool]io.WriterTo{false: c.latest.file, true: c.latest.fileOf([]*networkingv1.Ingress{other}, true, all)} {
		var text bytes.Buffer
		if _, err := file.WriteTo(&text); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "set $route shop/other"); got != open {
			t.Errorf("in the test: %v, its path is served: %v", open, got)
		}
	}
}
