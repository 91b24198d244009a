package explain

import (
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// blocked returns the setting and the item by which the request is refused on every host, ""
// if there is none. The address of the client is not known here.
func (x *explainer) blocked() string {
	lists := x.settings.BlockLists
	if item := matching(lists.Agents, x.header("User-Agent")); item != "" {
		return "the setting block-user-agents has " + model.Quoted(item)
	}
	if item := matching(lists.Referers, x.header("Referer")); item != "" {
		return "the setting block-referers has " + model.Quoted(item)
	}
	return ""
}

// matching returns the item of a list that certainly matches a value, "" for none. No item
// matches a header that is missing or empty: nginx tries no pattern on it.
func matching(list keys.BlockedTexts, value string) string {
	if value == "" {
		return ""
	}
	for _, item := range list {
		if matches, known := item.Matches(value); matches && known {
			return item.String()
		}
	}
	return ""
}

// header returns the first header of the request with a name, "" for none.
func (x *explainer) header(name string) string {
	for _, h := range x.request.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}
