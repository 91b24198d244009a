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
	if text != "" {
		ing.report(ing.PrefixKey+"mirror-target", model.InvalidValue, text+": nothing is mirrored")
		return nil
	}
	to.URI, to.Header = cmp.Or(to.URI, "$request_uri"), cmp.Or(asked.Host, to.Header)
	return &claim.Attached{Mirror: to}
}
