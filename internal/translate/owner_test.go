package translate

import (
	"fmt"
	"testing"
	"time"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

func ownerAt(name, host string, match model.Match) *claim.Object {
	return &claim.Object{
		Ref: model.ObjectRef{Kind: "HTTPRoute", Namespace: "default", Name: name}, Created: time.Unix(1, 0),
		Claims: []claim.Asked{{Host: host, Path: "/a", PathType: "Prefix", Match: match, Field: "rules[0]"}},
	}
}

func serverIn(c model.Config, host string) *model.Server {
	for _, s := range c.Static.Servers {
		if s.Host == host {
			return s
		}
	}
	return nil
}

// A host keeps its server while its owners stay the same.
func TestOwnersAreRemembered(t *testing.T) {
	t.Parallel()
	snap, _ := snapshot.New(snapshot.Objects{})
	post := model.Match{Method: "POST"}
	one, two := ownerAt("one", "one.example", post), ownerAt("two", "two.example", post)
	memo := NewMemo()
	before, _ := ConfigWith(snap, Options{}, []*claim.Object{one, two}, memo)
	after, _ := ConfigWith(snap, Options{}, []*claim.Object{ownerAt("two", "two.example", model.Match{}), one}, memo)
	if serverIn(before, "one.example") == nil || serverIn(before, "one.example") != serverIn(after, "one.example") {
		t.Error("the host that did not change is another server")
	}
	if serverIn(before, "two.example") == serverIn(after, "two.example") {
		t.Error("the host of another owner is the same server")
	}
	gone, _ := ConfigWith(snap, Options{}, nil, memo)
	if serverIn(gone, "one.example") != nil {
		t.Error("a host without owners is served")
	}
}

// Of owners of the same age, the first by name wins. An owner with an impossible name
// is refused.
func TestOwnersAreOrdered(t *testing.T) {
	t.Parallel()
	snap, _ := snapshot.New(snapshot.Objects{})
	a, b, hostile := ownerAt("a", "h.example", model.Match{}), ownerAt("b", "h.example", model.Match{}), ownerAt("x/y", "h.example", model.Match{})
	b.Claims[0].Service = model.ServicePort{Namespace: "default", Name: "web", Port: "80"}
	for _, owners := range [][]*claim.Object{{a, b, hostile}, {hostile, b, a}} {
		config, problems := ConfigWith(snap, Options{}, owners, nil)
		for _, l := range serverIn(config, "h.example").Locations {
			if l.Rule.Kind == model.RuleWritten && l.Rule.Object != a.Ref {
				t.Errorf("%s of %s", l.Path, l.Rule.Object)
			}
		}
		var told []model.ObjectRef
		for _, p := range problems {
			told = append(told, p.Object)
		}
		if len(told) != 2 || told[0] != b.Ref || told[1] != hostile.Ref {
			t.Errorf("Problems: %v", problems)
		}
	}
}

// A namespace cannot make the paths of a host list thousands of rules. Claims beyond
// the limit are closed if they protect.
func TestConditionalClaimsAreBounded(t *testing.T) {
	t.Parallel()
	snap, _ := snapshot.New(snapshot.Objects{})
	many := ownerAt("many", "h.example", model.Match{})
	many.Annotations = map[string]string{"nginx.ingress.kubernetes.io/whitelist-source-range": "10.0.0.0/8"}
	for i := range 200 + 2 {
		c := many.Claims[0]
		c.Path, c.Field = fmt.Sprint("/", i), fmt.Sprint("rules[", i+1, "]")
		c.Match.Method = "POST"
		many.Claims = append(many.Claims, c)
	}
	other := ownerAt("other", "h.example", model.Match{Method: "PUT"})
	other.Ref.Namespace = "other"
	other.Claims[0].Path = "/other"
	config, problems := ConfigWith(snap, Options{AnnotationsPrefix: "nginx.ingress.kubernetes.io"}, []*claim.Object{many, other}, nil)
	if len(problems) != 2 || problems[0].Reason != model.NoRoom || !problems[0].Denies {
		t.Fatalf("Problems: %v", problems)
	}
	closed, dispatched := 0, 0
	for _, l := range serverIn(config, "h.example").Locations {
		switch {
		case len(l.Dispatch) > 0:
			dispatched++
		case l.Return != nil && l.Return.Code == 503:
			closed++
		}
	}
	if closed != 4 || dispatched != 2*200+2 {
		t.Errorf("%d locations are closed and %d dispatch", closed, dispatched)
	}
}
