package translate

import (
	"sluice/internal/annotations"
	"sluice/internal/model"
)

// remarkRedirect reports a redirect that another one hides.
func (i *owner) remarkRedirect(asked *annotations.Redirect) {
	if asked.Temporal != "" && asked.Permanent != "" {
		i.report(i.PrefixKey+"permanent-redirect", model.Ambiguous, "it has no effect beside "+i.PrefixKey+"temporal-redirect")
	}
}
