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
	c.bringAbout(ctx, p)
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
	services := slices.DeleteFunc(changes.Services, func(s snapshot.Name) bool { return !p.tells(s) })
	if p.inUse(services, servicesOf, now) || slices.Contains(changes.Secrets, defaultCertificate) {
		return true
	}
	// A Secret that was not there is new to all but those who named it already.
	awaited := namedBy(p.served, secretsOf, changes.Secrets)
	secrets := slices.DeleteFunc(changes.Secrets, func(s snapshot.Name) bool { return p.snap.Secret(s) == nil && !awaited[s] })
	return p.inUse(secrets, secretsOf, now)
}

// tells reports whether nginx is told the endpoints of a Service.
func (p *plan) tells(service snapshot.Name) bool {
	prefix := service.String() + "/"
	backends := p.config.Dynamic.Backends
	at, _ := slices.BinarySearchFunc(backends, prefix, func(b *model.Backend, prefix string) int { return strings.Compare(b.Key, prefix) })
	return at < len(backends) && strings.HasPrefix(backends[at].Key, prefix)
}

// references gives what an Ingress names to a function.
type references func(ing *networkingv1.Ingress, name func(snapshot.Name))

// inUse reports whether an Ingress names one of the objects now, in the form that
// is served, or something that is no Ingress does: none named it before.
func (p *plan) inUse(objects []snapshot.Name, of references, now *snapshot.Snapshot) bool {
	if len(objects) == 0 {
		return false
	}
	is, was := namedBy(now.WithIngresses(p.served.Replaced()), of, objects), namedBy(p.served, of, objects)
	return slices.ContainsFunc(objects, func(object snapshot.Name) bool { return is[object] || !was[object] })
}

// namedBy gives those of the objects that Ingresses name.
func namedBy(s *snapshot.Snapshot, of references, objects []snapshot.Name) map[snapshot.Name]bool {
	found := make(map[snapshot.Name]bool, len(objects))
	if len(objects) == 0 {
		return found
	}
	for _, object := range objects {
		found[object] = false
	}
	for _, ing := range s.Ingresses() {
		of(ing, func(name snapshot.Name) {
			if _, ok := found[name]; ok {
				found[name] = true
			}
		})
	}
	return found
}

func servicesOf(ing *networkingv1.Ingress, name func(snapshot.Name)) {
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

func secretsOf(ing *networkingv1.Ingress, name func(snapshot.Name)) {
	for _, tls := range ing.Spec.TLS {
		secret, _ := snapshot.ParseReference(tls.SecretName, ing.Namespace)
		name(secret)
	}
}
