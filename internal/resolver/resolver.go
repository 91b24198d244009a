// Package resolver keeps the addresses of ExternalName services up to date, because nginx
// cannot. It takes a model.Dynamic whose backends have names. It returns one whose backends
// have the addresses as endpoints, and a signal when they change:
//
//	names := resolver.New(resolver.Options{})
//	go names.Run(ctx)
//	d = resolver.Fill(d, names.Use(d))
//	<-names.Watch() // then fill again
package resolver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/internal/model"
)

const (
	// retryAfter is the delay before a failed question is repeated; it doubles with each
	// failure up to longestRetry.
	retryAfter   = time.Second
	longestRetry = time.Minute
	// firstLimit is the maximum time for the first question for a name, and for one after
	// an answer. retryLimit is that for others, which is enough to ask every server in
	// each search domain if the first server is dead.
	firstLimit = 2 * time.Second
	retryLimit = 40 * time.Second
	// newFor is how long others wait for the first answer for a name.
	newFor = time.Second
	// mostAddresses is the maximum number of addresses of a name. translate keeps memory
	// for that number.
	mostAddresses = 64
)

// Answers are the addresses of names, each list sorted. A name that is missing
// has no answer yet.
type Answers map[string][]netip.Addr

// externalNames returns the names that d's backends need, with the namespaces that need
// each.
func externalNames(d model.Dynamic) map[string][]string {
	names := map[string][]string{}
	for _, b := range d.Backends {
		if b.ExternalName != "" && !slices.Contains(names[b.ExternalName], b.Target.Namespace) {
			names[b.ExternalName] = append(names[b.ExternalName], b.Target.Namespace)
		}
	}
	return names
}

