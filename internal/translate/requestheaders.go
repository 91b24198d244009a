package translate

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// readRequestHeaders refuses headers that another annotation sets too: a backend would get
// both, and could take the one of the client.
func (t *translation) readRequestHeaders(ing *owner, asked *annotations.RequestHeaders) *claim.Attached {
	if len(asked.Lines) == 0 {
		return nil
	}
	for a := range ing.Annotations.Each() {
		if a.RequestHeaders != asked {
			continue
		}
		for _, line := range asked.Lines {
			switch same := func(name string) bool { return strings.EqualFold(name, line.Name) }; {
			case slices.ContainsFunc(a.ExternalAuth.ResponseHeaders, same):
				return ing.refuse("request-headers", model.InvalidValue, fmt.Sprintf("want no header that auth-response-headers names (got %s)", line.Name))
			case same("Accept-Encoding") && line.Value != "" && len(a.SubFilter.Lines) > 0:
				return ing.refuse("request-headers", model.InvalidValue, fmt.Sprintf("want no %s beside %ssub-filter, which needs answers without compression", line.Name, annotations.OwnPrefix))
			}
		}
	}
	return nil
}
