package claim

import (
	"iter"
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
)

// Attached is the data that a group of annotations gets from the objects and URLs that
// it names. Each kind of group sets its own fields.
type Attached struct {
	// Transport is the connection to backends.
	Transport model.Transport
	// Certificate is the certificate that Transport presents; nil for none.
	Certificate *model.Certificate
	// ClientCA verifies the certificates of clients; nil for none.
	ClientCA *model.ClientCA
	// Mirror receives copies of the requests; nil for none.
	Mirror *Target
	// Auth is the server that decides about the requests; nil for none.
	Auth *Authentication
	// Block is printed at the paths; its Name is empty for none.
	Block model.Block
	// Size is the part of the block, in bytes, that comes from other objects.
	Size int
	// ServerSnippet is printed in the servers of the hosts.
	ServerSnippet keys.ServerSnippet
	// Users is the file that the block names; nil for none.
	Users *model.UserFile
	// Denied is set if the group protects and cannot be honoured: its paths return 503.
	Denied bool
}

// AttachedTo returns the data of a group of annotations, the zero value for none.
func (o *Owner) AttachedTo(group any) Attached {
	if found := o.Attached[group]; found != nil {
		return *found
	}
	return Attached{}
}

// attachments yields the data of all groups of some annotations, in the order of their
// blocks.
func (o *Owner) attachments(a *annotations.Annotations) iter.Seq[*Attached] {
	return func(yield func(*Attached) bool) {
		if len(o.Attached) == 0 {
			return
		}
		for group := range a.Groups() {
			if found := o.Attached[group]; found != nil && !yield(found) {
				return
			}
		}
	}
}

// Blocks returns all blocks that are printed at the path of a claim.
func (c *Claim) Blocks() []model.Block {
	blocks := c.Annotations.Blocks()
	for attached := range c.Owner.attachments(c.Annotations) {
		if attached.Block.Name != "" {
			blocks = append(slices.Clip(blocks), attached.Block)
		}
	}
	return blocks
}
