package render

import (
	"slices"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/syntax"
)

// The blocks of snippets of servers whose text is read here.
const (
	serverSnippet = "server-snippet"
	httpSnippet   = "http-snippet"
)

// snippetHeaders are the directives that set headers for backends.
var snippetHeaders = []string{"proxy_set_header", "grpc_set_header", "fastcgi_param"}

// snippetOf returns the text of the server snippet of Ingresses in a server, "" for none.
func snippetOf(s *model.Server) string {
	if block := findBlock(s.Blocks, serverSnippet); block != nil {
		if text, ok := block.Data.(interface{ Snippet() keys.ServerSnippet }); ok {
			return string(text.Snippet())
		}
	}
	return ""
}

// withoutSnippetHeaders returns the directives of a server that its locations inherit: those without
// the headers of a server snippet. In ingress-nginx each location of a rule has headers of its own,
// so that only the locations of the snippet get those.
func (s *serverRendering) withoutSnippetHeaders(own []inheritable) []inheritable {
	s.unlike = nil
	ours := slices.Clone(own)
	for _, theirs := range inheritables([]byte(snippetOf(s.server))) {
		if !slices.Contains(snippetHeaders, theirs.directive) {
			continue
		}
		for at := len(ours) - 1; at >= 0; at-- { // the snippet is the last block
			if ours[at].text == theirs.text {
				ours = slices.Delete(ours, at, at+1)
				break
			}
		}
		if !slices.Contains(s.unlike, theirs.directive) {
			s.unlike = append(s.unlike, theirs.directive)
		}
	}
	return ours
}

// takesUnderscores reports whether nginx takes headers with "_" in their names from clients: by a
// setting, or by the snippet of a server. nginx reads headers by the settings of the server that
// the client named in TLS, whatever host it asks for then, so that one server counts for all.
func (r *rendering) takesUnderscores(servers []*model.Server) bool {
	if r.global.Client.TakesUnderscores() || slices.ContainsFunc(servers, func(s *model.Server) bool { return acceptsUnderscores(snippetOf(s)) }) {
		return true
	}
	http, _ := findBlock(r.global.blocks, httpSnippet).Data.(settings.HTTPSnippet)
	every, _ := findBlock(r.global.blocks, settings.ServersBlock).Data.(settings.ServersSnippet)
	return acceptsUnderscores(string(http.Text)) || acceptsUnderscores(string(every.Text))
}

// acceptsUnderscores reports whether directives of a snippet may have nginx take such headers.
func acceptsUnderscores(text string) (accepts bool) {
	if text == "" {
		return false
	}
	syntax.Directives([]byte(text), func(d syntax.Directive) {
		accepts = accepts || d.Name == "underscores_in_headers" && d.Arg != "off" || d.Name == "ignore_invalid_headers" && d.Arg != "on"
	})
	return accepts
}
