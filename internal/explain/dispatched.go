package explain

import (
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// answering returns the locations of a server that answer requests: all but those that
// dispatch, and the internal ones that these dispatch to.
func answering(s *model.Server) []*model.Location {
	var all []*model.Location
	for _, l := range s.Locations {
		if len(l.Dispatch) == 0 {
			all = append(all, l)
		}
	}
	for _, l := range s.Internal {
		if l.Modifier == model.Named && l.Location != s.Miss() {
			all = append(all, l.Location)
		}
	}
	return all
}

// ofOthers returns the rules of other objects than Ingresses on the deciding server.
func (x *explainer) ofOthers() []*candidate {
	var all []*candidate
	seen := map[model.Rule]bool{}
	if x.deciding == nil {
		return nil
	}
	matches := map[string]model.Match{}
	for _, l := range x.deciding.Locations {
		for _, asked := range l.Dispatch {
			matches[asked.To] = asked.Match
		}
	}
	for _, l := range answering(x.deciding) {
		written := l.Rule.Kind == model.RuleWritten || l.Rule.Kind == model.RuleClosed
		if !written || seen[l.Rule] || snapshot.IsIngress(l.Rule.Object) {
			continue
		}
		seen[l.Rule] = true
		c := placed(FromRule, x.deciding, l)
		if l.Modifier == model.Named {
			c.Match = matches[l.Path].String()
		}
		all = append(all, c)
	}
	return all
}
