package assemble

import (
	"sluice/internal/claim"
	"sluice/internal/model"
)

// What the blocks of a mirror print: in the location that is mirrored, and in the
// internal one of its copies.
type (
	mirrorBlock struct{ To, Body string }
	copyBlock   struct {
		Host string
		// Headers are those that an authentication gave the request.
		Headers []claim.AnsweredHeader `json:"headers,omitempty"`
		// HidesPassword is set if Authorization has a password that nginx checks.
		HidesPassword bool `json:"hidesPassword,omitempty"`
	}
)

// mirror has copies of the requests of a location sent to the target of its
// annotations, by an internal location.
func (b *builder) mirror(l *model.Location, c *claim.Claim) {
	t := c.Owner.AttachedTo(c.Annotations.Mirror).Mirror
	if t == nil || l.Proxy == nil {
		return
	}
	copied := copyBlock{Host: t.Header, Headers: c.Authentication().Answered(), HidesPassword: c.Annotations.BasicAuth.On()}
	to := b.subrequest(l, t, "mirror", model.Block{Name: "mirror-copy", Data: copied})
	b.addBlock(l, "mirror", mirrorBlock{to, c.Annotations.Mirror.Body})
}
