package cluster

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"sluice/internal/snapshot"
)

// The rhythm in which Secrets are read again: those that exist, and those that
// somebody waits for. No more than atATick are read each tick, so that thousands
// cost the API server little and are heard of later.
const (
	tick         = time.Second
	heldAgain    = 10 * time.Second
	missingAgain = 2 * time.Second
	atATick      = 50
)

// polledSecrets is ReferencedSecrets. It reads by name alone: who may list or
// watch Secrets could read them all.
type polledSecrets struct {
	source *Source
	mu     sync.Mutex
	held   map[snapshot.Name]*polledSecret
	// names are those that are held, sorted. unread is how many of them were not read yet.
	names  []snapshot.Name
	unread int
	// listed are the Secrets that there are, nil if that is to be found out.
	listed []*corev1.Secret
}

// polledSecret is a Secret that something refers to: nil if it does not exist or
// cannot be read.
type polledSecret struct {
	secret  *corev1.Secret
	version string
	// due is when it is read again; the zero time is at once.
	due time.Time
}

// begin reads again what is held, until ctx ends.
func (p *polledSecrets) begin(ctx context.Context) {
	go func() {
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-ticks.C:
				reading, cancel := context.WithTimeout(ctx, readTimeout)
				if p.read(reading, p.due(now)) {
					p.source.signal.touch()
				}
				cancel()
			}
		}
	}()
}

// follow makes names those that are held, and reads the new ones.
func (p *polledSecrets) follow(ctx context.Context, names []snapshot.Name) {
	p.read(ctx, p.keep(names))
}

// keep drops all but names, which are sorted and never change, and gives those that are
// new.
func (p *polledSecrets) keep(names []snapshot.Name) (added []snapshot.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sameNames(p.names, names) {
		return nil
	}
	gone, added := others(p.names, names)
	for _, name := range gone {
		if p.held[name].due.IsZero() {
			p.unread--
		}
		delete(p.held, name)
		p.source.troubles.forget("Secret " + name.String())
	}
	for _, name := range added {
		p.held[name] = &polledSecret{}
		p.unread++
	}
	p.names, p.listed = names, nil
	return added
}

// due gives those to be read again, the ones that do not exist first, but no more
// of them than half.
func (p *polledSecrets) due(now time.Time) []snapshot.Name {
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing, held []snapshot.Name
	for name, s := range p.held {
		switch {
		case s.due.IsZero() || now.Before(s.due): // being read for the first time, or not yet
		case s.secret == nil:
			missing = append(missing, name)
		default:
			held = append(held, name)
		}
	}
	earlier := func(a, b snapshot.Name) int { return p.held[a].due.Compare(p.held[b].due) }
	slices.SortFunc(missing, earlier)
	slices.SortFunc(held, earlier)
	missing = missing[:min(len(missing), atATick/2)]
	return append(missing, held[:min(len(held), atATick-len(missing))]...)
}

// read reads Secrets and says whether one is another than before.
func (p *polledSecrets) read(ctx context.Context, names []snapshot.Name) (changed bool) {
	differs := make([]bool, len(names))
	aFewAtOnce(len(names), func(i int) {
		secret := &corev1.Secret{}
		err := p.source.o.Client.Recall(ctx, names[i], secret)
		if apierrors.IsNotFound(err) {
			secret, err = nil, nil
		}
		differs[i] = p.hold(names[i], secret, err)
	})
	return slices.Contains(differs, true)
}

// hold keeps what was read. After an error it is what was there before.
func (p *polledSecrets) hold(name snapshot.Name, secret *corev1.Secret, err error) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[name]
	if s == nil {
		return false // nothing refers to it any more
	}
	p.source.troubles.set("Secret "+name.String(), err)
	switch {
	case err != nil || secret != nil && older(secret.ResourceVersion, s.version):
	case secret == nil:
		changed = s.secret != nil
		s.secret, s.version = nil, ""
	case secret.ResourceVersion != s.version:
		s.version = secret.ResourceVersion
		stripSecret(secret)
		secret.ResourceVersion = ""
		if changed = !reflect.DeepEqual(s.secret, secret); changed {
			s.secret = secret
		}
	}
	if s.due.IsZero() {
		p.unread--
	}
	if changed {
		p.listed = nil
	}
	s.due = time.Now().Add(heldAgain)
	if s.secret == nil {
		s.due = time.Now().Add(missingAgain)
	}
	return changed
}

func (p *polledSecrets) all() []*corev1.Secret {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listed == nil {
		p.listed = make([]*corev1.Secret, 0, len(p.names))
		for _, name := range p.names {
			if s := p.held[name].secret; s != nil {
				p.listed = append(p.listed, s)
			}
		}
	}
	return p.listed
}

// hasSynced says whether each was read once, or cannot be.
func (p *polledSecrets) hasSynced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unread == 0
}
