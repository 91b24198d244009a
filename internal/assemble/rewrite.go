package assemble

import (
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/route"
)

// rewrites says whether a rewrite-target changes anything at a path. As with
// ingress-nginx one that is the path itself does not.
func rewrites(target, path string) bool { return target != "" && target != path }

// rewrite adds the rewrite of a claim to a location. The pattern is the path as
// the location has it, and is not anchored, as with ingress-nginx: it may match
// in the middle of the URI. names are its named groups.
func (b *builder) rewrite(l *model.Location, c *claim.Claim, pattern string, names []string) {
	ing, asked := c.Owner, c.Annotations.Rewrite.Target
	if l.Return != nil || !rewrites(asked, l.Rule.Path) {
		return
	}
	target, ok := route.RenameReferences(asked, names)
	if !ok {
		b.foreignGroup(l, ing, "rewrite-target", "its requests are not rewritten")
		return
	}
	prefix, ok := route.RenameReferences(c.Annotations.ForwardedPrefix.Value, names)
	if !ok {
		b.foreignGroup(l, ing, "x-forwarded-prefix", "the header is left out")
		prefix = ""
	}
	l.Rewrite = &model.Rewrite{Pattern: "(?i)" + pattern, Target: target, Prefix: prefix}
	if prefix != "" {
		l.Blocks = append(slices.Clip(l.Blocks), model.Block{Name: forwardedPrefix, Data: struct{}{}, Source: ing.Ref})
	}
}

// forwardedPrefix is the block that passes on what the rewrite has set.
const forwardedPrefix = "forwarded-prefix"

// foreignGroup reports a value that uses a group which the path does not have.
func (b *builder) foreignGroup(l *model.Location, ing *claim.Owner, key, effect string) {
	b.out.problems = append(b.out.problems, model.Problem{Object: ing.Ref, Field: ing.PrefixKey + key, Reason: model.InvalidValue,
		Text: "want $1 to $9 or a named group of the path " + claim.Shown(l.Rule.Path) + ": " + effect})
}
