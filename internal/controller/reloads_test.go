package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/debugapi"
)

// TestReloadsAreRemembered with their causes and what changed since the configuration before,
// also where other syncs were logged between.
func TestReloadsAreRemembered(t *testing.T) {
	t.Parallel()
	c, source := guarded(t, settingsOf(""), nil)
	web := form("web", "web.example")
	source.Ingresses = []*networkingv1.Ingress{web}
	c.sync(t.Context())
	c.applied(t.Context(), outcome{plan: c.submitted()})
	source.Ingresses = []*networkingv1.Ingress{web, form("new", "new.example")}
	c.sync(t.Context())
	slow := c.submitted()
	c.logSync(c.latest, nil) // a later sync of endpoints has told of the host
	c.applied(t.Context(), outcome{plan: slow})
	c.applied(t.Context(), outcome{plan: slow, same: true})
	source.Ingresses = source.Ingresses[1:]
	c.sync(t.Context())
	c.applied(t.Context(), outcome{plan: c.target, err: errors.New("disk full")})
	c.applied(t.Context(), outcome{plan: c.target, err: errors.New("disk full")})
	c.applied(t.Context(), outcome{plan: c.target})
	c.applied(t.Context(), outcome{plan: c.target}) // nginx was started again
	source.say(settingsOf("HIGH"))
	c.sync(t.Context())
	c.applied(t.Context(), outcome{plan: c.submitted()})
	var got strings.Builder
	for _, r := range c.State().Reloads {
		fmt.Fprintf(&got, "%s %v %t %s %d\n", r.Cause, r.Changed, r.LinesAdded > r.LinesRemoved, r.Error, r.Repeated)
	}
	const want = `settings [{hosts 2 [(all others) new.example]} {everywhere 1 [settings]}] false  0
restart [] false  0
hosts [{ingressesGone 1 [shop/web]} {hostsGone 1 [web.example]}] false  0
hosts [{ingressesGone 1 [shop/web]} {hostsGone 1 [web.example]}] false disk full 1
hosts [{ingresses 1 [shop/new]} {hosts 1 [new.example]}] true  0
start [{hosts 2 [(all others) web.example]} {certificates 1 [(all others)]} {everywhere 1 [settings]}] true  0
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestOnlyTheLastReloadsAreKept: a list that was published does not change.
func TestOnlyTheLastReloadsAreKept(t *testing.T) {
	t.Parallel()
	var list []debugapi.Reload
	for i := range debugapi.MostReloads + 5 {
		before := list
		list = withAttempt(list, debugapi.Reload{Bytes: i})
		if len(before) > 0 && before[0].Bytes != i-1 || list[0].Bytes != i {
			t.Fatalf("the list of reload %d begins with %d", i, list[0].Bytes)
		}
	}
	if len(list) != debugapi.MostReloads {
		t.Errorf("%d are kept", len(list))
	}
}
