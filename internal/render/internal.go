package render

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// forSubrequests is the template of a location for subrequests, forRequests that of one for
// requests from other locations.
const (
	forSubrequests = "subrequest"
	forRequests    = "named"
)

// logByLua is the directive of a Lua file that runs at the end of a request.
const logByLua = "log_by_lua_file"

func isSubrequest(l *model.Location) bool {
	return l.Modifier == model.Equal && strings.HasPrefix(l.Path, model.InternalPrefix)
}

// besideSnippets returns the paths of subrequests on a server with a snippet.
func (s *serverRendering) besideSnippets() (paths []string) {
	isSnippet := func(b model.Block) bool { return b.Name == "server-snippet" }
	if s.everywhere.servers == nil && !slices.ContainsFunc(s.server.Blocks, isSnippet) {
		return nil
	}
	for _, l := range s.server.Internal {
		if isSubrequest(l.Location) && reachable(forSubrequests, l.Location) == nil {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

// internal prints a location that no client reaches. If that fails, the location returns
// 503.
func (s *serverRendering) internal(internal *model.Internal) {
	template := forRequests
	if internal.Modifier == model.Equal {
		template = forSubrequests
	}
	err := s.location(template, internal.Location)
	if err == nil {
		return
	}
	for _, owner := range internal.Owners {
		of := *internal.Location
		of.Rule.Object = owner
		s.refuseLocation(&of, err)
	}
	_ = s.location(template, internal.Closed())
}

// reachable refuses an internal location that a client could reach, or that has a bad name.
func reachable(template string, l *model.Location) error {
	name := strings.TrimPrefix(l.Path, model.InternalPrefix)
	switch {
	case template == forRequests && (l.Modifier != model.Named || !tokens.NameBytes.Holds(l.Path)):
		return &tokens.Refusal{Want: "a name of lower case letters, digits, - and _", Got: l.Path}
	case template == forSubrequests && (!isSubrequest(l) || !tokens.PathBytes.Holds(name)):
		return &tokens.Refusal{Want: "a path below " + model.InternalPrefix, Got: l.Path}
	case template == forSubrequests && (l.Rewrite != nil || l.RedirectToHTTPS != nil || l.Return != nil && l.Return.URL != ""):
		return &tokens.Refusal{Want: "neither a rewrite nor a redirect of a subrequest", Got: l.Path}
	}
	return nil
}

// setsNothing refuses directives that change variables, which a subrequest shares with its
// parent, or $uri, which the balancer needs.
func setsNothing(text []byte) error {
	var found string
	syntax.Directives(text, func(d syntax.Directive) {
		if d.Name == logByLua && ownScript.MatchString(d.Arg) {
			return // it only reads, when the subrequest has ended
		}
		if d.Name == "set" || d.Name == "rewrite" || d.Name == "auth_request_set" || strings.HasSuffix(d.Name, "_by_lua") || strings.HasSuffix(d.Name, "_by_lua_file") || strings.HasSuffix(d.Name, "_by_lua_block") {
			found = d.Name
		}
	})
	if found != "" {
		return &tokens.Refusal{Want: "nothing that changes the parent of a subrequest", Got: found}
	}
	return nil
}