// Fill returns d with the answers as the endpoints of its external backends. A
// backend without an answer has no endpoints. d itself does not change.
func Fill(d model.Dynamic, answers Answers) model.Dynamic {
	if !slices.ContainsFunc(d.Backends, func(b *model.Backend) bool { return b.ExternalName != "" }) {
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

// Options configure a Resolver. With the zero value it asks like other programs on this
// host.
type Options struct {
	// Conf is a file in the format of resolv.conf(5), which is read for each question.
	// Empty means /etc/resolv.conf.
	Conf string
	// Port is the port of the servers; empty means 53.
	Port string
	// Dial connects to a server; nil means by the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Logger gets one line for each name when a trouble begins, changes or ends; nil
	// means slog.Default().
	Logger *slog.Logger
}

// Resolver keeps the addresses of the names in use up to date. It asks again when an answer
// is no longer valid. While DNS fails, it keeps the last good answer, which can be "no such
// name".
type Resolver struct {
	options Options
	changes chan struct{}
	wake    chan struct{}

	mu    sync.Mutex
	names map[string]*name
	slots slots
	// ipv4 is set if no name is asked for IPv6 addresses.
	ipv4 bool
	// questions and failures count those of all names.
	questions, failures uint64
}

// name is the state of one name.
type name struct {
	known     bool
	addresses []netip.Addr
	refused   []netip.Addr // of the last good answer
	last      lists
	trouble   trouble
	due       time.Time
	asking    bool
	// since is when the name came into use. namespaces are those that use it.
	since      time.Time
	namespaces []string
	// failures is the number of consecutive failed questions.
	failures int
}

// trouble describes why a name does not resolve well; empty if it does.
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

// few lists at most five addresses, because the owner of a name can return thousands.
func few(addresses []netip.Addr) string {
	const most = 5
	text := strings.Trim(fmt.Sprint(addresses[:min(most, len(addresses))]), "[]")
	if more := len(addresses) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// WantedAddresses describes the addresses that a name can have.
const WantedAddresses = "want addresses that are not loopback, link-local, unspecified, multicast or those of a cloud's metadata"

// Trouble is a name in use without addresses, or with refused addresses. Text is the cause,
// without the effect.
type Trouble struct {
	Name, Text string
	// Refused is set if some of its addresses are refused.
	Refused bool
}

// Troubles returns the troubles of the names in use, sorted.
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
		case !n.known && n.failures > 0:
			all = append(all, Trouble{Name: text, Text: "DNS does not answer for " + text})
		}
	}
	slices.SortFunc(all, func(a, b Trouble) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Counts are those of a Resolver.
type Counts struct {
	// Names are in use. Troubled are those of them without addresses, or with refused ones.
	Names, Troubled int
	// Questions were asked, and Failures of them were not answered.
	Questions, Failures uint64
}

// Counts returns the counts of now.
func (r *Resolver) Counts() Counts {
	troubled := len(r.Troubles())
	r.mu.Lock()
	defer r.mu.Unlock()
	return Counts{Names: len(r.names), Troubled: troubled, Questions: r.questions, Failures: r.failures}
}

// New returns a Resolver, which asks nothing before Run.
func New(options Options) *Resolver {
	if options.Conf == "" {
		options.Conf = "/etc/resolv.conf"
	}
	if options.Port == "" {
		options.Port = "53"
	}
	if options.Dial == nil {
		options.Dial = new(net.Dialer).DialContext
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	return &Resolver{
		options: options,
		changes: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		names:   map[string]*name{},
	}
}

// Watch signals that answers have changed, or the results of Troubles or Unanswered.
// Pending signals are combined.
func (r *Resolver) Watch() <-chan struct{} { return r.changes }

// Use sets the names in use to those of d, and returns the current answers for them. The
// resolver forgets other names.
func (r *Resolver) Use(d model.Dynamic) Answers {
	wanted := externalNames(d)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ipv4 != d.IPv4Names {
		r.ipv4 = d.IPv4Names
		for _, n := range r.names {
			n.due, n.last = time.Now(), lists{}
		}
		signal(r.wake)
	}
	maps.DeleteFunc(r.names, func(text string, _ *name) bool { return wanted[text] == nil })
	answers := Answers{}
	for text, namespaces := range wanted {
		n, ok := r.names[text]
		if !ok {
			now := time.Now()
			n = &name{since: now, due: now}
			r.names[text] = n
			signal(r.wake)
		} else if n.known {
			answers[text] = n.addresses
		}
		n.namespaces = namespaces
	}
	return answers
}

// Unanswered returns the names whose first question has not ended. wait is how long to wait
// for them, until at most a second after they came into use. It does not count names that
// are used only by namespaces with a name that was not answered within that second.
func (r *Resolver) Unanswered() (names map[string]bool, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	late := map[string]bool{}
	for _, n := range r.names {
		for _, namespace := range n.namespaces {
			late[namespace] = late[namespace] || !n.known && n.newFor() <= 0
		}
	}
	names = map[string]bool{}
	for text, n := range r.names {
		if n.known || n.failures > 0 {
			continue
		}
		names[text] = true
		if slices.ContainsFunc(n.namespaces, func(namespace string) bool { return !late[namespace] }) {
			wait = max(wait, n.newFor())
		}
	}
	return names, wait
}

// newFor returns the remaining time to wait for the first answer.
func (n *name) newFor() time.Duration {
	if n.failures > 0 {
		return 0
	}
	return time.Until(n.since.Add(newFor))
}

// Run asks for the names in use until ctx ends. It returns when all questions have ended.
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

// ask asks for a name once. last are the last good answers for it.
func (r *Resolver) ask(ctx context.Context, text string, last lists, ipv4 bool, limit time.Duration) {
	question, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := r.resolve(question, text, last, ipv4)
	if ctx.Err() == nil {
		r.learn(text, answer, err)
	}
}

// resolve asks DNS for a name.
func (r *Resolver) resolve(ctx context.Context, text string, last lists, ipv4 bool) (found, error) {
	lookup, err := newLookup(r.options.Conf, r.options.Port)
	if err != nil {
		return found{}, err
	}
	if limit, ok := ctx.Deadline(); ok {
		// Two attempts fit into the limit, because a packet can get lost.
		lookup.timeout = min(lookup.timeout, time.Until(limit)/2)
	}
	lookup.dial = r.options.Dial
	lookup.ipv4 = ipv4
	return lookup.resolve(ctx, text, last)
}

// learn stores the answer for a name, if the name is still in use.
func (r *Resolver) learn(text string, answer found, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.questions++
	if err != nil {
		r.failures++
	}
	n, ok := r.names[text]
	if !ok {
		return
	}
	n.asking = false
	r.log(text, n, troubleOf(answer, err), errors.Join(err, answer.partial))
	if err != nil {
		n.due = time.Now().Add(min(retryAfter<<min(n.failures, 10), longestRetry))
		if n.failures++; n.failures == 1 && !n.known {
			signal(r.changes) // Unanswered no longer includes it
		}
		return
	}
	n.failures = 0
	n.last = answer.lists
	n.due = time.Now().Add(answer.ttl)
	if n.known && slices.Equal(n.addresses, answer.addresses) && slices.Equal(n.refused, answer.refused) {
		return
	}
	n.known, n.addresses, n.refused = true, answer.addresses, answer.refused
	signal(r.changes)
}

// log logs the beginning, the change and the end of a trouble. It compares the kinds,
// because the text of an error contains a different local port each time.
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

// signal puts a token into a channel with room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
