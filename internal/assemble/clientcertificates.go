package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// The blocks of client certificates: that of the server, and that of each location.
const (
	clientCertificates = "client-certificates"
	clientCheck        = "client-check"
)

// The keys of annotations, without their prefix.
const (
	clientSecretKey = "auth-tls-secret"
	clientVerifyKey = "auth-tls-verify-client"
)

// The values of auth-tls-verify-client.
const (
	verifyOff      = "off"
	verifyOn       = "on"
	verifyOptional = "optional"
	verifyAny      = "optional_no_ca"
)

// clientCertificatesBlock is printed in the server.
type clientCertificatesBlock struct {
	ErrorPage string `json:"errorPage,omitempty"`
	// Pages give the refusals of nginx as other statuses; only without ErrorPage.
	Pages []errorPage `json:"pages,omitempty"`
	Pass  bool        `json:"pass,omitempty"`
}

// clientCheckBlock checks the result of the verification in a location, because the server
// may be looser, and because nginx verifies only connections with TLS.
type clientCheckBlock struct {
	// Subject is the pattern that the distinguished name must match, empty for any.
	Subject string `json:"subject,omitempty"`
	// Required is set if only clients with a valid certificate pass. RequiredByTLS is
	// the same for requests over TLS.
	Required      bool `json:"required,omitempty"`
	RequiredByTLS bool `json:"requiredByTLS,omitempty"`
	// Valid is set if a client must not have an invalid certificate.
	Valid bool `json:"valid,omitempty"`
}

// clients is the verification of the clients of a host.
type clients struct {
	// by is the owner that decides, nil for none. ca is that of its Secret, verify the
	// loosest of its values for its paths.
	by     *claim.Owner
	ca     *model.ClientCA
	verify string
	// broken is the owner whose certificates cannot be asked for, so that the whole host
	// returns 503; nil for none.
	broken *claim.Owner
	// refused are owners whose certificates differ from those of by.
	refused map[*claim.Owner]bool
}

// asksClients reports whether an owner wants certificates of clients.
func asksClients(o *claim.Owner) bool {
	return slices.Contains(o.Annotations.Protects(), clientCertificates)
}

// clientCA is the authorities that an owner trusts, nil if its annotations cannot be
// honoured.
func clientCA(o *claim.Owner) *model.ClientCA {
	if o.Denied || o.Annotations.LeftOut(clientCheck) || o.AttachedTo(o.Annotations.ClientCheck).Denied {
		return nil
	}
	return o.AttachedTo(o.Annotations.ClientCertificates).ClientCA
}

// decideClients decides which certificates the clients of the host need. As in
// ingress-nginx, the oldest owner that asks decides for all paths. Others that ask must
// trust the same authorities, as nginx verifies a connection and not a request.
func (b *builder) decideClients() {
	b.clients.refused = map[*claim.Owner]bool{}
	for _, rules := range b.host.rules {
		owner, ca := rules.Owner, clientCA(rules.Owner)
		undecided := b.clients.by == nil && b.clients.broken == nil
		switch {
		case !asksClients(owner):
		case b.host.name == "" && owner.Annotations.Emptied(clientCertificates): // its own paths return 503
		case b.host.name == "":
			if b.clients.broken == nil && !b.host.foreign(rules) {
				b.clients.broken = owner
			}
			b.refuseClients(owner, model.InvalidValue, "want a host: the TLS of requests without one is that of hosts of others, whose clients would be asked for certificates too")
		case ca == nil && undecided && !b.host.foreign(rules):
			b.clients.broken = owner
		case ca == nil || b.clients.broken != nil: // its paths return 503
		case undecided && b.host.decides(rules):
			b.clients.by, b.clients.ca, b.clients.verify = owner, ca, loosest(owner)
		case b.clients.by == nil:
			b.refuseClients(owner, model.NotDelegated, fmt.Sprintf("%s owns %s and asks for no certificates of clients: ask the owner to set it there, or use another host", b.host.oldest.Ref, hostWords(b.host.name)))
		case *ca != *b.clients.ca:
			b.refuseClients(owner, model.Conflict, fmt.Sprintf("%s verifies the clients of %s with other authorities, revocation lists or another depth, and nginx verifies a connection once: use the same, or another host", b.clients.by.Ref, hostWords(b.host.name)))
		default:
			b.remarkClients(owner)
		}
	}
	b.remarkBroken()
}

// loosest is the verification that suffices for the least strict path of an owner.
func loosest(o *claim.Owner) string {
	seen := map[string]bool{}
	for each := range o.Annotations.Each() {
		seen[each.ClientCheck.Verify] = true
	}
	switch {
	case seen[verifyAny]:
		return verifyAny
	case seen[verifyOptional] || seen[verifyOn] && seen[verifyOff]:
		return verifyOptional
	case seen[verifyOn]:
		return verifyOn
	}
	return verifyOff
}

