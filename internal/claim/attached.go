package claim

import (
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// Attached holds what was read from the Secrets and ConfigMaps that a group of
// annotations references. Paths with the same group share it.
type Attached struct {
	// Group is a pointer to the group.
	Group any
	// Transport is how backends are spoken to.
	Transport model.Transport
	// Mirror is where copies of the requests go, nil for nowhere.
	Mirror *Target
	// Auth is whom to ask about the requests, nil for nobody.
	Auth *Authentication
	// Block is printed at the paths; its Name is empty for none.
	Block model.Block
	// Size is how many bytes of the block come from other objects.
	Size int
	// Users is the file that the block names, nil for none.
	Users *model.UserFile
	// Denied: what is asked for cannot be done, and must not be left out, so that the
	// paths answer 503.
	Denied bool
}

// Unattached is what AttachedTo finds where nothing was read.
var Unattached Attached

// AttachedTo finds what was read for a group of annotations.
func (i *Owner) AttachedTo(group any) *Attached {
	for _, of := range i.Attached {
		if of.Group == group {
			return of
		}
	}
	return &Unattached
}

// attachments are what was read for the groups of some annotations, in the order of
// their fields, which is that of the blocks.
func (i *Owner) attachments(a *annotations.Annotations) []*Attached {
	if len(i.Attached) == 0 {
		return nil
	}
	var all []*Attached
	for group := range a.Groups() {
		if of := i.AttachedTo(group); of != &Unattached {
			all = append(all, of)
		}
	}
	return all
}

// unattachable reports whether the objects that some annotations name cannot be used
// as they must be.
func (i *Owner) unattachable(a *annotations.Annotations) bool {
	return slices.ContainsFunc(i.attachments(a), func(of *Attached) bool { return of.Denied })
}

// Blocks are all that is printed at the path of a claim.
func (c *Claim) Blocks() []model.Block {
	blocks := c.Annotations.Blocks()
	for _, of := range c.Owner.attachments(c.Annotations) {
		if of.Block.Name != "" {
			blocks = append(slices.Clip(blocks), of.Block)
		}
	}
	return blocks
}
