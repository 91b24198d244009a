package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// The reasons of surprises, besides those of model.
const (
	Turned     model.Reason = "Turned"     // a path is a pattern because an Ingress on its host asked for patterns
	Rewritten  model.Reason = "Rewritten"  // the fallback of a host is rewritten, too
	SharedHost model.Reason = "SharedHost" // Ingresses of several namespaces have rules for a host
	Repeated   model.Reason = "Repeated"   // a rule is there twice in an Ingress
	Star       model.Reason = "Star"       // a path ends in /*, which is no wildcard
	Inherited  model.Reason = "Inherited"  // a server snippet holds for other Ingresses of the namespace
	Lifted     model.Reason = "Lifted"     // a server snippet lifts protections of other Ingresses of the namespace
	Groupless  model.Reason = "Groupless"  // a rewrite names a group that the path lacks
)

// Surprises reports effects of valid claims that their authors may not expect. A sync
// never calls it.
func (m *Memo) Surprises(in Input) [][]model.Problem {
	t := m.begin(in)
	turns := map[*claim.Owner]*turn{}
	hosts := t.gather()
	t.Problems = nil // Assemble reports these
	for _, h := range hosts {
		b := t.locate(h, serverInput{})
		b.out.problems = nil
		b.turned(turns)
		b.rewritten()
		b.shared()
		b.repeated()
		b.starred()
		b.groupless()
		b.inheritance()
		t.report(b.out.problems...)
	}
	for owner, turn := range turns {
		t.report(turn.surprise(owner)...)
	}
	return t.Problems
}

// rewritten reports a host whose fallback has the rewrite of the first owner.
func (b *builder) rewritten() {
	for _, l := range b.locations {
		if l.Rule.Kind != model.RuleFallback || l.Rewrite == nil {
			continue
		}
		owner := b.first().Owner
		b.tell(model.Problem{Object: owner.Ref, Field: owner.PrefixKey + "rewrite-target", Reason: Rewritten,
			Text: fmt.Sprintf("what no path of %s takes is rewritten to %s, too, before it goes to Service %s: a Prefix path / of an Ingress without this annotation would keep it as it is",
				hostWords(b.host.name), claim.Shown(l.Rewrite.Target), l.Proxy.Service.Namespace+"/"+l.Proxy.Service.Name)})
	}
}

// shared tells the first owner of each further namespace that the host has several.
func (b *builder) shared() {
	var namespaces []string
	for _, rules := range b.host.rules {
		owner := rules.Owner
		if slices.Contains(namespaces, owner.Ref.Namespace) {
			continue
		}
		if len(namespaces) > 0 {
			b.tell(model.Problem{Object: owner.Ref, Field: owner.HostField(b.host.name), Reason: SharedHost,
				Text: fmt.Sprintf("%s of another namespace has rules for %s, too: agree on who has which paths", b.host.rules[0].Owner.Ref, hostWords(b.host.name))})
		}
		namespaces = append(namespaces, owner.Ref.Namespace)
	}
}

// repeated reports paths that an owner has twice with the same action.
func (b *builder) repeated() {
	type written struct {
		pathType claim.PathType
		path     string
	}
	for _, rules := range b.host.rules {
		first := map[written]*claim.Claim{}
		for i := range rules.Claims {
			c := &rules.Claims[i]
			w := written{c.PathType, c.Path}
			switch earlier := first[w]; {
			case earlier == nil:
				first[w] = c
			case earlier.Action.Same(c.Action):
				b.problem(c, "", Repeated, fmt.Sprintf("it says what %s says: remove one of the two", earlier.Field))
			}
		}
	}
}

// hostWords names a host in a message.
func hostWords(name string) string {
	if name == "" {
		return "the catch-all host"
	}
	return fmt.Sprintf("host %q", name)
}
