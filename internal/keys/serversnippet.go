package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// ServerSnippet contains nginx directives for the servers of the hosts of an Ingress. They
// must not affect other hosts, nor weaken what protects paths of other Ingresses.
type ServerSnippet string

// UnmarshalText accepts a Snippet that reaches nothing outside of its servers. It leaves out an
// "allow all" that only follows deny.
func (s *ServerSnippet) UnmarshalText(text []byte) error {
	text = withoutNeedlessAllow(text)
	err := checkSnippet(text, func(statement syntax.Statement) string {
		if why := reachesInHTTP(statement); why != "" || !isBesideLocations(statement) {
			return why
		}
		return reachesFromServer(statement)
	})
	if err != nil {
		return err
	}
	*s = ServerSnippet(text)
	return nil
}

// Inherited returns the first directive that paths of other Ingresses would inherit from the
// snippet and that is not for all of them, with its line, "" for none, and the reason.
func (s ServerSnippet) Inherited() (what, why string) {
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		if !isBesideLocations(statement) {
			continue
		}
		if why = inherited(statement); why != "" {
			return fmt.Sprintf("line %d: %s", statement.Line, model.Quoted(statement.Name())), why
		}
	}
	return "", ""
}

// lifting are the directives by which nginx lets in, at paths that inherit them, whom something at
// the path refuses.
var lifting = []string{"satisfy any", "limit_req_dry_run on", "limit_conn_dry_run on"}

// Lifts returns the name of the first directive that lifts protections of the paths that inherit
// it, and what it is with its line; "" for none.
func (s ServerSnippet) Lifts() (name, what string) {
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		if slices.Contains(lifting, strings.Join(statement.Tokens, " ")) && isBesideLocations(statement) {
			return statement.Name(), fmt.Sprintf("line %d: %s", statement.Line, model.Quoted(statement.Name()))
		}
	}
	return "", ""
}

// isBesideLocations reports whether a statement is outside of the locations of a snippet.
func isBesideLocations(s syntax.Statement) bool { return s.Depth <= 1 && s.Block != "location" }

// ofServers are directives that may be in a location of a server snippet, but not beside it.
var ofServers = []struct {
	name *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`^(?:listen|server_name|http2|http3|quic.*)$`), "decides which requests come to the server: want the rules of the Ingress, or server-alias"},
	// A server without a certificate of its own ignores them.
	{regexp.MustCompile(`^ssl_`), "has no effect on the TLS of one host: want the annotations ssl-ciphers and auth-tls-secret"},
	{regexp.MustCompile(`^merge_slashes$`), "changes which paths nginx finds, and so what protects them"},
	{regexp.MustCompile(`^(?:proxy|fastcgi|scgi|uwsgi)_cache$`), "keeps the answers of authentication servers too: want it in a location of the snippet, or in a configuration-snippet"},
}

// reachesFromServer returns why no server snippet may have a directive beside its locations, "" if
// it may.
func reachesFromServer(s syntax.Statement) string {
	for _, f := range ofServers {
		if f.name.MatchString(s.Name()) {
			return f.why
		}
	}
	return ""
}

// besideLocations are the directives that all Ingresses of a host may inherit from a server snippet,
// also those of other namespaces. None decides who gets in, or what a backend learns about a
// client. deny only refuses: without allow beside it, nobody whom a location refuses gets in.
// proxy_set_header and the like are in no location but those of the snippet.
var besideLocations = regexp.MustCompile(`^(?:location|set|if|return|rewrite|break|deny` +
	`|proxy_set_header|grpc_set_header|fastcgi_param` +
	`|add_header|add_trailer|more_(?:set|clear)_headers|proxy_hide_header|expires|etag` +
	`|charset|charset_types|override_charset|source_charset|default_type` +
	`|client_max_body_size|client_body_buffer_size|client_(?:body|header)_timeout|send_timeout` +
	`|keepalive_(?:requests|time|timeout)|lingering_(?:close|time|timeout)|reset_timedout_connection` +
	`|(?:proxy|grpc|fastcgi)_(?:connect|read|send)_timeout|proxy_buffering|proxy_buffers|proxy_buffer_size|proxy_busy_buffers_size` +
	`|proxy_request_buffering|proxy_max_temp_file_size|proxy_temp_file_write_size` +
	`|(?:gzip|brotli)(?:_buffers|_comp_level|_disable|_http_version|_min_length|_proxied|_types|_vary|_window)?` +
	`|sub_filter|sub_filter_(?:once|types|last_modified)` +
	`|server_tokens|log_not_found|tcp_nodelay|tcp_nopush|sendfile|output_buffers|max_ranges|if_modified_since|chunked_transfer_encoding` +
	`|absolute_redirect|port_in_redirect|server_name_in_redirect)$`)

// inherited returns why paths of other namespaces should not inherit a directive, "" if they may.
func inherited(s syntax.Statement) string {
	if limited, ok := inSomeForms[s.Name()]; ok {
		if !limited.valid(s.Tokens[1:]) {
			return limited.why + ", as docs/snippets.md lists"
		}
		return ""
	}
	if variable, _ := s.Sets(); variable == "loggable" {
		return "decides which requests to the other Ingresses of the host are in the access log: want it in a location, or in a configuration-snippet, as docs/snippets.md lists"
	}
	if !besideLocations.MatchString(s.Name()) {
		return "is not for all Ingresses of the host, which inherit it: want deny, headers of answers, sizes, timeouts, buffers, compression, sub_filter, set, if, return, rewrite, and error_page and sizes of headers in some forms, which docs/snippets.md lists, or a configuration-snippet"
	}
	return ""
}

// SnippetLocation is a location in a server snippet, as nginx reads it.
type SnippetLocation struct {
	Modifier, Path string
}

// Locations returns the locations of the snippet that are in no other block.
func (s ServerSnippet) Locations() []SnippetLocation {
	statements, _ := syntax.Parse([]byte(s))
	var found []SnippetLocation
	for _, statement := range statements {
		if statement.Name() != "location" || statement.Depth > 0 {
			continue
		}
		switch args := statement.Tokens[1:]; {
		case len(args) == 2:
			found = append(found, SnippetLocation{args[0], args[1]})
		case len(args) == 1:
			found = append(found, joined(args[0]))
		}
	}
	return found
}

// joined reads a modifier and a path in one token, such as "=/x" or "~^/x".
// Source: ngx_http_core_location in nginx's src/http/ngx_http_core_module.c
func joined(token string) SnippetLocation {
	for _, modifier := range []string{"=", "^~", "~*", "~"} {
		if path, ok := strings.CutPrefix(token, modifier); ok {
			return SnippetLocation{modifier, path}
		}
	}
	return SnippetLocation{"", token}
}

// IsPattern reports whether nginx compares the location by a pattern.
func (l SnippetLocation) IsPattern() bool { return l.Modifier == "~" || l.Modifier == "~*" }
