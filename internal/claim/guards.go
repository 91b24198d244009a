package claim

import (
	"reflect"
	"slices"

	"sluice/internal/annotations"
)

// ExternalAuth is the name of the block that asks another server.
const ExternalAuth = "external-auth"

// Guards reports whether something keeps requests out of any path of the Ingress, or
// should.
func (i *Owner) Guards() bool {
	return i.Denied || i.Annotations.GuardsAny() || slices.ContainsFunc(i.Attached, func(of *Attached) bool { return of.Denied })
}

// Guards reports whether something keeps requests out of the path, or should.
func (c *Claim) Guards() bool { return c.IsDenied() || c.Annotations.Guards() }

// IsDenied reports whether the path answers 503.
func (c *Claim) IsDenied() bool {
	return c.Owner.Denied || c.Annotations.Denied() || c.Owner.unattachable(c.Annotations)
}

// IsDenied reports whether the paths of the Ingress answer 503 that have no
// annotations of their own.
func (i *Owner) IsDenied() bool {
	return i.Denied || i.Annotations.Denied() || i.unattachable(i.Annotations)
}

// ProtectingBlocks are the names of the blocks that must be in the location of the path.
// They come from the annotations and not from the blocks that were made, so that package
// guard notices a block that is missing.
func (c *Claim) ProtectingBlocks() []string {
	return slices.DeleteFunc(slices.Clone(c.Annotations.Protects()), func(name string) bool { return !annotations.HasBlock(name) })
}

// Protections are the names of all that keeps requests out of paths of the Ingress.
func (i *Owner) Protections() []string {
	var names []string
	for each := range i.Annotations.Each() {
		for _, name := range each.Protects() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ProtectsLike reports whether this path has all that keeps requests out of another path
// of the Ingress, with the same values, or answers 503.
func (c *Claim) ProtectsLike(o *Claim) bool {
	switch {
	case c.Annotations == o.Annotations || !o.Guards() || c.Closed || c.IsDenied():
		return true
	case o.IsDenied():
		return false
	}
	own := c.Annotations.Protections()
	for _, wanted := range o.Annotations.Protections() {
		if !slices.ContainsFunc(own, func(p any) bool { return reflect.DeepEqual(p, wanted) }) {
			return false
		}
	}
	return true
}
