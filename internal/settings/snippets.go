package settings

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// MainSnippet, and the snippets below, contain nginx directives of the administrator. Each
// is a group, so that nginx's refusal of one leaves the others in force.
type MainSnippet struct {
	Text keys.MainSnippet `key:"main-snippet" empty:"zero" doc:"Directives of nginx for the main level, such as load_module and env. Sluice copies them unchanged."`
}

// HTTPSnippet is at the http level, before the servers.
type HTTPSnippet struct {
	Text keys.GlobalSnippet `key:"http-snippet" empty:"zero" closes:"true" doc:"Directives of nginx for the http level, such as map, geo, log_format, limit_req_zone and server. Sluice copies them unchanged."`
}

// ServersSnippet is in all servers, behind the locations.
type ServersSnippet struct {
	Text keys.GlobalSnippet `key:"server-snippet" empty:"zero" closes:"true" doc:"Directives of nginx for the servers of all hosts, also of unknown ones. Sluice copies them unchanged."`
}

// LocationsSnippet is in the locations of all paths that are served.
type LocationsSnippet struct {
	Text keys.GlobalSnippet `key:"location-snippet" empty:"zero" closes:"true" doc:"Directives of nginx for the locations of all paths, behind those of a configuration-snippet. Sluice copies them unchanged."`
}

// StreamsSnippet is at the stream level, behind the stream snippets of Ingresses.
type StreamsSnippet struct {
	Text keys.GlobalSnippet `key:"stream-snippet" empty:"zero" doc:"Directives of nginx for the stream level, such as servers for TCP or UDP. Sluice copies them unchanged."`
}

// The blocks of the snippets of all servers and all locations.
const (
	ServersBlock   = "servers-snippet"
	LocationsBlock = "locations-snippet"
)

// snippetBlocks are the blocks of the snippets. That of the stream level is a stream.
func (s *Settings) snippetBlocks(block func(name string, data any) model.Block) []model.Block {
	everywhere := block(LocationsBlock, s.LocationsSnippet)
	s.LocationsSnippet.Text.Place(&everywhere)
	return []model.Block{
		block("main-snippet", s.MainSnippet), block("http-snippet", s.HTTPSnippet), block(ServersBlock, s.ServersSnippet), everywhere,
	}
}

// AnswersPlainHTTP reports whether a snippet may answer requests that are redirected to HTTPS
// otherwise, or adds headers to the redirect.
func (s *Settings) AnswersPlainHTTP() bool {
	everywhere := keys.Snippet(s.LocationsSnippet.Text)
	return s.ServersSnippet.Text != "" || everywhere.Contains("return") || everywhere.SetsHeaders()
}

// unknownSnippet stands for a snippet that nginx refuses, where there is no other one to
// fall back to.
const unknownSnippet = "# refused by nginx"

// closeUnknown notes that no path may be served, because a snippet that may restrict access is not
// in force, or none that the server of global-auth-url is asked about, because the snippet of these
// questions is not.
func (s *Settings) closeUnknown() {
	for key, text := range map[string]keys.GlobalSnippet{"http-snippet": s.HTTPSnippet.Text, "server-snippet": s.ServersSnippet.Text, "location-snippet": s.LocationsSnippet.Text} {
		if text == unknownSnippet {
			s.source.denies = true
			s.mistaken(Mistake{Key: key, Closes: key})
		}
	}
	if s.Auth.Snippet != unknownSnippet {
		return
	}
	if s.Auth.Snippet = ""; s.Auth.URL != "" {
		s.Auth.URL, s.source.broken[authURL] = "", true
		s.mistaken(Mistake{Key: authSnippet, Closes: authURL})
	}
}

// The server that is asked about all Ingresses, and the snippet of the questions.
const (
	authURL     = "global-auth-url"
	authSnippet = "global-auth-snippet"
)

// withoutGood leaves a mark in place of the snippets that fall back to nothing and may be
// what restricts access: those of all paths if there is no good ConfigMap, and that of questions
// which none was asked before. good can be nil.
func withoutGood(fallen, written, good *corev1.ConfigMap, falls func(key, value string) bool) {
	before := &Settings{}
	if good != nil {
		before, _ = Read(good)
	}
	for key, value := range written.Data {
		lower := strings.ToLower(key)
		closes := good == nil && Catalog().Closes(lower, value) || lower == authSnippet && before.Auth.URL == "" && strings.TrimSpace(value) != ""
		if closes && falls(key, value) {
			fallen.Data[key] = unknownSnippet
		}
	}
}
