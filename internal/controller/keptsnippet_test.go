package controller

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// TestServerSnippetThatRanStays: nginx ran the server snippet of an Ingress, whose new form is
// closed. The same snippet stays, as it may close paths of others on the host. A snippet that
// nginx never ran, or that it refuses, is left out.
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
	}{
		"held":                {[]string{list, "10.0.0.0/8", "server-snippet", same}, hold, same},
		"held, another":       {[]string{list, "10.0.0.0/8", "server-snippet", other}, hold, ""},
		"set aside":           {[]string{list, "10.0.0.0/8", "server-snippet", same}, setAside, same},
		"set aside, another":  {[]string{list, "10.0.0.0/8", "server-snippet", other}, setAside, ""},
		"refused with a list": {[]string{list, "10.0.0.0/8", "server-snippet", same}, refuse, same},
		"refused as it ran":   {[]string{"server-snippet", same}, refuse, ""},
		"refused with what stays": {[]string{list, "10.0.0.0/8", "server-snippet", same}, func(t *testing.T, c *Controller, sync func()) {
			t.Helper()
			refuse(t, c, sync)
			c.quarantineAgain(t, web)
			sync()
		}, ""},
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
