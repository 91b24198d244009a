package controller

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/snapshot"
)

// kind is a kind of objects that Ingresses name.
type kind int

const (
	servicesOf kind = iota
	secretsOf
)

// kinds are all of them.
var kinds = []kind{servicesOf, secretsOf}

// namedBy gives the objects of a kind that an Ingress names, each once; none for nil.
func (k kind) namedBy(ing *networkingv1.Ingress) []snapshot.Name {
	var names []snapshot.Name
	note := func(object snapshot.Name) { names = append(names, object) }
	switch {
	case ing == nil:
	case k == secretsOf:
		secretsIn(ing, note)
	default:
		servicesIn(ing, note)
	}
	slices.SortFunc(names, snapshot.Name.Compare)
	return slices.Compact(names)
}

// namers counts the Ingresses that name each Service and each Secret, by the forms that
// are served. From one plan to the next only those that changed are looked at. The zero
// value is ready.
type namers [2]counts

// counts are those of one kind. Nothing is counted before somebody asks.
type counts struct {
	served *snapshot.Snapshot // nil if nobody asked
	named  map[snapshot.Name]int
}

// follow goes on to another snapshot, so that the one before is not kept.
func (n *namers) follow(served *snapshot.Snapshot) {
	for _, k := range kinds {
		if n[k].served != nil {
			n.of(served, k)
		}
	}
}

// of gives the counts for the forms of a snapshot. They are valid until the next call.
func (n *namers) of(served *snapshot.Snapshot, k kind) map[snapshot.Name]int {
	c := &n[k]
	switch {
	case c.served == served:
		return c.named
	case c.served == nil:
		c.named = map[snapshot.Name]int{}
		for _, ing := range served.Ingresses() {
			c.count(k, ing, 1)
		}
	default:
		for name := range otherForms(c.served, served) {
			c.count(k, c.served.Ingress(name), -1)
			c.count(k, served.Ingress(name), 1)
		}
	}
	c.served = served
	return c.named
}

// otherForms are the Ingresses that two snapshots may have in other forms.
func otherForms(before, now *snapshot.Snapshot) map[snapshot.Name]bool {
	names := map[snapshot.Name]bool{}
	for _, name := range now.Since(before).Ingresses {
		names[name] = true
	}
	for _, replaced := range []map[snapshot.Name]*networkingv1.Ingress{before.Replaced(), now.Replaced()} {
		for name := range replaced {
			names[name] = true
		}
	}
	return names
}

// count adds what an Ingress names, or takes it away.
func (c *counts) count(k kind, ing *networkingv1.Ingress, by int) {
	for _, object := range k.namedBy(ing) {
		if c.named[object] += by; c.named[object] == 0 {
			delete(c.named, object)
		}
	}
}

func servicesIn(ing *networkingv1.Ingress, name func(snapshot.Name)) {
	service := func(b *networkingv1.IngressBackend) {
		if b != nil && b.Service != nil {
			name(snapshot.Name{Namespace: ing.Namespace, Name: b.Service.Name})
		}
	}
	service(ing.Spec.DefaultBackend)
	for _, rule := range ing.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for i := range rule.HTTP.Paths {
			service(&rule.HTTP.Paths[i].Backend)
		}
	}
}

func secretsIn(ing *networkingv1.Ingress, name func(snapshot.Name)) {
	for _, tls := range ing.Spec.TLS {
		secret, _ := snapshot.ParseReference(tls.SecretName, ing.Namespace)
		name(secret)
	}
}
