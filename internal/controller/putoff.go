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
		c.applier.putOff()
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
	return !c.renewRetired(p) && !c.latest.mustBeTold(p.snap, &c.namers, c.Translate.DefaultCertificate)
}

// unapplied is what changed since a plan. It is extended from one look to the next.
type unapplied struct {
	until *snapshot.Snapshot // the last look; nil before the first
	// ingresses are those that the snapshot of the last look has another form of, nil
	// where it has none. services are those whose endpoints nginx has.
	ingresses         map[snapshot.Name]*networkingv1.Ingress
	services, secrets map[snapshot.Name]bool
	// before counts those of the Ingresses that named each object of a kind.
	before [2]map[snapshot.Name]int
	// tell is set once an Ingress needs something at run time by itself.
	tell bool
}

// extend takes in what changed since the last look.
func (u *unapplied) extend(p *plan, now *snapshot.Snapshot) {
	if u.until == nil {
		*u = unapplied{until: p.snap, ingresses: map[snapshot.Name]*networkingv1.Ingress{}, services: map[snapshot.Name]bool{}, secrets: map[snapshot.Name]bool{},
			before: [2]map[snapshot.Name]int{{}, {}}}
	}
	changes := now.Since(u.until)
	for _, name := range changes.Ingresses {
		was, is := p.snap.Ingress(name), now.Ingress(name)
		_, replaced := p.served.Replaced()[name] // its last good form gives way
		u.tell = u.tell || replaced || was != nil && is != nil && !reflect.DeepEqual(was.Spec.TLS, is.Spec.TLS)
		if _, known := u.ingresses[name]; !known {
			for _, k := range kinds {
				for _, object := range k.namedBy(p.served.Ingress(name)) {
					u.before[k][object]++
				}
			}
		}
		u.ingresses[name] = is
	}
	for _, name := range changes.Services {
		if !u.services[name] && p.tells(name) {
			u.services[name] = true
		}
	}
	for _, name := range changes.Secrets {
		u.secrets[name] = true
	}
	u.until = now
}

// mustBeTold reports whether a plan's endpoints or certificates may be others by
// a newer snapshot. It may say so without need.
func (p *plan) mustBeTold(now *snapshot.Snapshot, named *namers, defaultCertificate snapshot.Name) bool {
	u := &p.unapplied
	u.extend(p, now)
	if u.tell || u.secrets[defaultCertificate] {
		return true
	}
	if len(u.services) > 0 && u.inUse(u.services, named.of(p.served, servicesOf), servicesOf) {
		return true
	}
	if len(u.secrets) == 0 {
		return false
	}
	// A Secret that was not there is new to all but those who named it already.
	counts, secrets := named.of(p.served, secretsOf), map[snapshot.Name]bool{}
	for s := range u.secrets {
		if p.snap.Secret(s) != nil || counts[s] > 0 {
			secrets[s] = true
		}
	}
	return u.inUse(secrets, counts, secretsOf)
}

// tells reports whether the endpoints of a Service are in the runtime state.
func (p *plan) tells(service snapshot.Name) bool {
	prefix := service.String() + "/"
	backends := p.config.Dynamic.Backends
	at, _ := slices.BinarySearchFunc(backends, prefix, func(b *model.Backend, prefix string) int { return strings.Compare(b.Key, prefix) })
	return at < len(backends) && strings.HasPrefix(backends[at].Key, prefix)
}

// inUse reports whether an Ingress names one of the objects now, or something that is
// no Ingress does: none named it before. counts are the Ingresses that named each.
func (u *unapplied) inUse(objects map[snapshot.Name]bool, counts map[snapshot.Name]int, k kind) bool {
	if len(objects) == 0 {
		return false
	}
	for object := range objects {
		if counts[object] == 0 || counts[object] > u.before[k][object] {
			return true
		}
	}
	for _, is := range u.ingresses {
		if slices.ContainsFunc(k.namedBy(is), func(object snapshot.Name) bool { return objects[object] }) {
			return true
		}
	}
	return false
}
