package assemble

import (
	"fmt"
	"slices"
	"strconv"

	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// The data of the blocks: of a location with error pages, of one whose Service may have
// no endpoints, and of the internal locations that answer in their place.
type (
	errorsBlock struct {
		// Intercepts is set if answers of backends are replaced too.
		Intercepts bool
		// Recursive is set if the location of one page has pages too.
		Recursive bool
		Pages     []errorPage
	}
	errorPage struct {
		Codes []string
		// Sets is set if error_page has "=" with Status, which is empty for the one that the
		// error backend gives.
		Sets   bool
		Status string
		// To is the name of the internal location.
		To string
	}
	noEndpointsBlock struct {
		// To is the name of the internal location.
		To string
	}
	errorBlock struct {
		// Code is 0 if the location answers several errors.
		Code int
		// OfPage is set for error pages, OfService if the location with the error has a
		// Service.
		OfPage, OfService bool
		Object            model.ObjectRef
		// Hidden are headers that the error backend must not get from the client.
		Hidden []string
		// WithoutBody is set if nginx may not have read the body of the request.
		WithoutBody bool
	}
)

// Instead is the name of the internal location that answers without endpoints.
func (b noEndpointsBlock) Instead() string { return b.To }

// InPlaceOf returns the name of the internal location that answers in place of a status, empty
// for none, and the status that error_page gives, empty for that of the location.
func (b errorsBlock) InPlaceOf(code string) (to, status string) {
	for _, page := range b.Pages {
		if slices.Contains(page.Codes, code) {
			return page.To, page.Status
		}
	}
	return "", ""
}

// complete adds the parts of a location that depend on its path: the rewrite, and the
// answers in place of errors.
func (b *builder) complete(l *model.Location, c *claim.Claim, pattern string, names []string) {
	b.rewrite(l, c, pattern, names)
	b.errorPages(l, c)
}

// errorPages adds the answers in place of errors: those that users ask for come before
// those for gRPC clients.
func (b *builder) errorPages(l *model.Location, c *claim.Claim) {
	b.customErrors(l, c)
	if l.Proxy != nil && l.Proxy.Transport.Protocol == model.GRPC {
		b.grpcErrors(l)
	}
}

// errorsAt are the answers in place of errors of one location. claim is nil for none.
type errorsAt struct {
	*builder
	claim *claim.Claim
	at    *model.Location
	codes []string
	// intercepts is set if answers of backends are replaced too.
	intercepts bool
	// answers is the default-backend of the list; its Name is empty for that of the
	// controller alone.
	answers snapshot.Name
	// statuses are given as others; fallback is the path whose page answers in place of
	// 404, empty for none. Both come before the pages of codes.
	statuses keys.StatusPairs
	fallback string
}

// customErrors adds the answers in place of errors. Locations that deny or redirect have
// none.
func (b *builder) customErrors(l *model.Location, c *claim.Claim) {
	if l.Return != nil && *l.Return != (model.Return{Code: 404}) {
		return
	}
	set := b.Settings.Errors
	e := errorsAt{builder: b, claim: c, at: l, codes: set.Codes, intercepts: len(set.Codes) > 0 && !set.OnlyOwn}
	var service snapshot.Name
	if c != nil {
		asked := c.Annotations.CustomErrors
		if !c.Action.Default { // a path that nobody serves answers 404 before anything protects it
			service = b.errorService(c)
		}
		e.statuses = asked.Statuses
		e.fallback = e.fallbackPath(asked.Fallback)
		if len(asked.Codes) > 0 && b.fitsPages(c) {
			e.codes, e.intercepts, e.answers = asked.Codes, e.intercepts || !asked.OnlyOwn, service
		}
	}
	e.addPages()
	if service.Name != "" && c.Action.Service != nil && l.Proxy != nil {
		e.addFallback(service)
	}
}

// mostPages is the maximum number of statuses times paths of one Ingress. nginx needs some
// 600 bytes for each.
const mostPages = 50_000

// fitsPages reports whether the error pages of an Ingress are not too many. Otherwise it
// reports a problem.
func (b *builder) fitsPages(c *claim.Claim) bool {
	paths := 0
	for _, rules := range c.Owner.Hosts {
		paths += len(rules.Claims)
	}
	codes := len(c.Annotations.CustomErrors.Codes)
	if codes*paths <= mostPages {
		return true
	}
	b.tellOnce(model.Problem{Object: c.Owner.Ref, Field: c.Annotations.Field(c.Owner.PrefixKey, "custom-http-errors"), Reason: model.InvalidValue,
		Text: fmt.Sprintf("want at most %d statuses for the %d paths of this Ingress (got %d), because nginx keeps each status of each path: errors are answered as without it", mostPages/paths, paths, codes)})
	return false
}

// errorService is the Service of default-backend; its Name is empty for none. A refused
// request must not reach a Service that the same Ingress protects, not even its root.
func (b *builder) errorService(c *claim.Claim) snapshot.Name {
	service := snapshot.Name{Namespace: c.Owner.Ref.Namespace, Name: c.Annotations.CustomErrors.Backend}
	if service.Name == "" || !b.isProtected(c) || !b.guardsService(c.Owner, service) {
		return service
	}
	b.tellOnce(model.Problem{Object: c.Owner.Ref, Field: c.Annotations.Field(c.Owner.PrefixKey, defaultBackend), Reason: model.InvalidValue,
		Text: fmt.Sprintf("want a Service that this Ingress does not protect (got %s), because clients that may not reach it would get its answers: errors are answered as without it", claim.Shown(service.Name))})
	return snapshot.Name{}
}

// guardsService reports whether an owner protects a path of a Service.
func (b *builder) guardsService(owner *claim.Owner, service snapshot.Name) bool {
	key := guarded{owner, service}
	known, ok := b.guarded[key]
	if ok {
		return known
	}
	all := slices.Clip(owner.Hosts)
	if owner.Fallback != nil {
		all = append(all, &claim.Rules{Claims: []claim.Claim{*owner.Fallback}})
	}
	for c := range claimsOf(all) {
		known = known || c.Action.Service != nil && c.Action.Service.Name == service && b.isProtected(c)
	}
	if b.guarded == nil {
		b.guarded = map[guarded]bool{}
	}
	b.guarded[key] = known
	return known
}

// guarded is a question of guardsService.
type guarded struct {
	owner   *claim.Owner
	service snapshot.Name
}

// isProtected reports whether something else than limits protects a path: its own
// annotations, or the certificates that another owner of the host asks for.
func (b *builder) isProtected(c *claim.Claim) bool {
	return b.clientCheckOf(c) != (clientCheckBlock{}) || slices.ContainsFunc(c.Annotations.Protects(), func(name string) bool { return name != "limits" })
}

// defaultBackend is the annotation that names the Service.
const defaultBackend = "default-backend"

// addPages adds an error page for each status. A redirect to sign in comes before that
// for 401. Without an error backend, the pages are those of nginx.
func (e *errorsAt) addPages() {
	codes := slices.Compact(slices.Sorted(slices.Values(e.codes)))
	if e.signsIn() {
		codes = slices.DeleteFunc(codes, func(code string) bool { return code == "401" })
	}
	answer := e.backend()
	if answer == nil && e.at.Return != nil {
		codes = nil
	}
	block := errorsBlock{Intercepts: e.intercepts && len(codes) > 0}
	e.addOwnPages(&block)
	for _, kind := range kindsOf(slices.DeleteFunc(slices.Clone(codes), e.isAnswered)) {
		page := errorPage{Codes: kind.codes, Sets: kind.status != 0, To: e.page(kind, answer)}
		if page.Sets && e.keepsStatus() {
			page.Status = kind.codes[0]
		}
		block.Pages = append(block.Pages, page)
	}
	if e.fallback != "" {
		e.addFallbackPath(&block)
	}
	if len(block.Pages) == 0 {
		return
	}
	e.addBlock(e.at, "custom-errors", block)
	if !e.intercepts && e.claim != nil && e.claim.Action.Service != nil && e.at.Proxy != nil && (slices.Contains(codes, "503") || e.gives("503")) {
		e.unavailableWhenEmpty() // it is an error of nginx
	}
}

// keepsStatus reports whether clients get the status of the error, not that of the error
// backend.
func (e *errorsAt) keepsStatus() bool { return e.claim != nil && e.isProtected(e.claim) }

// pageKind are errors that one internal location answers.
type pageKind struct {
	codes []string
	// status is set for a single error whose status nginx replaces.
	status int
	// unread is set if nginx may not have read the body of the request.
	unread bool
}

// kindsOf sorts statuses by the location that answers them.
func kindsOf(codes []string) []pageKind {
	var kinds []pageKind
	for _, code := range codes {
		kind := pageKind{unread: code == "400" || code == "408" || code == "413"}
		if code >= "494" && code <= "497" {
			kind.status, _ = strconv.Atoi(code)
		}
		at := slices.IndexFunc(kinds, func(k pageKind) bool { return k.status == kind.status && k.unread == kind.unread })
		if at < 0 {
			at, kinds = len(kinds), append(kinds, kind)
		}
		kinds[at].codes = append(kinds[at].codes, code)
	}
	return kinds
}

// page adds the internal location for errors of a kind, and returns its name.
func (e *errorsAt) page(kind pageKind, answer *model.Proxy) string {
	l := derive(e.at, forErrors)
	if answer == nil {
		l.Return = &model.Return{Code: kind.status, OfError: kind.status == 0}
	} else {
		proxy := *answer
		proxy.OfError = model.StatusOfBackend
		if kind.status == 0 && e.keepsStatus() {
			proxy.OfError = model.StatusOfError
		}
		l.Proxy, l.Rewrite = &proxy, &model.Rewrite{Pattern: "^", Target: "/"}
	}
	if answer != nil {
		data := e.headers(kind.status)
		data.OfPage, data.Hidden = true, e.hidden()
		// nginx may have discarded the body, or passed it on without keeping it.
		data.WithoutBody = kind.unread || e.requestBuffering() == "off"
		lines := linesOf(e.at.Blocks)
		if e.keepsStatus() {
			lines = removing(lines) // they may tell of a client that was refused
		}
		e.addErrorBlock(l, data, lines)
	}
	return e.internals.add(model.Named, "errors", "", l)
}

func (e *errorsAt) requestBuffering() string {
	if e.claim == nil {
		return e.Settings.Proxy.RequestBuffering
	}
	return e.claim.Annotations.Buffers.Request
}

// addFallback passes requests to default-backend while the Service has no endpoints.
// That location has the blocks of this one, among them its protections.
func (e *errorsAt) addFallback(service snapshot.Name) {
	l := derive(e.at, forNoEndpoints)
	l.Proxy = e.passToService(service)
	l.Proxy.WhenEmpty = 503
	e.addErrorBlock(l, e.headers(503), linesOf(l.Blocks))
	to := e.internals.add(model.Named, "no-endpoints", "", l)
	e.addBlock(e.at, "no-endpoints", noEndpointsBlock{to})
	e.unavailableWhenEmpty()
}

// unavailableWhenEmpty makes 503 the status without endpoints. Locations share a Proxy.
func (e *errorsAt) unavailableWhenEmpty() {
	proxy := *e.at.Proxy
	proxy.WhenEmpty = 503
	e.at.Proxy = &proxy
}

// backend passes to the error backend: the Service of the annotation or, while it has no
// endpoints, the default backend. It returns nil for neither.
func (e *errorsAt) backend() *model.Proxy {
	var standard *model.Proxy
	id := BackendID{Service: e.Options.DefaultBackend, Port: DefaultPort}
	if id.Service.Name != "" {
		standard = e.pass(id, nil)
	}
	if e.answers.Name == "" {
		return standard
	}
	own := e.passToService(e.answers)
	if standard == nil || own.Backend == standard.Backend {
		return own
	}
	split := &model.Split{Main: standard.Backend, Total: 1, Shares: []model.Share{{Backend: own.Backend, Name: labelOf(own), Weight: 1}}}
	id.variant = "split-" + hashOf(split)
	return e.passSplit(id, standard, split)
}

// passToService passes to the first port of the Service of default-backend.
func (e *errorsAt) passToService(service snapshot.Name) *model.Proxy {
	id := BackendID{Service: service, Port: DefaultPort}
	field := e.claim.Annotations.Field(e.claim.Owner.PrefixKey, defaultBackend)
	use := Use{Backend: e.backendOf(id), Owner: e.claim.Owner, Field: field, PortField: field, Instead: "errors are answered as without it"}
	if !slices.Contains(e.out.uses, use) {
		e.out.uses = append(e.out.uses, use)
	}
	return e.pass(id, nil)
}

// headers are the headers that tell the error backend about the error.
func (e *errorsAt) headers(code int) errorBlock {
	return errorBlock{Code: code, Object: e.at.Rule.Object, OfService: e.claim != nil && e.claim.Action.Service != nil && e.at.Proxy != nil}
}

// hidden are the headers that nginx checks or replaces for the backend. The error
// backend gets none of them.
func (e *errorsAt) hidden() []string {
	if e.claim == nil {
		return nil
	}
	var names []string
	if e.claim.Annotations.BasicAuth.On() {
		names = append(names, "Authorization")
	}
	for _, header := range e.authentication().Answered() {
		names = append(names, header.Name)
	}
	return names
}

func (e *errorsAt) signsIn() bool {
	auth := e.authentication()
	return auth != nil && auth.Asked.SignIn != ""
}

func (e *errorsAt) authentication() *claim.Authentication {
	if e.claim == nil {
		return nil
	}
	return e.claim.Authentication()
}
