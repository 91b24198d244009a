// Package resolver keeps the addresses of ExternalName services up to date. nginx
// can neither wait for DNS nor notice a change in it. The input is a
// model.Dynamic whose backends have names; the output is one whose backends have
// the addresses as endpoints, and a signal when they change:
//
//	names := resolver.New(resolver.Options{})
//	go names.Run(ctx)
//	d = names.Fill(d)
//	<-names.Watch() // then fill again
package resolver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/model"
)

const (
	// retryAfter is the time until a name that could not be asked for is
	// asked for again.
	retryAfter = 5 * time.Second
	// mostAddresses is how many addresses of a name are used: translate keeps room
	// for as many.
	mostAddresses = 64
	// lookups bounds how many names are asked for at once.
	lookups = 16
)

// Answers are the addresses of names, each list sorted. A name that is missing
// has no answer yet.
type Answers map[string][]netip.Addr

// ExternalNames returns the names that d's backends need, sorted.
func ExternalNames(d model.Dynamic) []string {
	names := map[string]bool{}
	for _, b := range d.Backends {
		if b.ExternalName != "" {
			names[b.ExternalName] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Fill returns d with the answers as the endpoints of its external backends. A
// backend without an answer has no endpoints. d itself does not change.
func Fill(d model.Dynamic, answers Answers) model.Dynamic {
	if len(ExternalNames(d)) == 0 {
		return d
	}
	filled := d
	filled.Backends = slices.Clone(d.Backends)
	for i, b := range filled.Backends {
		if b.ExternalName == "" {
			continue
		}
		with := *b
		with.Endpoints = nil
		addresses := answers[b.ExternalName]
		for _, address := range addresses[:min(len(addresses), mostAddresses)] {
			with.Endpoints = append(with.Endpoints, model.Endpoint{Address: address.String(), Port: b.ExternalPort})
		}
		filled.Backends[i] = &with
	}
	return filled
}

// Options say where to ask. The zero value asks as any program on this host does.
type Options struct {
	// Conf is a file in the format of resolv.conf(5); it is read again for
	// each question. Empty means /etc/resolv.conf.
	Conf string
	// Port is where its servers listen; empty means 53.
	Port string
	// Logger takes one line for each name when its trouble begins, changes
	// and ends; nil means slog.Default().
	Logger *slog.Logger
}

// Resolver keeps the addresses of the names in use up to date: it asks again
// when the time that an answer is valid has passed. It keeps the last good
// answer while DNS fails; an answer that there is no such name is a good one.
type Resolver struct {
	options Options
	changes chan struct{}
	wake    chan struct{}
	slots   chan struct{}

	mu    sync.Mutex
	names map[string]*name
}

// name is what is known of one name.
type name struct {
	known     bool
	addresses []netip.Addr
	refused   []netip.Addr // of the last good answer
	// unanswered is set if DNS could not be asked, and never answered before.
	unanswered bool
	last       lists
	trouble    trouble
	due        time.Time
	asking     bool
}

// trouble is why a name is not answered well; empty if it is.
type trouble string

func troubleOf(answer found, err error) trouble {
	switch {
	case err != nil:
		return "DNS cannot be asked; the last answer is kept"
	case answer.partial != nil:
		return "DNS cannot be asked for all addresses; the last answer is kept where it cannot"
	case len(answer.refused) > 0:
		return trouble(fmt.Sprintf("refused %s: %s", few(answer.refused), WantedAddresses))
	case len(answer.addresses) == 0:
		return "it has no address"
	}
	return ""
}

// few lists five addresses at most: whose name it is may have DNS give thousands.
func few(addresses []netip.Addr) string {
	const most = 5
	text := strings.Trim(fmt.Sprint(addresses[:min(most, len(addresses))]), "[]")
	if more := len(addresses) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// WantedAddresses says which addresses a name may have.
const WantedAddresses = "want addresses that are not loopback, link-local, unspecified, multicast or those of a cloud's metadata"

// Trouble is a name in use without addresses, or with addresses that nobody may be led
// to. Text says which, without the consequence.
type Trouble struct {
	Name, Text string
	// Refused is set if the name has addresses, and some are refused.
	Refused bool
}

// Troubles gives those of the names in use, sorted.
func (r *Resolver) Troubles() []Trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Trouble
	for text, n := range r.names {
		switch {
		case len(n.refused) > 0:
			all = append(all, Trouble{text, fmt.Sprintf("DNS says that %s is at %s: %s", text, few(n.refused), WantedAddresses), true})
		case n.known && len(n.addresses) == 0:
			all = append(all, Trouble{Name: text, Text: "DNS has no address for " + text})
		case n.unanswered:
			all = append(all, Trouble{Name: text, Text: "DNS does not answer for " + text})
		}
	}
	slices.SortFunc(all, func(a, b Trouble) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// New returns a resolver that begins to ask when Run is called.
func New(options Options) *Resolver {
	if options.Conf == "" {
		options.Conf = "/etc/resolv.conf"
	}
	if options.Port == "" {
		options.Port = "53"
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	return &Resolver{
		options: options,
		changes: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		slots:   make(chan struct{}, lookups),
		names:   map[string]*name{},
	}
}

// Watch signals that answers have changed, those of Troubles included. One signal
// may stand for several changes.
func (r *Resolver) Watch() <-chan struct{} { return r.changes }

// Fill is the function Fill with the current answers. The names of d are those in
// use from now on; the resolver forgets all others.
func (r *Resolver) Fill(d model.Dynamic) model.Dynamic {
	return Fill(d, r.use(ExternalNames(d)))
}

// use sets the names in use and gives the present answers for them.
func (r *Resolver) use(wanted []string) Answers {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.names, func(text string, _ *name) bool {
		_, found := slices.BinarySearch(wanted, text)
		return !found
	})
	answers := Answers{}
	for _, text := range wanted {
		n, ok := r.names[text]
		if !ok {
			r.names[text] = new(name)
			signal(r.wake)
		} else if n.known {
			answers[text] = n.addresses
		}
	}
	return answers
}

// Run asks for the names in use until ctx is done and all questions have ended.
func (r *Resolver) Run(ctx context.Context) {
	var questions sync.WaitGroup
	defer questions.Wait()
	for {
		timer := time.NewTimer(r.askDue(ctx, &questions))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// askDue starts what is due and gives the time until the next is.
func (r *Resolver) askDue(ctx context.Context, questions *sync.WaitGroup) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := maxTTL
	for text, n := range r.names {
		wait := time.Until(n.due)
		switch {
		case n.asking:
		case wait > 0:
			next = min(next, wait)
		default:
			n.asking = true
			questions.Go(func() { r.ask(ctx, text) })
		}
	}
	return next
}

func (r *Resolver) ask(ctx context.Context, text string) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return
	}
	answer, err := r.resolve(ctx, text, r.last(text))
	if ctx.Err() != nil {
		return
	}
	r.learn(text, answer, err)
	signal(r.wake)
}

// last gives the last good answers for a name.
func (r *Resolver) last(text string) lists {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, ok := r.names[text]; ok {
		return n.last
	}
	return lists{}
}

func (r *Resolver) resolve(ctx context.Context, text string, last lists) (found, error) {
	lookup, err := newLookup(r.options.Conf, r.options.Port)
	if err != nil {
		return found{}, err
	}
	return lookup.resolve(ctx, text, last)
}

// learn keeps the answer for a name, if the name is still in use.
func (r *Resolver) learn(text string, answer found, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.names[text]
	if !ok {
		return
	}
	n.asking = false
	r.log(text, n, troubleOf(answer, err), errors.Join(err, answer.partial))
	if err != nil {
		n.due = time.Now().Add(retryAfter)
		if !n.known && !n.unanswered {
			n.unanswered = true
			signal(r.changes)
		}
		return
	}
	n.last = answer.lists
	n.due = time.Now().Add(answer.ttl)
	if n.known && slices.Equal(n.addresses, answer.addresses) && slices.Equal(n.refused, answer.refused) {
		return
	}
	n.known, n.unanswered, n.addresses, n.refused = true, false, answer.addresses, answer.refused
	signal(r.changes)
}

// log prints trouble when it begins, becomes another and ends. The kinds are
// compared, as the text of an error has another local port each time.
func (r *Resolver) log(text string, n *name, kind trouble, err error) {
	if kind == n.trouble {
		return
	}
	n.trouble = kind
	if kind == "" {
		r.options.Logger.Info("external name resolves again", "name", text)
		return
	}
	attributes := []any{"name", text, "trouble", string(kind)}
	if err != nil {
		attributes = append(attributes, "error", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	r.options.Logger.Warn("external name does not resolve well", attributes...)
}

// signal wakes a receiver, or leaves the signal that is waiting already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
