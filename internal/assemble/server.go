package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// scope selects the paths of a host that are patterns.
type scope int

const (
	// literal: none.
	literal scope = iota
	// wholeHost: all of them, as ingress-nginx does.
	wholeHost
	// onlyAsking: the ImplementationSpecific ones of owners that ask for it, because of
	// regex-scope or because they do not decide for the host.
	onlyAsking
)

// builder makes the server of one host.
type builder struct {
	*Assembly
	host  *host
	input serverInput
	scope scope
	// asking are the rules whose paths were written as patterns, turning those of them that make
	// all paths of the host patterns. rules are those whose claims are being placed.
	asking, turning map[*claim.Rules]bool
	rules           *claim.Rules
	// taken are the claims by their matches.
	taken        map[match]*claim.Claim
	conditionals []*conditional
	// plain are the oldest claims without a match, nil before the first use; claimed are those
	// with one that count, and leftOut those that do not.
	plain   map[match]*claim.Claim
	claimed map[match][]*claim.Claim
	leftOut map[*claim.Claim]bool
	// lost are protected patterns that another owner has already.
	lost      []*model.Location
	locations []*model.Location
	internals internals
	// beginnings are the paths that are closed by their beginning.
	beginnings []beginning
	// appRootOwner is the owner of the app-root of the host, nil for none.
	appRootOwner *claim.Owner
	// last is the Proxy of the previous claim.
	last *model.Proxy
	// exacts are the decoded Exact paths of the host; nil before the first use.
	exacts map[string]bool
	// exactPatterns are the Exact paths, as written, that are patterns; nil before the first
	// use.
	exactPatterns map[string]bool
	// guarded are the answers of guardsService.
	guarded map[guarded]bool
	// canaries are those of the host, nil for none.
	canaries []*canary
	clients  clients
	// ciphers and preferCiphers are those of the host, empty for those of the settings.
	// ciphersBy is the owner that decided, nil for none.
	ciphers, preferCiphers string
	ciphersBy              *claim.Owner
	snippet                serverSnippet
	out                    *builtServer
}

// match is the request paths of a claim. Two claims with the same one conflict.
type match struct {
	modifier model.Modifier
	path     string
	// conditions are those of a conditional claim, as one text.
	conditions string
}

// build makes the server of a host from its rules, the oldest first.
func (t *Assembly) build(h *host, in serverInput) *builtServer {
	b := t.locate(h, in)
	b.remarkCanaries()
	b.remarkGuests()
	b.crossings()
	b.finish()
	return b.out
}

// locate makes the locations of a host, sorted and checked.
func (t *Assembly) locate(h *host, in serverInput) *builder {
	b := t.placeBesideSnippet(h, in)
	b.hold()
	b.shareSteps()
	return b
}

// place makes the locations of a host and sorts them.
func (t *Assembly) place(h *host, in serverInput, refused []refusedSnippet) *builder {
	b := &builder{Assembly: t, host: h, input: in, taken: map[match]*claim.Claim{}, out: &builtServer{}, snippet: serverSnippet{refused: refused},
		claimed: map[match][]*claim.Claim{}, leftOut: map[*claim.Claim]bool{}}
	b.listCanaries()
	b.decideScope()
	b.decideClients()
	b.decideCiphers()
	b.decideSnippet()
	b.appRoot()
	for _, rules := range h.rules {
		b.rules = rules
		for i := range rules.Claims {
			b.claim(&rules.Claims[i])
		}
	}
	b.closeBeginnings()
	b.fallback()
	b.dispatch()
	b.health()
	b.status()
	b.shadows()
	b.steps()
	b.covered()
	b.sort()
	b.closeOverlaps()
	return b
}

// finish makes the server. A redirect to HTTPS that all locations share moves to the
// server.
func (b *builder) finish() {
	server := &model.Server{
		Host: b.host.name, Aliases: strings.Fields(b.input.aliases), AliasesOnly: b.input.aliasesOnly,
		TLS: b.ownTLS(), Blocks: append(b.clientBlocks(), b.snippetBlocks()...),
	}
	server.AnyLabels = b.anyLabels()
	if b.input.miss != nil && !server.AnyLabels {
		b.internals.found = append(b.internals.found, model.MissOf(b.input.miss))
	}
	server.Internal = b.internals.sorted()
	// A closed path below model.InternalPrefix must not replace an internal location.
	server.Locations = slices.DeleteFunc(b.locations, func(l *model.Location) bool {
		return l.Modifier == model.Equal && server.InternalFor(l.Path) != nil
	})
	if len(server.Aliases) > 0 {
		server.AliasesFrom = b.host.firstAliased().Ref
	}
	for _, l := range b.locations {
		if l.Rule.Kind != model.RuleShadow && l.IsRoot() {
			root := *l
			b.out.root = &root
		}
	}
	if common := commonRedirect(b.locations); common != nil && b.snippet.by == nil && !b.Settings.AnswersPlainHTTP() {
		server.RedirectToHTTPS = common
		for _, l := range b.locations {
			l.RedirectToHTTPS = nil
		}
	}
	b.out.server = server
}

// tell reports Problems of the server.
func (b *builder) tell(problems ...model.Problem) {
	b.out.problems = append(b.out.problems, problems...)
}

// tellOnce reports a Problem unless it is reported already.
func (b *builder) tellOnce(p model.Problem) {
	if !slices.Contains(b.out.problems, p) {
		b.tell(p)
	}
}

