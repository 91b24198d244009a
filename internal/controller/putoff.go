package controller

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// syncOrWait syncs now, or postpones that to the end of the current reload.
func (c *Controller) syncOrWait(ctx context.Context) {
	p := c.look(ctx)
	if p == nil {
		return
	}
	if c.canWait(p) {
		c.applier.putOff()
		c.pace.putOff(time.Now())
		return
	}
	c.carryOut(ctx, p)
}

// catchUp syncs if a change was postponed.
func (c *Controller) catchUp(ctx context.Context) {
	if c.applier.awaited.Load() {
		c.sync(ctx)
	}
}

// canWait reports whether a change waits for the end of the current reload. All changes
// during a reload go into the next one, so a plan made now would be replaced before it
// is applied. Changes of endpoints and certificates in use never wait.
func (c *Controller) canWait(p *plan) bool {
	if c.latest == nil || c.target == nil || c.target.failed || !c.applier.busy.Load() {
		return false
	}
	return !c.renewRetired(p) && !c.latest.mustBeTold(p.snap, c.Translate)
}

// mustBeTold reports whether endpoints or certificates of a plan may have changed in a
// newer snapshot. It may return true without need.
func (p *plan) mustBeTold(now *snapshot.Snapshot, o translate.Options) bool {
	changes := now.Since(p.snap)
	for _, name := range changes.Ingresses {
		was, is := p.snap.Ingress(name), now.Ingress(name)
		_, replaced := p.served.Replaced()[name] // its last good form is no longer served
		if replaced || was != nil && is != nil && !reflect.DeepEqual(was.Spec.TLS, is.Spec.TLS) {
			return true
		}
	}
	services, secrets := map[snapshot.Name]bool{}, map[snapshot.Name]bool{}
	for _, name := range changes.Services {
		switch {
		case !p.hasBackendOf(name):
		case now.Service(name) != nil:
			return true
		default:
			services[name] = true
		}
	}
	for _, name := range changes.Secrets {
		secrets[name] = true
	}
	return services[o.DefaultBackend] || slices.ContainsFunc(translate.Secrets(now.ConfigMap, o), func(name snapshot.Name) bool { return secrets[name] }) || len(services)+len(secrets) > 0 && p.inUse(now, changes.Ingresses, services, secrets)
}

// hasBackendOf reports whether nginx has endpoints of a Service.
func (p *plan) hasBackendOf(service snapshot.Name) bool {
	prefix := service.String() + "/"
	backends := p.config.Dynamic.Backends
	at, _ := slices.BinarySearchFunc(backends, prefix, func(b *model.Backend, prefix string) int { return strings.Compare(b.Key, prefix) })
	return at < len(backends) && strings.HasPrefix(backends[at].Key, prefix)
}

// inUse reports whether a served Ingress names one of the Secrets, which still exists in
// a newer snapshot, or an Ingress of that snapshot names one of the objects that were
// deleted, or something other than an Ingress uses one of the deleted Services. changed
// are the Ingresses that differ in that snapshot.
func (p *plan) inUse(now *snapshot.Snapshot, changed []snapshot.Name, services, secrets map[snapshot.Name]bool) bool {
	if p.uses.services == nil {
		ingresses := p.served.Ingresses()
		p.uses = newUses(len(ingresses))
		for _, ing := range ingresses {
			p.uses.count(ing, 1)
		}
	}
	difference, seen := newUses(len(changed)), map[snapshot.Name]bool{}
	for _, name := range changed {
		if !seen[name] {
			seen[name] = true
			difference.count(p.served.Ingress(name), -1)
			difference.count(now.Ingress(name), 1)
		}
	}
	for secret := range secrets {
		served := p.uses.secrets[secret]
		if served > 0 && (now.Secret(secret) != nil || served+difference.secrets[secret] > 0) {
			return true
		}
	}
	for service := range services {
		served := p.uses.services[service]
		if served == 0 || served+difference.services[service] > 0 {
			return true
		}
	}
	return false
}

// uses is how often Ingresses name each Service and Secret.
type uses struct{ services, secrets map[snapshot.Name]int }

// newUses has room for about as many Services.
func newUses(services int) uses {
	return uses{make(map[snapshot.Name]int, services), map[snapshot.Name]int{}}
}

// count adds what an Ingress names, each time by as much. The Ingress may be nil.
func (u uses) count(ing *networkingv1.Ingress, by int) {
	if ing == nil {
		return
	}
	for _, tls := range ing.Spec.TLS {
		secret, _ := snapshot.ParseReference(tls.SecretName, ing.Namespace)
		u.secrets[secret] += by
	}
	for service := range servicesOf(ing) {
		u.services[service] += by
	}
}

// servicesOf yields the Services that the paths of an Ingress name. It yields a Service
// once for neighbouring paths.
func servicesOf(ing *networkingv1.Ingress) iter.Seq[snapshot.Name] {
	return func(yield func(snapshot.Name) bool) {
		last := ""
		next := func(b *networkingv1.IngressBackend) bool {
			if b == nil || b.Service == nil || b.Service.Name == last {
				return true
			}
			last = b.Service.Name
			return yield(snapshot.Name{Namespace: ing.Namespace, Name: last})
		}
		more := next(ing.Spec.DefaultBackend)
		for _, rule := range ing.Spec.Rules {
			for i := 0; more && rule.HTTP != nil && i < len(rule.HTTP.Paths); i++ {
				more = next(&rule.HTTP.Paths[i].Backend)
			}
		}
	}
}
