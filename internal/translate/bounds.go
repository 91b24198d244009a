package translate

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// bounds counts what the served Ingresses of a namespace have.
type bounds struct {
	hosts map[string]bool
	paths int
}

// size is what one Ingress has.
type size struct {
	hosts []string
	paths int
}

// overBound is an Ingress beyond a bound, with the owner of nothing that is there in its place.
type overBound struct {
	pass    uint64
	problem model.Problem
	owner   *owner
}

// withinBounds returns an Ingress as it is read. Beyond what its namespace may have, it returns
// what is there instead: nothing, or all of its paths closed if it protects any, because a
// neighbour might serve them. What is closed does not count. Of one that is too large by itself
// and protects nothing, the rules are not read.
func (t *translation) withinBounds(object *networkingv1.Ingress) *owner {
	most := t.settings.Bounds
	if most == (settings.Bounds{}) {
		return t.ingress(object)
	}
	if p, exceeds := (&bounds{}).excess(most, object, sizeOfRules(object)); exceeds && !t.guards(object) {
		return t.leftOut(object, p)
	}
	ing := t.ingress(object)
	served := t.bounds[object.Namespace]
	if served == nil {
		served = &bounds{hosts: map[string]bool{}}
		t.bounds[object.Namespace] = served
	}
	has := ing.size()
	p, exceeds := served.excess(most, object, has)
	switch {
	case !exceeds:
		served.add(has)
		return ing
	case !ing.Guards() && !t.guards(object):
		return t.leftOut(object, p)
	}
	return t.closedBy(ing, closing(p))
}

// guards reports whether an Ingress protects any path, as far as its own object says. It reads no
// other object, and not its rules.
func (t *translation) guards(object *networkingv1.Ingress) bool {
	return t.deniedAnyway(object) != 0 || t.begun(object, t.settingsOf(object)).Annotations.GuardsAny()
}

// leftOut returns an owner of nothing for an Ingress, and remembers it.
func (t *translation) leftOut(object *networkingv1.Ingress, p model.Problem) *owner {
	p.Text += ": the Ingress is not served"
	known := t.memo.overBound[object]
	if known == nil || known.problem != p || known.owner.Settings != t.settingsOf(object) {
		known = &overBound{problem: p, owner: t.ofNothing(object)}
		known.owner.Problems = append(known.owner.Problems, p)
		t.memo.overBound[object] = known
	}
	t.memo.use(&known.pass, &t.memo.used.overBound)
	return known.owner
}

// closing is the Problem of an Ingress whose paths are closed.
func closing(p model.Problem) model.Problem {
	p.Denies = true
	p.Text += "; some of its paths are protected"
	return p
}

// ofNothing returns an owner for an Ingress that has none of its rules, nor of its annotations.
func (t *translation) ofNothing(object *networkingv1.Ingress) *owner {
	values := t.settingsOf(object)
	return &owner{object: object, Owner: &claim.Owner{Ref: snapshot.RefOf(object), Age: ageOf(object), Settings: values,
		Annotations: annotations.Read(&networkingv1.Ingress{}, values, t.options.AnnotationsPrefix), PrefixKey: t.options.AnnotationsPrefix + "/"}}
}

// sizeOfRules is what an Ingress has by its rules alone.
func sizeOfRules(object *networkingv1.Ingress) size {
	var has size
	for i := range object.Spec.Rules {
		rule := &object.Spec.Rules[i]
		has.hosts = append(has.hosts, rule.Host)
		if rule.HTTP != nil {
			has.paths += len(rule.HTTP.Paths)
		}
	}
	return has
}

// size is what an Ingress has: with its aliases, redirects and defaultBackend.
func (i *owner) size() size {
	has := size{hosts: slices.Clone(i.Aliases)}
	for _, rules := range i.Hosts {
		has.hosts = append(has.hosts, rules.Host)
		has.paths += len(rules.Claims)
	}
	if i.Fallback != nil {
		has.paths++
	}
	return has
}

// excess returns the Problem of an Ingress for which there is no room; false if there is.
func (b *bounds) excess(most settings.Bounds, object *networkingv1.Ingress, has size) (model.Problem, bool) {
	added := map[string]bool{}
	for _, host := range has.hosts {
		if !b.hosts[host] {
			added[host] = true
		}
	}
	p := model.Problem{Object: snapshot.RefOf(object), Field: "spec.rules", Reason: model.NoRoom}
	for _, of := range []struct {
		what, setting    string
		most, own, there int
	}{
		{"hosts", "max-hosts-per-namespace", most.Hosts, len(added), len(b.hosts)},
		{"paths", "max-paths-per-namespace", most.Paths, has.paths, b.paths},
	} {
		switch {
		case of.most == 0 || of.own+of.there <= of.most || of.own == 0:
			continue
		case of.own > of.most:
			p.Reason = model.InvalidValue
			p.Text = fmt.Sprintf("want at most %d %s, which is what the setting %s lets a namespace have (got %d)", of.most, of.what, of.setting, of.own)
		default:
			p.Text = fmt.Sprintf("want fewer %s: the setting %s lets namespace %s have %d, older Ingresses have %d, and this one adds %d", of.what, of.setting, object.Namespace, of.most, of.there, of.own)
		}
		return p, true
	}
	return p, false
}

func (b *bounds) add(has size) {
	b.paths += has.paths
	for _, host := range has.hosts {
		b.hosts[host] = true
	}
}
