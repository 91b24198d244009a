// Package ocsp keeps the OCSP responses of certificates up to date, because nginx cannot for
// certificates that Lua sets. It takes a model.Dynamic with certificates. It returns one with
// their responses as staples, and a signal when they change:
//
//	s := ocsp.New(ocsp.Options{})
//	go s.Run(ctx)
//	s.Use(d)
//	d = s.Apply(d)
//	<-s.Watch() // then apply again
//
// A certificate names the URL of its responder, so whoever may write a Secret chooses which
// URL is asked. See dial in ask.go for the addresses that are refused.
package ocsp

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/model"
)

const (
	// retryAfter is the delay before a failed question is repeated; it doubles with each
	// failure up to longestRetry.
	retryAfter   = 10 * time.Second
	longestRetry = time.Hour
	// A response is renewed after half of its remaining time, within these limits.
	soonest, latest = 30 * time.Second, 24 * time.Hour
	// gather is the shortest time between two signals, because each one costs a push, and
	// gatherTroubles the shortest before one that is about troubles only.
	gather         = time.Second
	gatherTroubles = 15 * time.Second
	// Between two looks at all certificates, Run sleeps for at least pause and at most
	// longestSleep.
	pause        = 10 * time.Millisecond
	longestSleep = time.Minute
)

// Options configure a Stapler. With the zero value it asks by the network.
type Options struct {
	// Dial connects to a responder; nil means by the network, to addresses that are not
	// refused.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Logger gets one line for each certificate when a trouble begins, changes or ends; nil
	// means slog.Default().
	Logger *slog.Logger
}

// Stapler has the responses of the certificates in use.
type Stapler struct {
	client  *http.Client
	log     *slog.Logger
	changes chan struct{}
	wake    chan struct{}

	mu sync.Mutex
	// used is what the last Use was about, stapled what the last Apply added. changed is set
	// until the next signal, troubled if it is about troubles only; signalled is the time of the last one.
	used      used
	stapled   []*model.Staple
	changed   bool
	troubled  bool
	signalled time.Time
	// of has the certificates with a responder, by ID; slots counts the running questions.
	of    map[string]*certificate
	slots slots
}

// used are the parts of a Dynamic that decide which responses are needed.
type used struct {
	stapling     bool
	certificates []*model.Certificate
	names        []model.CertificateName
}

// same compares the lists by pointer and length.
func (u used) same(other used) bool {
	return u.stapling == other.stapling && sameList(u.certificates, other.certificates) && sameList(u.names, other.names)
}

func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// certificate is the state of one certificate.
type certificate struct {
	*model.Certificate
	due    time.Time
	asking bool
	// failures is the number of consecutive failed questions.
	failures int
	// staple is the last good response, nil for none.
	staple  *model.Staple
	trouble string
}

// New returns a Stapler, which asks nothing before Run.
func New(options Options) *Stapler {
	if options.Dial == nil {
		options.Dial = dial
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	return &Stapler{
		client: newClient(options.Dial), log: options.Logger,
		changes: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		of: map[string]*certificate{}, slots: slots{of: map[string]int{}},
	}
}

// Watch signals that the results of Apply or Troubles change. Pending signals are combined.
func (s *Stapler) Watch() <-chan struct{} { return s.changes }

// Use sets the certificates in use to those of d that clients can get. It forgets others.
func (s *Stapler) Use(d model.Dynamic) {
	now := used{d.Stapling, d.Certificates, d.Names}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used.same(now) {
		return
	}
	s.used, s.stapled = now, nil
	shown := map[string]bool{}
	if d.Stapling {
		for _, name := range d.Names {
			shown[name.ID] = true
		}
	}
	wanted := map[string]bool{}
	for _, c := range d.Certificates {
		if !shown[c.ID] || c.Responder == "" {
			continue
		}
		if wanted[c.ID] = true; s.of[c.ID] == nil {
			s.of[c.ID] = &certificate{due: time.Now()}
		}
		s.of[c.ID].Certificate = c // another Secret may have it now
	}
	maps.DeleteFunc(s.of, func(id string, _ *certificate) bool { return !wanted[id] })
	signal(s.wake)
}

// Apply returns d with the valid responses of its certificates. d itself does not change.
func (s *Stapler) Apply(d model.Dynamic) model.Dynamic {
	if !d.Stapling {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stapled == nil {
		s.stapled = []*model.Staple{}
		for _, c := range s.of {
			if c.staple != nil {
				s.stapled = append(s.stapled, c.staple)
			}
		}
		slices.SortFunc(s.stapled, func(a, b *model.Staple) int { return strings.Compare(a.ID, b.ID) })
	}
	d.Staples = slices.Clip(s.stapled)
	return d
}

// Trouble is a certificate without a valid response. Text is the cause.
type Trouble struct{ Namespace, Name, Text string }

// Troubles returns the certificates in use without a valid response whose last question
// failed, sorted.
func (s *Stapler) Troubles() []Trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Trouble
	for _, c := range s.of {
		if c.trouble != "" && c.staple == nil {
			all = append(all, Trouble{c.Namespace, c.Name, c.trouble})
		}
	}
	slices.SortFunc(all, func(a, b Trouble) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Text, b.Text))
	})
	return slices.Compact(all)
}

