package assemble

import (
	"fmt"
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
)

// nginx refuses a connection without a valid certificate before it chooses a location, with
// 495 for an invalid one and 496 for none. So error-status of a location comes too late, and
// that of the owner that decides is for the whole server.

// refusals are the statuses that nginx itself gives before it chooses a location.
func (b *builder) refusals() []string {
	switch b.clients.verify {
	case verifyOn:
		return []string{"495", "496"}
	case verifyOptional:
		return []string{"495"}
	}
	return nil
}

// refusalPages are the statuses to give in place of those of refused certificates.
func (b *builder) refusalPages() (pages []errorPage) {
	at := errorsAt{builder: b, at: &model.Location{Rule: model.Rule{Object: b.clients.by.Ref}}}
	for _, pair := range b.given(b.clients.by.Annotations) {
		pages = append(pages, at.pageOf(pair))
	}
	return pages
}

// given are the refusals that error-status gives as other statuses.
func (b *builder) given(a *annotations.Annotations) (pairs keys.StatusPairs) {
	for _, pair := range a.CustomErrors.Statuses {
		if slices.Contains(b.refusals(), pair.From) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// remarkRefusals reports values of error-status that refused certificates never see: those
// beside an error page, those of single paths and those of owners that do not decide.
func (b *builder) remarkRefusals(errorPage string) {
	by := b.clients.by
	inForce := b.given(by.Annotations)
	for _, rules := range b.host.rules {
		owner := rules.Owner
		for each := range owner.Annotations.Each() {
			own := b.given(each)
			text := ""
			switch {
			case len(own) == 0:
			case errorPage != "":
				text = fmt.Sprintf("%s of %s answers where nginx refuses the certificate of a client: remove %s here, or the page there", by.PrefixKey+"auth-tls-error-page", by.Ref, own[0].From)
			case !slices.Equal(own, inForce):
				text = fmt.Sprintf("nginx refuses the certificate of a client before it chooses a path: write %s = %s for the whole %s, which decides it for %s", own[0].From, own[0].To, by.Ref, hostWords(b.host.name))
			}
			if text != "" {
				b.tellOnce(model.Problem{Object: owner.Ref, Field: each.Field(owner.PrefixKey, "error-status"), Reason: model.NoEffect, Text: "it has no effect on " + own[0].From + ": " + text})
			}
		}
	}
}
