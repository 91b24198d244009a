package translate

import (
	"sluice/internal/claim"
	"sluice/internal/model"
)

// attach reads the objects that the annotations of an Ingress and of its paths name.
func (t *translation) attach(ing *owner) {
	for a := range ing.Annotations.Each() {
		ing.attaching = a
		attachOnce(ing, a.Transport, t.readTransport)
		attachOnce(ing, a.BasicAuth, t.readBasicAuth)
		attachOnce(ing, a.ExternalAuth, t.readExternalAuth)
		attachOnce(ing, a.CustomHeaders, t.readCustomHeaders)
		attachOnce(ing, a.Mirror, t.readMirror)
	}
	ing.attaching = nil
}

// attachOnce reads the objects of a group unless that was done for another path. The
// result is nil where the group names none.
func attachOnce[G any](ing *owner, group *G, read func(*owner, *G) *claim.Attached) {
	if ing.AttachedTo(group) != &claim.Unattached {
		return
	}
	if of := read(ing, group); of != nil {
		of.Group = group
		ing.Attached = append(ing.Attached, of)
	}
}

// deny reports what keeps an Ingress from being served.
func (i *owner) deny(key string, reason model.Reason, text string) {
	i.Denied = true
	i.reportDenial(key, reason, text)
}

func (i *owner) reportDenial(key string, reason model.Reason, text string) {
	i.Problems = append(i.Problems, model.Problem{Object: i.Ref, Field: i.field(key), Reason: reason, Text: text, Denies: true})
}

// refuse reports why what an annotation asks for cannot be done, and closes its paths.
func (i *owner) refuse(key string, reason model.Reason, text string) *claim.Attached {
	i.reportDenial(key, reason, text)
	return &claim.Attached{Denied: true}
}
