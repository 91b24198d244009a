package settings

import (
	"sluice/internal/keys"
	"sluice/internal/tokens"
)

// BlockLists refuse requests with 403, on every host and path, whatever their annotations
// say. If a list is invalid, every path returns 503.
type BlockLists struct {
	Addresses keys.CIDRs        `key:"block-cidrs" empty:"zero" protects:"true" doc:"Addresses and networks of clients that get 403 for every request, on every host and path, also where an Ingress has a list of its own. TCP and UDP services and TLS that is passed through are not affected. Empty means no address."`
	Agents    keys.BlockedTexts `key:"block-user-agents" empty:"zero" protects:"true" doc:"Values of the request header User-Agent that get 403 on every host and path, separated by commas: the whole value in any case, or a regular expression behind ~ (~* ignores case). Sluice limits the steps of patterns; a request that needs more gets 403."`
	Referers  keys.BlockedTexts `key:"block-referers" empty:"zero" protects:"true" doc:"Values of the request header Referer that get 403 on every host and path, separated by commas: the whole value in any case, or a regular expression behind ~ (~* ignores case). Sluice limits the steps of patterns; a request that needs more gets 403."`
}

// everywhere are the settings that protect every path. The others that protect are defaults
// of annotations.
var everywhere = map[string]bool{
	"block-cidrs": true, "block-user-agents": true, "block-referers": true, "global-request-headers": true, "bind-address": true,
}

// On reports whether a list has an item.
func (b BlockLists) On() bool { return len(b.Addresses)+len(b.Agents)+len(b.Referers) > 0 }

// AgentTexts, AgentPatterns, RefererTexts and RefererPatterns are the items for the maps of
// nginx.
func (b BlockLists) AgentTexts() []string              { return textsOf(b.Agents) }
func (b BlockLists) AgentPatterns() []tokens.Limited   { return patternsOf(b.Agents) }
func (b BlockLists) RefererTexts() []string            { return textsOf(b.Referers) }
func (b BlockLists) RefererPatterns() []tokens.Limited { return patternsOf(b.Referers) }

func textsOf(list keys.BlockedTexts) []string {
	var texts []string
	for _, item := range list {
		if !item.Pattern {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

func patternsOf(list keys.BlockedTexts) []tokens.Limited {
	var patterns []tokens.Limited
	for _, item := range list {
		text := item.Text
		if item.Caseless {
			text = "(?i)" + text
		}
		if item.Pattern {
			patterns = append(patterns, tokens.LimitPattern(text, item.Steps))
		}
	}
	return patterns
}
