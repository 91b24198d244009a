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
	return services[o.DefaultBackend] || secrets[o.DefaultCertificate] || len(services)+len(secrets) > 0 && p.inUse(now, services, secrets)
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
// deleted, or something other than an Ingress uses one of the deleted Services.
func (p *plan) inUse(now *snapshot.Snapshot, services, secrets map[snapshot.Name]bool) bool {
	servedServices, servedSecrets := namedBy(p.served.Ingresses(), services, secrets)
	for secret := range servedSecrets {
		if now.Secret(secret) != nil {
			return true
		}
	}
	nowServices, nowSecrets := namedBy(now.WithIngresses(p.served.Replaced()).Ingresses(), servedServices, servedSecrets)
	return len(nowServices)+len(nowSecrets) > 0 || len(servedServices) < len(services)
}

// namedBy returns those of the Services and Secrets that an Ingress names.
func namedBy(ingresses []*networkingv1.Ingress, services, secrets map[snapshot.Name]bool) (namedServices, namedSecrets map[snapshot.Name]bool) {
	namedServices, namedSecrets = map[snapshot.Name]bool{}, map[snapshot.Name]bool{}
	for _, ing := range ingresses {
		for _, tls := range ing.Spec.TLS {
			if secret, _ := snapshot.ParseReference(tls.SecretName, ing.Namespace); secrets[secret] {
				namedSecrets[secret] = true
			}
		}
		for service := range servicesOf(ing) {
			if services[service] {
				namedServices[service] = true
			}
		}
	}
	return namedServices, namedSecrets
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
