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

// Intervals for reading Secrets again: existing ones, and missing ones. At most
// atATick are read in each tick, so that thousands of Secrets cost the API server
// little; changes are then noticed later.
const (
	tick         = time.Second
	heldAgain    = 10 * time.Second
	missingAgain = 2 * time.Second
	atATick      = 50
)

// polledSecrets implements ReferencedSecrets. It reads by name only, because an
// account that can list or watch Secrets can read all of them.
type polledSecrets struct {
	source *Source
	mu     sync.Mutex
	held   map[snapshot.Name]*polledSecret
}

// polledSecret is a referenced Secret: nil if it does not exist or cannot be read.
type polledSecret struct {
	secret  *corev1.Secret
	version string
	// due is when it is read again; the zero time means at once.
	due time.Time
}

// begin polls the held Secrets until ctx ends.
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

// follow sets the names of the held Secrets and reads the new ones.
func (p *polledSecrets) follow(ctx context.Context, names []snapshot.Name) {
	p.read(ctx, p.keep(names))
}

// keep drops all Secrets but names, which are sorted, and returns the new names.
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

// due returns the Secrets to read now: missing ones first, but at most half of the
// number allowed.
func (p *polledSecrets) due(now time.Time) []snapshot.Name {
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing, held []snapshot.Name
	for name, s := range p.held {
		switch {
		case s.due.IsZero() || now.Before(s.due): // its first read is in progress, or it is not due
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

// read reads Secrets and reports whether one has changed.
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

// hold stores the result of a read. After an error the previous content stays.
func (p *polledSecrets) hold(name snapshot.Name, secret *corev1.Secret, err error) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[name]
	if s == nil {
		return false // no longer referenced
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

// hasSynced reports whether each Secret was read once, or cannot be read.
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