// Run asks for responses until ctx ends. It returns when all questions have ended.
func (s *Stapler) Run(ctx context.Context) {
	var questions sync.WaitGroup
	defer questions.Wait()
	for {
		// A timer does not see a jump of the clock.
		timer := time.NewTimer(min(s.step(ctx, &questions), longestSleep))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause): // a step looks at all certificates
		}
	}
}

// step drops expired responses, starts questions, and signals changes. It returns the time
// until there is more to do.
func (s *Stapler) step(ctx context.Context, questions *sync.WaitGroup) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	next := s.expire(now)
	chosen, wait := s.nextDue(now)
	for _, c := range chosen {
		about := c.Certificate // its Secret may move meanwhile
		questions.Go(func() {
			answer, fault := s.ask(ctx, about)
			s.learn(ctx, c, about.Namespace, answer, fault)
		})
	}
	return min(next, wait, s.tell(now))
}

// expire drops the responses that are no longer valid. It returns the time until the next
// one expires.
func (s *Stapler) expire(now time.Time) time.Duration {
	next := latest
	for _, c := range s.of {
		if c.staple == nil {
			continue
		}
		if left := time.Unix(c.staple.Until, 0).Sub(now); left > 0 {
			next = min(next, left)
			continue
		}
		c.staple = nil
		if c.failures == 0 {
			c.due = now // the clock jumped past the time at which to ask
		}
		s.note()
	}
	return next
}

// learn stores the result of a question with a slot of a namespace. An old response stays until
// it expires, unless the certificate is revoked.
func (s *Stapler) learn(ctx context.Context, c *certificate, namespace string, a answer, fault string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer signal(s.wake)
	c.asking = false
	s.slots.add(namespace, -1)
	if ctx.Err() != nil || s.of[c.ID] != c {
		return
	}
	now := time.Now()
	s.logTrouble(c, fault)
	if fault != "" {
		if fault == revoked && c.staple != nil {
			c.staple = nil
			s.note()
		}
		c.due = now.Add(min(retryAfter<<min(c.failures, 10), longestRetry))
		c.failures++
		return
	}
	c.failures = 0
	c.due = now.Add(max(soonest, min(a.until.Sub(now)/2, latest)))
	c.staple = &model.Staple{ID: c.ID, Response: a.response, Until: a.until.Unix()}
	s.note()
}

// logTrouble logs the beginning, the change and the end of a trouble.
func (s *Stapler) logTrouble(c *certificate, fault string) {
	if fault == c.trouble {
		return
	}
	secret := c.Namespace + "/" + c.Name
	if c.trouble = fault; c.staple == nil {
		s.troubled = true
	}
	if fault == "" {
		s.log.Info("a certificate has an OCSP response again", "secret", secret)
		return
	}
	s.log.Warn("no new OCSP response for a certificate", "secret", secret, "responder", model.OneLine(c.Responder, 200), "reason", fault)
}

// note records a change for the next signal.
func (s *Stapler) note() { s.changed, s.stapled = true, nil }

// tell signals a change unless the last signal is recent. It returns the time until it may.
func (s *Stapler) tell(now time.Time) time.Duration {
	since := gather
	switch {
	case s.changed:
	case s.troubled:
		since = gatherTroubles
	default:
		return latest
	}
	if wait := s.signalled.Add(since).Sub(now); wait > 0 {
		return wait
	}
	s.changed, s.troubled, s.signalled = false, false, now
	signal(s.changes)
	return latest
}

// signal puts a token into a channel with room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