// anyLabels reports whether the "*" of the host stands for any number of labels. All
// rules of the host must say so; otherwise those that do get a Problem.
func (b *builder) anyLabels() bool {
	one := slices.IndexFunc(b.host.rules, func(r *claim.Rules) bool { return !r.AnyLabels })
	if one < 0 {
		return b.host.wildcard() && len(b.host.rules) > 0
	}
	for _, r := range b.host.rules {
		if r.AnyLabels {
			b.tell(model.Problem{Object: r.Owner.Ref, Field: r.Field, Reason: model.Ambiguous,
				Text: fmt.Sprintf("the * of %s stands for one label, as %s has it so: use another host for more", hostWords(b.host.name), b.host.rules[one].Owner.Ref)})
		}
	}
	return false
}

// first is the rules of the oldest owner of the host. It is nil for a vacant host and
// for the catch-all host, whose fallback has no owner.
func (b *builder) first() *claim.Rules {
	if b.host.name == "" || len(b.host.rules) == 0 {
		return nil
	}
	return b.host.rules[0]
}

// problem reports a fault of a claim.
func (b *builder) problem(c *claim.Claim, field string, reason model.Reason, text string) {
	if c.Action.Redirect != nil {
		field = "" // its field is an annotation
	}
	b.tell(model.Problem{Object: c.Owner.Ref, Field: c.Field + field, Reason: reason, Text: text})
}

// location makes the location of a claim without its modifier and path.
func (b *builder) location(c *claim.Claim, kind model.RuleKind) *model.Location {
	l := b.decorated(c, kind)
	url, code := c.Annotations.Redirect.To()
	switch {
	case l.Return != nil:
	case c.Action.Redirect != nil:
		b.redirectTo(l, c)
	case url != "":
		l.Return = &model.Return{Code: code, URL: url, Relative: relative(c.Owner, c.Annotations)}
	default:
		l.RedirectToHTTPS, l.PlainHTTP = b.redirect(c)
		b.passOn(l, c)
	}
	return l
}

// decorated makes the location of a claim without its Proxy or Return. A denied or
// closed claim returns 503.
func (b *builder) decorated(c *claim.Claim, kind model.RuleKind) *model.Location {
	l := &model.Location{Rule: model.Rule{Object: c.Owner.Ref, Field: c.Field, Path: c.Path, PathType: string(c.PathType), Kind: kind, Protects: c.Guards()}}
	if c.Closed {
		l.Rule.Kind = model.RuleClosed
	}
	if b.closes(c) {
		l.Return = &model.Return{Code: 503}
		return l
	}
	l.Blocks = b.once(c)
	b.trace(l, c)
	b.checkClients(l, c)
	b.authenticate(l, c)
	if l.Return == nil {
		l.Computed = append(l.Computed, c.Annotations.Limits.Computed()...)
	}
	return l
}

// closes reports whether a claim returns 503.
func (b *builder) closes(c *claim.Claim) bool {
	return c.IsDenied() || c.Closed || b.closesClients(c.Owner) || b.closesSnippet(c.Owner) || b.awaitsSnippet(c.Owner)
}

// passOn passes to the Service of a claim, or to the default backend if it names none.
func (b *builder) passOn(l *model.Location, c *claim.Claim) {
	defer b.mirror(l, c)
	if c.Action.Default {
		b.passToDefault(l)
		return
	}
	if fault := c.Action.Service.Fault; fault != nil {
		b.problem(c, c.BackendField()+fault.Field, fault.Reason, fault.Text)
		l.Return = &model.Return{Code: 503}
		return
	}
	l.Proxy = b.proxy(c)
}

// proxy passes to the Service that a claim names.
func (b *builder) proxy(c *claim.Claim) *model.Proxy {
	b.remarkCookiePath(c)
	id := serviceID(c)
	b.remarkUnchecked(c, c)
	p := b.passBalanced(id, c, balancingOf(c))
	p.Transport = transportOf(c)
	main := p
	if b.canaries != nil {
		p = b.withCanaries(c, id, main)
	}
	if p == main {
		p = b.withCookie(c, id, main)
	}
	// Most paths of an owner have the same Proxy, and share it.
	if b.last == nil || *b.last != *p {
		b.last = p
	}
	return b.last
}

// passBalanced passes to a backend with its own balancing; nil for picking in turn.
func (b *builder) passBalanced(id BackendID, c *claim.Claim, balancing *model.Balancing) *model.Proxy {
	if balancing != nil {
		id.variant = hashOf(balancing)
		b.backendOf(id).Balancing = balancing
	}
	p := b.pass(id, c)
	p.Watched = balancing.Watches()
	return p
}

// passSplit passes to a split of claims. Its key is that of the main backend with the
// variant of the ID, so that nginx finds the main backend if it has no room for the split.
func (b *builder) passSplit(id BackendID, main *model.Proxy, split *model.Split, claims ...*claim.Claim) *model.Proxy {
	plain := BackendID{Service: id.Service, Port: id.Port}
	id.variant = strings.TrimPrefix(strings.TrimPrefix(main.Backend, plain.key())+"~"+id.variant, "~")
	entry := b.backendOf(id)
	if entry.Split == nil || hashOf(entry.Split) != hashOf(split) {
		entry.Split = split
	}
	for _, c := range claims {
		b.out.uses = append(b.out.uses, useOf(entry, c))
	}
	p := b.pass(id, nil)
	p.Service, p.Transport, p.Watched = main.Service, main.Transport, main.Watched
	return p
}

// pass passes to a backend and records its use; c is nil if no field of a claim names
// it.
func (b *builder) pass(id BackendID, c *claim.Claim) *model.Proxy {
	u := useOf(b.backendOf(id), c)
	b.out.uses = append(b.out.uses, u)
	return &model.Proxy{
		Backend: u.Backend.Key,
		Service: model.ServicePort{Namespace: id.Service.Namespace, Name: id.Service.Name, Port: id.Port},
	}
}
