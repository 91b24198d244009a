package render

import (
	"fmt"
	"slices"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// everywhere are the snippets of the settings that are in all servers and all locations.
type everywhere struct {
	// servers and locations are nil for none.
	servers, locations *model.Block
	// own are the locations of the snippet of all servers. patterns is set if nginx compares
	// one of them by a pattern.
	own      []keys.SnippetLocation
	patterns bool
	// closed is set if a snippet cannot be printed: it may restrict access, so all paths
	// return 503.
	closed bool
}

// closingSnippets are the blocks that may restrict access, with their contexts.
var closingSnippets = []struct{ block, context string }{{"http-snippet", "http"}, {settings.ServersBlock, "server"}, {settings.LocationsBlock, "location"}}

// everywhere reads and checks the snippets of the settings.
func (r *rendering) checkSnippets() {
	blocks := slices.Clone(r.global.blocks)
	r.global.blocks = blocks
	for _, snippet := range closingSnippets {
		block := findBlock(blocks, snippet.block)
		before := r.page.here()
		err := r.setting(*block, snippet.context)
		r.page.back(before)
		if err != nil {
			r.everywhere.closed = true
			r.refuse(model.Problem{Object: block.Source, Text: settingText(*block, err), Denies: true})
			*block = *findBlock(defaultSettings(), block.Name)
		}
	}
	if text := findBlock(blocks, settings.ServersBlock).Data.(settings.ServersSnippet).Text; text != "" {
		r.everywhere.servers = findBlock(blocks, settings.ServersBlock)
		r.everywhere.own = text.Locations()
		r.everywhere.patterns = slices.ContainsFunc(r.everywhere.own, keys.SnippetLocation.IsPattern)
	}
	if findBlock(blocks, settings.LocationsBlock).Data.(settings.LocationsSnippet).Text != "" {
		r.everywhere.locations = findBlock(blocks, settings.LocationsBlock)
	}
}

// key is everything of the snippets that affects the text of a server.
func (e *everywhere) key() string {
	text := fmt.Sprint(e.closed)
	for _, block := range []*model.Block{e.servers, e.locations} {
		if block != nil {
			text += fmt.Sprintf("\n%q %v", block.Data, block.Source)
		}
	}
	return text
}

// ofServer returns the blocks of a server with the snippet of all servers before them.
func (e *everywhere) ofServer(own []model.Block) []model.Block {
	if e.servers == nil {
		return own
	}
	return append([]model.Block{*e.servers}, own...)
}

// ofLocation returns the blocks of a location, with the snippet of all locations behind them
// if the location serves requests.
func (e *everywhere) ofLocation(template string, l *model.Location) []model.Block {
	switch {
	case e.locations == nil, template == forSubrequests, len(l.Dispatch) > 0, l.Return != nil && l.Return.Code == closedStatus:
		return l.Blocks
	case l.Rule.Kind == model.RuleWritten, l.Rule.Kind == model.RuleFallback, l.Rule.Kind == model.RuleShadow:
		return append(slices.Clip(l.Blocks), *e.locations)
	}
	return l.Blocks
}

const closedStatus = 503

// close returns the location to print in place of another.
func (e *everywhere) close(template string, l *model.Location) *model.Location {
	if !e.closed || template == forSubrequests || l.Rule.Kind == model.RuleHealth {
		return l
	}
	return l.Closed()
}

// takes reports whether nginx would take a location for one of the snippet of all servers.
func (e *everywhere) takes(l *model.Location) bool {
	prefix := func(modifier string) bool {
		return modifier == string(model.Prefix) || modifier == string(model.PrefixFirst)
	}
	return l.Modifier != model.Pattern && slices.ContainsFunc(e.own, func(own keys.SnippetLocation) bool {
		return own.Path == l.Path && (own.Modifier == string(l.Modifier) || prefix(own.Modifier) && prefix(string(l.Modifier)))
	})
}

// takenLocation reports a location whose requests the snippet of all servers answers.
func (s *serverRendering) takenLocation(l *model.Location) {
	if l.Rule.Object != (model.ObjectRef{}) && l.Rule.Kind != model.RuleShadow {
		s.refuse(model.Problem{Object: l.Rule.Object, Field: l.Rule.Field, Text: fmt.Sprintf("the server-snippet of %s has the location %s, which answers its requests: want another path", s.everywhere.servers.Source, model.Quoted(l.Path))})
	}
}

// modifier is the modifier of a location as printed. nginx tries patterns of the snippet of
// all servers only if no prefix comes before all patterns.
func (s *serverRendering) modifier(l *model.Location) string {
	if l.Modifier == model.PrefixFirst && s.everywhere.patterns && !s.mixed && l.Rule.Kind != model.RuleClosed {
		return string(model.Prefix)
	}
	return string(l.Modifier)
}

// findMixed notes and reports a host of which some paths are patterns and others come before
// all patterns: nginx does not try patterns of the snippet there for the others.
func (s *serverRendering) findMixed() {
	has := func(modifier model.Modifier) bool {
		return slices.ContainsFunc(s.server.Locations, func(l *model.Location) bool { return l.Modifier == modifier && l.Rule.Kind != model.RuleClosed })
	}
	s.mixed = has(model.PrefixFirst) && has(model.Pattern)
	if s.mixed && s.everywhere.patterns {
		s.refuse(model.Problem{Object: s.everywhere.servers.Source, Field: "server-snippet",
			Text: fmt.Sprintf("its locations with patterns do not count for the paths of host %s that are no patterns, as other paths of this host are: want prefixes, or regex-scope: host", model.Quoted(s.server.Host))})
	}
}
