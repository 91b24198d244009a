package translate

import (
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// attached is what the objects give that a group of annotations names. Paths with the
// same group share it.
type attached struct {
	// group is a pointer to the group.
	group any
	// transport is how backends are spoken to.
	transport model.Transport
	// block is printed at the paths; its Name is empty for none.
	block model.Block
	// size is how many bytes of the block come from other objects.
	size int
	// auth is whom to ask about requests, nil for nobody.
	auth *authentication
	// users is the file that the block names, nil for none.
	users *model.UserFile
	// denied: what is asked for cannot be done, and must not be left out, so that the
	// paths answer 503.
	denied bool
}

// attach reads the objects that the annotations of an Ingress and of its paths name.
func (t *translation) attach(ing *owner) {
	for a := range ing.annotations.Each() {
		attachOnce(ing, a.Transport, t.readTransport)
		attachOnce(ing, a.BasicAuth, t.readBasicAuth)
		attachOnce(ing, a.ExternalAuth, t.readExternalAuth)
		attachOnce(ing, a.CustomHeaders, t.readCustomHeaders)
	}
}

// attachOnce reads the objects of a group unless that was done for another path. The
// result is nil where the group names none.
func attachOnce[G any](ing *owner, group *G, read func(*owner, *G) *attached) {
	if ing.attachedTo(group) != &unattached {
		return
	}
	if of := read(ing, group); of != nil {
		of.group = group
		ing.attached = append(ing.attached, of)
	}
}

var unattached attached

// attachedTo finds what was read for a group of annotations.
func (i *owner) attachedTo(group any) *attached {
	for _, of := range i.attached {
		if of.group == group {
			return of
		}
	}
	return &unattached
}

// attachments are what was read for all groups of some annotations, in the order of
// their blocks.
func (i *owner) attachments(a *annotations.Annotations) []*attached {
	if len(i.attached) == 0 {
		return nil
	}
	return []*attached{i.attachedTo(a.Transport), i.attachedTo(a.BasicAuth), i.attachedTo(a.ExternalAuth), i.attachedTo(a.CustomHeaders)}
}

// unattachable reports whether the objects that some annotations name cannot be used
// as they must be.
func (i *owner) unattachable(a *annotations.Annotations) bool {
	return slices.ContainsFunc(i.attachments(a), func(of *attached) bool { return of.denied })
}

// blocks are all that is printed at the path of a claim.
func (c *claim) blocks() []model.Block {
	blocks := c.annotations.Blocks()
	for _, of := range c.owner.attachments(c.annotations) {
		if of.block.Name != "" {
			blocks = append(slices.Clip(blocks), of.block)
		}
	}
	return blocks
}

// deny reports what keeps an Ingress from being served.
func (i *owner) deny(key string, reason model.Reason, text string) {
	i.denied = true
	i.reportDenial(key, reason, text)
}

func (i *owner) reportDenial(key string, reason model.Reason, text string) {
	i.problems = append(i.problems, model.Problem{Object: i.ref, Field: i.prefixKey + key, Reason: reason, Text: text, Denies: true})
}

// refuse reports why what an annotation asks for cannot be done, and closes its paths.
func (i *owner) refuse(key string, reason model.Reason, text string) *attached {
	i.reportDenial(key, reason, text)
	return &attached{denied: true}
}