func (b *builder) refuseClients(owner *claim.Owner, reason model.Reason, text string) {
	b.clients.refused[owner] = true
	b.tell(model.Problem{Object: owner.Ref, Field: owner.PrefixKey + clientSecretKey, Reason: reason, Text: text, Denies: true})
}

// remarkClients reports values of a later owner that the deciding one overrules.
func (b *builder) remarkClients(later *claim.Owner) {
	by, own, first := b.clients.by, later.Annotations, b.clients.by.Annotations
	overruled := func(key string, differs bool) {
		if differs {
			b.tell(model.Problem{Object: later.Ref, Field: later.PrefixKey + key, Reason: model.Conflict,
				Text: fmt.Sprintf("%s decides it for %s, as it is older: write the same there", by.Ref, hostWords(b.host.name))})
		}
	}
	overruled("auth-tls-error-page", own.ClientCertificates.ErrorPage != first.ClientCertificates.ErrorPage)
	overruled("auth-tls-pass-certificate-to-upstream", own.ClientCertificates.Pass != first.ClientCertificates.Pass)
	overruled(clientVerifyKey, b.clients.verify == verifyOn && loosest(later) != verifyOn)
}

// remarkBroken tells the other owners of a closed host why it is closed.
func (b *builder) remarkBroken() {
	broken := b.clients.broken
	if broken == nil {
		return
	}
	for _, rules := range b.host.rules {
		if owner := rules.Owner; !b.clients.refused[owner] && owner != broken && (!asksClients(owner) || clientCA(owner) != nil) {
			b.tell(model.Problem{Object: owner.Ref, Field: owner.HostField(b.host.name), Reason: model.Conflict, Denies: true,
				Text: fmt.Sprintf("all paths of %s return 503: %s asks for certificates of clients, which cannot be verified (%s%s)", hostWords(b.host.name), broken.Ref, broken.PrefixKey, clientSecretKey)})
		}
	}
}

// closesClients reports whether the paths of an owner return 503 on this host because its
// clients cannot be verified.
func (b *builder) closesClients(o *claim.Owner) bool {
	return b.clients.broken != nil || b.clients.refused[o]
}

// requiresClients reports whether a claim takes only requests with a valid certificate.
func (b *builder) requiresClients(c *claim.Claim) bool {
	return b.clients.by != nil && asksClients(c.Owner) && c.Annotations.ClientCheck.Required()
}

// checkClients adds the check of a location.
func (b *builder) checkClients(l *model.Location, c *claim.Claim) {
	if b.clients.by == nil {
		return
	}
	block := b.clientCheckOf(c)
	if !asksClients(c.Owner) && block == (clientCheckBlock{}) {
		return
	}
	l.Blocks = append(slices.Clip(l.Blocks), model.Block{Name: clientCheck, Data: block, Source: c.Owner.Ref, Ends: true, Redirected: block.Subject != ""})
}

// clientCheckOf is the check of a path. Paths of owners that ask for nothing get that of
// the deciding one, as in ingress-nginx. Paths of no-tls-redirect-locations are served
// without TLS, and so without a certificate.
func (b *builder) clientCheckOf(c *claim.Claim) clientCheckBlock {
	if b.clients.by == nil {
		return clientCheckBlock{}
	}
	asked, own := b.clients.by.Annotations.ClientCheck, asksClients(c.Owner)
	if own {
		asked = c.Annotations.ClientCheck
	}
	block := clientCheckBlock{Subject: asked.Subject, Valid: asked.Verify == verifyOptional && b.clients.verify == verifyAny}
	plain := withoutTLS(c)
	switch {
	case !asked.Required():
	case own && !plain:
		block.Required = true
	default:
		block.RequiredByTLS = b.clients.verify != verifyOn
	}
	if plain {
		block.Subject = ""
	}
	return block
}

// withoutTLS reports whether one of no-tls-redirect-locations holds for a path, so that it is
// never redirected to HTTPS.
func withoutTLS(c *claim.Claim) bool {
	return settings.Covers(c.Owner.Settings.Redirects.NoTLSLocations, c.Path, c.Annotations.Rewrite.Target)
}

// clientBlocks are the blocks of the server.
func (b *builder) clientBlocks() []model.Block {
	by := b.clients.by
	if by == nil {
		return nil
	}
	asked := by.Annotations.ClientCertificates
	block := clientCertificatesBlock{ErrorPage: asked.ErrorPage, Pass: asked.Pass}
	if name, named := strings.CutPrefix(asked.ErrorPage, "@"); named && b.internals.has(name) {
		block.ErrorPage = ""
		b.tell(model.Problem{Object: by.Ref, Field: by.PrefixKey + "auth-tls-error-page", Reason: model.InvalidValue,
			Text: fmt.Sprintf("want a location of a snippet (got %s, a location of Sluice): nginx answers 400 itself", model.Quoted(asked.ErrorPage))})
	}
	b.remarkRefusals(block.ErrorPage)
	if block.ErrorPage == "" {
		block.Pages = b.refusalPages()
	}
	return []model.Block{{Name: clientCertificates, Data: block, Source: by.Ref}}
}
