package assemble

import (
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/route"
)

// rewrites reports whether a rewrite-target changes the path. As in ingress-nginx, one
// that equals the path does not.
func rewrites(target, path string) bool { return target != "" && target != path }

// dropsRest reports whether a rewrite-target that equals the path replaces what begins with the
// path and a slash. In ingress-nginx the path of such a location has a slash at its end, so that
// it does not equal the target. See rewrite-same.txtar.
func dropsRest(c *claim.Claim) bool {
	return c.Annotations.Rewrite.Target == c.Path && c.PathType != claim.Exact && !c.Annotations.Regex.Enabled && !strings.HasSuffix(c.Path, "/")
}

// rewrite adds the rewrite of a claim to a location. The pattern is the path of the
// location. As in ingress-nginx, it is not anchored and may match in the middle of the
// URI. names are its named groups.
func (b *builder) rewrite(l *model.Location, c *claim.Claim, pattern string, names []string) {
	asked := c.Annotations.Rewrite.Target
	switch {
	case l.Return != nil:
		return
	case dropsRest(c):
		pattern += "/"
	case !rewrites(asked, l.Rule.Path):
		return
	}
	target, ok := route.RenameReferences(asked, names)
	if !ok {
		b.foreignGroup(l, c, "rewrite-target", "its requests are not rewritten")
		return
	}
	prefix, ok := route.RenameReferences(c.Annotations.ForwardedPrefix.Value, names)
	if !ok {
		b.foreignGroup(l, c, "x-forwarded-prefix", "the header is left out")
		prefix = ""
	}
	l.Rewrite = &model.Rewrite{Pattern: "(?i)" + pattern, Target: target, Prefix: prefix}
	if prefix != "" {
		b.addBlock(l, forwardedPrefix, struct{}{})
	}
}

// forwardedPrefix is the block that passes on the header set by the rewrite.
const forwardedPrefix = "forwarded-prefix"

// foreignGroup reports a value with a group that the path lacks.
func (b *builder) foreignGroup(l *model.Location, c *claim.Claim, key, effect string) {
	b.tell(model.Problem{Object: c.Owner.Ref, Field: c.Annotations.Field(c.Owner.PrefixKey, key), Reason: model.InvalidValue,
		Text: "want $1 to $9 or a named group of the path " + claim.Shown(l.Rule.Path) + ": " + effect})
}
