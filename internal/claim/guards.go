package claim

import (
	"reflect"
	"slices"

	"sluice/internal/annotations"
)

// ExternalAuth is the name of the block that asks an authentication server.
const ExternalAuth = "external-auth"

// Guards reports whether any path of the owner is protected, or should be.
func (o *Owner) Guards() bool {
	for each := range o.Annotations.Each() {
		if each.Guards() || o.denies(each) {
			return true
		}
	}
	return false
}

// Guards reports whether the path is protected, or should be.
func (c *Claim) Guards() bool { return c.IsDenied() || c.Annotations.Guards() }

// IsDenied reports whether the path returns 503.
func (c *Claim) IsDenied() bool { return c.Owner.denies(c.Annotations) }

// IsDenied reports whether the paths without annotations of their own return 503.
func (o *Owner) IsDenied() bool { return o.denies(o.Annotations) }

// denies reports whether paths with these annotations return 503.
func (o *Owner) denies(a *annotations.Annotations) bool {
	if o.Denied || a.Denied() {
		return true
	}
	for attached := range o.attachments(a) {
		if attached.Denied {
			return true
		}
	}
	return false
}

// ProtectingBlocks names the blocks that the location of the path must have. It reads
// the annotations, not the blocks, so that package guard notices a missing block.
func (c *Claim) ProtectingBlocks() []string {
	return slices.DeleteFunc(slices.Clone(c.Annotations.Protects()), func(name string) bool { return !annotations.HasBlock(name) })
}

// Protections names everything that protects a path of the owner.
func (o *Owner) Protections() []string {
	var names []string
	for each := range o.Annotations.Each() {
		for _, name := range each.Protects() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ProtectsLike reports whether this path has all protections of another one, with the
// same values, or returns 503.
func (c *Claim) ProtectsLike(o *Claim) bool {
	switch {
	case c.Annotations == o.Annotations || !o.Guards() || c.Closed || c.IsDenied():
		return true
	case o.IsDenied():
		return false
	}
	own := c.Annotations.Protections()
	for _, wanted := range o.Annotations.Protections() {
		attached := o.Owner.AttachedTo(wanted)
		if !slices.ContainsFunc(own, func(p any) bool { return reflect.DeepEqual(p, wanted) && c.Owner.AttachedTo(p).admitsLike(attached) }) {
			return false
		}
	}
	return true
}

// admitsLike reports whether both ask the same server, or have the same users.
func (a Attached) admitsLike(b Attached) bool {
	return reflect.DeepEqual(a.Auth, b.Auth) && reflect.DeepEqual(a.Block.Data, b.Block.Data)
}
