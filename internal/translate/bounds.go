package translate

import (
	"cmp"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// bounds counts what the Ingresses of a namespace have: those that are served, or those that
// are closed because they are too many.
type bounds struct {
	hosts map[string]bool
	paths int
}

// size is what one Ingress has.
type size struct {
	hosts []string
	paths int
}

// crowded is an Ingress beyond a bound. It is served by owners in place of its own.
type crowded struct {
	pass    uint64
	problem model.Problem
	// lone are those of its hosts that no other Ingress has, if it is shut by few locations.
	// anyCase are those on which the case of a path might not count.
	lone, anyCase []string
	owners        []*owner
}

// tooMany is an Ingress beyond a bound whose paths have to be shut by few locations.
type tooMany struct {
	object  *networkingv1.Ingress
	problem model.Problem
	// patterns is set if it asks for patterns, which ignore case.
	patterns bool
}

// withinBounds returns an Ingress as it is read. Beyond what its namespace may have, it returns
// what is there instead: nothing, or its paths closed if it protects any, because a neighbour
// might serve them. The closed ones of a namespace may be as many again; of further ones, and of
// one that is too large by itself, nothing is read, and shut closes them later.
func (t *translation) withinBounds(object *networkingv1.Ingress) []*owner {
	most := t.settings.Bounds
	if most == (settings.Bounds{}) {
		return []*owner{t.ingress(object)}
	}
	namespace := object.Namespace
	if p := (&bounds{}).lack(most, object, sizeOfRules(object)); p.Text != "" {
		return t.refuseAsWhole(object, p)
	}
	ing := t.ingress(object)
	has := ing.size()
	served := t.bounds[namespace]
	if served == nil {
		served = &bounds{hosts: map[string]bool{}}
		t.bounds[namespace] = served
	}
	p := served.lack(most, object, has)
	if p.Text == "" {
		served.add(has)
		return []*owner{ing}
	}
	if !ing.Guards() {
		return t.refuseAsWhole(object, p)
	}
	shut := t.shut[namespace]
	if shut == nil {
		shut = &bounds{hosts: map[string]bool{}}
		t.shut[namespace] = shut
	}
	if shut.lack(most, object, has).Text != "" {
		return t.refuseAsWhole(object, p)
	}
	shut.add(has)
	p = closing(p)
	return t.instead(object, crowded{problem: p}, func() []*owner {
		closed := t.read(object, ing.Settings, max(ing.Denial, claim.DenyButSnippet))
		closed.Problems = append(closed.Problems, p)
		return []*owner{closed}
	})
}

// refuseAsWhole leaves an Ingress out. One that protects is closed when the others are known.
func (t *translation) refuseAsWhole(object *networkingv1.Ingress, p model.Problem) []*owner {
	if a := t.begun(object, t.settingsOf(object)).Annotations; a.GuardsAny() || t.deniedAnyway(object) != 0 {
		t.tooMany = append(t.tooMany, tooMany{object, closing(p), asksForPatterns(a)})
		return nil
	}
	p.Text += ": the Ingress is not served"
	return t.instead(object, crowded{problem: p}, func() []*owner {
		none := t.without(object)
		none.Problems = []model.Problem{p}
		return []*owner{none}
	})
}

// asksForPatterns reports whether paths with these annotations might be patterns.
func asksForPatterns(all *annotations.Annotations) bool {
	for a := range all.Each() {
		if a.Regex.Enabled || a.Rewrite.Target != "" || a.Rewrite.LeftOut {
			return true
		}
	}
	return false
}

// closing is the Problem of an Ingress whose paths are closed.
func closing(p model.Problem) model.Problem {
	p.Denies = true
	p.Text += ": its paths return 503, because some are protected"
	return p
}

// instead remembers the owners in place of an Ingress. make makes them anew if something that they
// depend on is different.
func (t *translation) instead(object *networkingv1.Ingress, of crowded, make func() []*owner) []*owner {
	known := t.memo.crowded[object]
	if known == nil || known.problem != of.problem || !slices.Equal(known.lone, of.lone) || !slices.Equal(known.anyCase, of.anyCase) || slices.ContainsFunc(known.owners, func(o *owner) bool {
		return o.Settings != t.settingsOf(object) || o.reads.outdated(t.snap)
	}) {
		of.owners = make()
		known = &of
		t.memo.crowded[object] = known
	}
	t.memo.use(&known.pass, &t.memo.used.crowded)
	return known.owners
}

// without returns an owner for an Ingress that has none of its rules, nor of its annotations.
func (t *translation) without(object *networkingv1.Ingress) *owner {
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

// lack returns the Problem of an Ingress for which there is no room, one without a text if there is.
func (b *bounds) lack(most settings.Bounds, object *networkingv1.Ingress, has size) model.Problem {
	added := map[string]bool{}
	for _, host := range has.hosts {
		if !b.hosts[host] {
			added[host] = true
		}
	}
	p := model.Problem{Object: snapshot.RefOf(object), Field: claim.ShutField, Reason: model.NoRoom}
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
		return p
	}
	return p
}

func (b *bounds) add(has size) {
	b.paths += has.paths
	for _, host := range has.hosts {
		b.hosts[host] = true
	}
}

// byAge sorts owners, the oldest first.
func byAge(all []*claim.Owner) {
	slices.SortStableFunc(all, func(a, b *claim.Owner) int { return cmp.Or(a.Age.Compare(b.Age), a.Ref.Compare(b.Ref)) })
}
