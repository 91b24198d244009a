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

// keep drops all but names, which are sorted, and gives those that are new.
func (p *polledSecrets) keep(names []snapshot.Name) (added []snapshot.Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.held {
		if _, stays := slices.BinarySearchFunc(names, name, snapshot.Name.Compare); !stays {
			delete(p.held, name)
			p.source.troubles.forget("Secret " + name.String())
		}
	}
	for _, name := range names {
		if p.held[name] == nil {
			p.held[name] = &polledSecret{}
			added = append(added, name)
		}
	}
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
	s.due = time.Now().Add(heldAgain)
	if s.secret == nil {
		s.due = time.Now().Add(missingAgain)
	}
	return changed
}

func (p *polledSecrets) all() []*corev1.Secret {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := make([]*corev1.Secret, 0, len(p.held))
	for _, s := range p.held {
		if s.secret != nil {
			found = append(found, s.secret)
		}
	}
	slices.SortFunc(found, func(a, b *corev1.Secret) int { return nameOf(a).Compare(nameOf(b)) })
	return found
}

// hasSynced says whether each was read once, or cannot be.
func (p *polledSecrets) hasSynced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.held {
		if s.due.IsZero() {
			return false
		}
	}
	return true
}
