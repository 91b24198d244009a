package render

import (
	"errors"
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

// logByLua is the directive of a Lua file that runs at the end of a request, filterByLua that of one
// for the header of an answer.
const (
	logByLua    = "log_by_lua_file"
	filterByLua = "header_filter_by_lua_file"
)

func isSubrequest(l *model.Location) bool {
	return l.Modifier == model.Equal && strings.HasPrefix(l.Path, model.InternalPrefix)
}

// refuseInServer refuses a snippet in a server, outside of its locations and blocks: guarded would not
// see it.
func refuseInServer(blocks []string) error {
	if slices.Contains(blocks, "server") && !slices.Contains(blocks, "location") {
		return errors.New("raw in a server: want it in a template BEHAVIOUR/CONTEXT")
	}
	return nil
}

// guarded returns an insertion into a server. If its text could answer subrequests, or lead them
// elsewhere, there are directives before it that keep them from it.
func (s *serverRendering) guarded(insert insertion) insertion {
	return func() error {
		before, start := s.page.here(), s.page.Len()
		if err := insert(); err != nil {
			return err
		}
		paths := s.subrequests()
		if len(paths) == 0 || !s.leads(start) {
			return nil
		}
		s.page.back(before)
		if err := s.page.execute(s.templates.core["subrequests"], paths); err != nil {
			return err
		}
		return insert()
	}
}

// leading are the directives that answer requests, lead them elsewhere or set variables: nginx obeys
// those of a server for its subrequests, too.
var leading = map[string]bool{"if": true, "return": true, "rewrite": true, "set": true}

// leads reports whether the text of a server since a position may do that. A snippet may.
func (s *serverRendering) leads(start int) bool {
	found := len(s.page.rawIn(start, s.page.Len())) > 0
	syntax.Directives(s.page.Bytes()[start:], func(d syntax.Directive) { found = found || leading[d.Name] })
	return found
}

// subrequests returns the paths of the server's subrequests.
func (s *serverRendering) subrequests() (paths []string) {
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
		if (d.Name == logByLua || d.Name == filterByLua) && ownScript.MatchString(d.Arg) {
			return // it changes nothing, or the header of the subrequest's own answer
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
