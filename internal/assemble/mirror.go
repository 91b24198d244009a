package assemble

import (
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
)

// The data of the blocks: in the mirrored location, and in the internal one of the
// copies.
type (
	mirrorBlock struct{ To, Body string }
	copyBlock   struct {
		Host string
		// Headers are those that external authentication added to the request.
		Headers []claim.AnsweredHeader `json:"headers,omitempty"`
		// Lines are the headers of the requests to the backend.
		Lines keys.RequestHeaders `json:"lines,omitempty"`
		// HidesPassword is set if nginx checks a password in Authorization.
		HidesPassword bool `json:"hidesPassword,omitempty"`
		// NoBody is set if copies are without the body, and so without its length.
		NoBody bool `json:"noBody,omitempty"`
	}
)

// mirror adds an internal location that sends copies of the requests of a location to
// the target of its annotations.
func (b *builder) mirror(l *model.Location, c *claim.Claim) {
	t := c.Owner.AttachedTo(c.Annotations.Mirror).Mirror
	if t == nil || l.Proxy == nil {
		return
	}
	copied := copyBlock{Host: t.Header, Headers: c.Authentication().Answered(), Lines: linesOf(l.Blocks), HidesPassword: c.Annotations.BasicAuth.On(), NoBody: c.Annotations.Mirror.Body == "off"}
	to := b.subrequest(l, c, t, forCopies, model.Block{Name: "mirror-copy", Data: copied})
	b.addBlock(l, "mirror", mirrorBlock{to, c.Annotations.Mirror.Body})
}
