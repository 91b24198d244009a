package translate

import (
	"cmp"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// readMirror parses mirror-target.
func (t *translation) readMirror(ing *owner, asked *annotations.Mirror) *claim.Attached {
	if asked.Target == "" {
		return nil
	}
	to, text := targetOf(asked.Target)
	field := ing.field("mirror-target")
	if text != "" {
		ing.report(field, model.InvalidValue, text+": nothing is mirrored")
		return nil
	}
	to.URI, to.Header, to.Field = cmp.Or(to.URI, "$request_uri"), cmp.Or(asked.Host, to.Header), field
	return &claim.Attached{Mirror: to}
}

// field returns the annotation that gives a key: while the objects of a path are read,
// that of the path.
func (i *owner) field(key string) string {
	return cmp.Or(i.attaching, i.Annotations).Field(i.PrefixKey, key)
}
