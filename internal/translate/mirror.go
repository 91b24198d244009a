package translate

import (
	"cmp"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// mirroredTo is where copies of requests go; nil if nothing is mirrored.
func mirroredTo(asked *annotations.Mirror) (t *target, text string) {
	if asked.Target == "" {
		return nil, ""
	}
	t, text = targetOf(asked.Target)
	if text != "" {
		return nil, text + ": nothing is mirrored"
	}
	t.uri, t.header = cmp.Or(t.uri, "$request_uri"), cmp.Or(asked.Host, t.header)
	return t, ""
}

// remarkMirror reports a target that cannot be one.
func (i *owner) remarkMirror(asked *annotations.Mirror) {
	if _, text := mirroredTo(asked); text != "" {
		i.report(i.prefixKey+"mirror-target", model.InvalidValue, text)
	}
}

// What the blocks of a mirror print: in the location that is mirrored, and in the
// internal one of its copies.
type (
	mirrorBlock struct{ To, Body string }
	copyBlock   struct {
		Host string
		// Headers are those that an authentication gave the request.
		Headers []answeredHeader `json:"headers,omitempty"`
	}
)

// mirror has copies of the requests of a location sent to the target of its
// annotations, by an internal location.
func (b *builder) mirror(l *model.Location, c *claim) {
	t, _ := mirroredTo(c.annotations.Mirror)
	if t == nil || l.Proxy == nil {
		return
	}
	copied := copyBlock{Host: t.header, Headers: c.authentication().answered()}
	to := b.subrequest(l, t, "mirror", model.Block{Name: "mirror-copy", Data: copied})
	b.print(l, "mirror", mirrorBlock{to, c.annotations.Mirror.Body})
}
