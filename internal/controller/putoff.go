package controller

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// syncOrWait syncs, or leaves that to the end of the reload that is under way.
func (c *Controller) syncOrWait(ctx context.Context) {
	p := c.look(ctx)
	if p == nil {
		return
	}
	if c.putOff(p) {
		c.applier.awaited.Store(true)
		c.pace.putOff(time.Now())
		return
	}
	c.carryOut(ctx, p)
}

// catchUp syncs if a change was put off.
func (c *Controller) catchUp(ctx context.Context) {
	if c.applier.awaited.Load() {
		c.sync(ctx)
	}
}

// putOff reports whether a change waits for the end of the reload that is under
// way: what comes during a reload goes together in the next, so that a plan that
// is made now would be thrown away as soon as another change comes. What nginx can
// be told at once never waits.
func (c *Controller) putOff(p *plan) bool {
	if c.latest == nil || c.target == nil || c.target.failed || !c.applier.busy.Load() {
		return false
	}
	return !c.latest.mustBeTold(p.snap, c.Translate.DefaultCertificate)
}

// mustBeTold reports whether a plan's endpoints or certificates may be others by
// a newer snapshot. It may say so without need.
func (p *plan) mustBeTold(now *snapshot.Snapshot, defaultCertificate snapshot.Name) bool {
	changes := now.Since(p.snap)
	for _, name := range changes.Ingresses {
		if _, other := p.served.Replaced()[name]; other {
			return true // its last good form gives way
		}
		was, is := p.snap.Ingress(name), now.Ingress(name)
		if was != nil && is != nil && !reflect.DeepEqual(was.Spec.TLS, is.Spec.TLS) {
			return true
		}
	}
	is := changedIn(now, changes.Ingresses)
	services := slices.DeleteFunc(changes.Services, func(s snapshot.Name) bool { return !p.tells(s) })
	if is.inUse(services, p.users(servicesOf), servicesOf) || slices.Contains(changes.Secrets, defaultCertificate) {
		return true
	}
	if len(changes.Secrets) == 0 {
		return false
	}
	// A Secret that was not there is new to all but those who named it already.
	was := p.users(secretsOf)
	secrets := slices.DeleteFunc(changes.Secrets, func(s snapshot.Name) bool { return p.snap.Secret(s) == nil && len(was[s]) == 0 })
	return is.inUse(secrets, was, secretsOf)
}

// tells reports whether the endpoints of a Service are in the runtime state.
func (p *plan) tells(service snapshot.Name) bool {
	prefix := service.String() + "/"
	backends := p.config.Dynamic.Backends
	at, _ := slices.BinarySearchFunc(backends, prefix, func(b *model.Backend, prefix string) int { return strings.Compare(b.Key, prefix) })
	return at < len(backends) && strings.HasPrefix(backends[at].Key, prefix)
}

// kind is a kind of objects that Ingresses name.
type kind int

const (
	servicesOf kind = iota
	secretsOf
)

// named gives the objects of a kind that an Ingress names to a function.
func (k kind) named(ing *networkingv1.Ingress, name func(snapshot.Name)) {
	if k == secretsOf {
		secretsIn(ing, name)
		return
	}
	servicesIn(ing, name)
}

// users are the Ingresses that name an object.
type users map[snapshot.Name][]snapshot.Name

// users gives those of the objects of a kind, by the forms that are served. They are
// found out when they are first asked for.
func (p *plan) users(k kind) users {
	if p.named[k] != nil {
		return p.named[k]
	}
	found := users{}
	for _, ing := range p.served.Ingresses() {
		user := snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}
		k.named(ing, func(object snapshot.Name) {
			if list := found[object]; len(list) == 0 || list[len(list)-1] != user {
				found[object] = append(list, user)
			}
		})
	}
	p.named[k] = found
	return found
}

// changedIngresses are those that a newer snapshot has another form of, nil where it
// has none.
type changedIngresses map[snapshot.Name]*networkingv1.Ingress

func changedIn(now *snapshot.Snapshot, changed []snapshot.Name) changedIngresses {
	forms := make(changedIngresses, len(changed))
	for _, name := range changed {
		forms[name] = now.Ingress(name)
	}
	return forms
}

// inUse reports whether an Ingress names one of the objects now, or something
// that is no Ingress does: none named it before.
func (c changedIngresses) inUse(objects []snapshot.Name, before users, k kind) bool {
	if len(objects) == 0 {
		return false
	}
	named := map[snapshot.Name]bool{}
	for _, form := range c {
		if form != nil {
			k.named(form, func(object snapshot.Name) { named[object] = true })
		}
	}
	return slices.ContainsFunc(objects, func(object snapshot.Name) bool {
		unchanged := func(user snapshot.Name) bool { _, changed := c[user]; return !changed }
		return len(before[object]) == 0 || named[object] || slices.ContainsFunc(before[object], unchanged)
	})
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
