package assemble

import (
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// What the blocks of a mirror print: in the location that is mirrored, and in the
// internal one of its copies.
type (
	mirrorBlock struct{ To, Body string }
	copyBlock   struct{ Host string }
)

// mirror has copies of the requests of a location sent to the target of its
// annotations, by an internal location.
func (b *builder) mirror(l *model.Location, c *claim.Claim) {
	m := c.Owner.AttachedTo(c.Annotations.Mirror).Mirror
	if m == nil || l.Proxy == nil {
		return
	}
	source := c.Owner.Ref
	proxy := b.pass(BackendID{Service: snapshot.Name{Namespace: source.Namespace}, Host: m.Host, Port: m.Port}, nil)
	proxy.Transport, proxy.URI = m.Transport, m.URI
	to := b.internals.add(model.Equal, "mirror", "/"+proxy.Backend, &model.Location{
		Rule: l.Rule, Proxy: proxy, Blocks: []model.Block{{Name: "mirror-copy", Data: copyBlock{m.Header}, Source: source}},
	})
	l.Blocks = append(slices.Clip(l.Blocks), model.Block{Name: "mirror", Data: mirrorBlock{to, c.Annotations.Mirror.Body}, Source: source})
}
