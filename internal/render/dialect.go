package render

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// dialect says the same as directives of nginx's proxy module in the words of the module
// that speaks another protocol. Templates of behaviours only know the proxy module.
type dialect struct {
	protocol model.BackendProtocol
	// words are its directives by those of the proxy module, "" for those without a
	// counterpart. Other directives stay as they are.
	words map[string]string
	// header returns the directive that sets a header; empty for none.
	header func(name, rest string) string
}

// untranslated are the directives of the proxy module that only make sense for HTTP.
var untranslated = []string{
	"proxy_cache", "proxy_cache_key", "proxy_cache_path", "proxy_cache_valid", "proxy_no_cache", // of questions to authentication servers, which are HTTP
	"proxy_cookie_domain", "proxy_cookie_flags", "proxy_cookie_path", "proxy_http_version", "proxy_method", "proxy_pass_request_body", "proxy_pass_request_headers", "proxy_redirect",
}

// unbuffered are those of buffers: gRPC has none but the first.
var unbuffered = []string{
	"proxy_buffering", "proxy_buffers", "proxy_busy_buffers_size", "proxy_limit_rate", "proxy_max_temp_file_size", "proxy_request_buffering",
}

// common are those that each module has.
var common = []string{
	"proxy_buffer_size", "proxy_connect_timeout", "proxy_hide_header", "proxy_ignore_headers", "proxy_intercept_errors", "proxy_next_upstream", "proxy_next_upstream_timeout",
	"proxy_next_upstream_tries", "proxy_pass_header", "proxy_read_timeout", "proxy_send_timeout", "proxy_socket_keepalive",
}

// secure are those of TLS with backends.
var secure = []string{
	"proxy_ssl_certificate", "proxy_ssl_certificate_key", "proxy_ssl_ciphers", "proxy_ssl_crl", "proxy_ssl_name", "proxy_ssl_protocols", "proxy_ssl_server_name",
	"proxy_ssl_session_reuse", "proxy_ssl_trusted_certificate", "proxy_ssl_verify", "proxy_ssl_verify_depth",
}

// setHeader sets a header, or a parameter of FastCGI.
const setHeader = "proxy_set_header"

// Sources: https://nginx.org/en/docs/http/ngx_http_grpc_module.html and
// https://nginx.org/en/docs/http/ngx_http_fastcgi_module.html
var dialects = []*dialect{
	{protocol: model.FastCGI, words: wordsOf("fastcgi_", slices.Concat(common, unbuffered), slices.Concat(untranslated, secure)), header: parameter},
	{protocol: model.GRPC, words: wordsOf("grpc_", slices.Concat(common, secure), slices.Concat(untranslated, unbuffered)), header: grpcHeader},
}

func wordsOf(prefix string, known, unknown []string) map[string]string {
	words := map[string]string{}
	for _, name := range known {
		words[name] = prefix + strings.TrimPrefix(name, "proxy_")
	}
	for _, name := range unknown {
		words[name] = ""
	}
	return words
}

// dialectOf returns the dialect of a location, nil for HTTP.
func dialectOf(l *model.Location) *dialect {
	if l.Proxy == nil {
		return nil
	}
	return dialectFor(l.Proxy.Transport.Protocol)
}

func dialectFor(protocol model.BackendProtocol) *dialect {
	for _, d := range dialects {
		if d.protocol == protocol {
			return d
		}
	}
	return nil
}

// translate returns the text of a location's directives in the dialect. Directives within
// blocks stay as they are.
func (d *dialect) translate(text []byte) []byte {
	if d == nil {
		return text
	}
	var out bytes.Buffer
	done := 0
	syntax.Directives(text, func(said syntax.Directive) {
		if said.Depth > 0 || said.Opens {
			return
		}
		if words, known := d.directive(said, text); known {
			out.Write(text[done:said.Start])
			out.WriteString(words)
			done = said.End
		}
	})
	out.Write(text[done:])
	return out.Bytes()
}

// directive returns a directive in the dialect, empty if it has no counterpart; false if it
// stays as it is.
func (d *dialect) directive(said syntax.Directive, text []byte) (words string, known bool) {
	rest := strings.TrimPrefix(string(text[said.Start:said.End]), said.Name)
	if said.Name == setHeader {
		name, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
		return d.header(name, value), true
	}
	name, known := d.words[said.Name]
	switch {
	case name == "":
		return "", known
	case name == "fastcgi_next_upstream":
		return name + knownToFastCGI(rest), true
	}
	return name + rest, true
}

// grpcHeader sets a header of a gRPC request. HTTP/2 has no headers of the connection.
func grpcHeader(name, rest string) string {
	if strings.EqualFold(name, "Connection") || strings.EqualFold(name, "Upgrade") {
		return ""
	}
	return "grpc_set_header " + name + " " + rest
}

// parameter sets a header in the form of CGI. nginx then leaves out that of the client. An
// empty one is not sent, as with HTTP. Source: RFC 3875, section 4.1.18.
func parameter(name, rest string) string {
	if strings.EqualFold(name, "Connection") || strings.EqualFold(name, "Upgrade") {
		return ""
	}
	name = "HTTP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if rest == `"";` {
		return "fastcgi_param " + name + " " + rest
	}
	return "fastcgi_param " + name + " " + strings.TrimSuffix(rest, ";") + " if_not_empty;"
}

// knownToFastCGI drops the statuses that fastcgi_next_upstream lacks.
func knownToFastCGI(rest string) string {
	words := slices.DeleteFunc(strings.Fields(strings.TrimSuffix(rest, ";")), func(word string) bool { return word == "http_502" || word == "http_504" })
	if len(words) == 0 {
		words = []string{"off"}
	}
	return " " + strings.Join(words, " ") + ";"
}

// learnDialects adds the directives of the dialects to the grammar.
func (t *Templates) learnDialects() {
	for _, at := range []*tokens.Node{t.grammar.At(inHTTP...), t.hosts.At(inServer...), t.hosts.At(inLocation...)} {
		for _, d := range dialects {
			for name, words := range d.words {
				if args, printed := at.Leaves[name]; printed && words != "" {
					at.Leaf(words, args)
				}
			}
		}
		at.Leaf("grpc_set_header", tokens.Counts{Min: 2, Max: 2})
		at.Leaf("fastcgi_param", tokens.Counts{Min: 2, Max: 3})
	}
}

// learnInherited adds the directives that blockList repeats in a server or a location, which
// can be those of the http level or of a server snippet, and the one that stands for add_header.
func (t *Templates) learnInherited() {
	for _, at := range []*tokens.Node{t.grammar.At(inServer...), t.hosts.At(inServer...), t.hosts.At(inLocation...)} {
		for name := range inheritedWhole {
			at.Leaf(name, tokens.Counts{Min: 1, Max: 3})
		}
	}
	for _, at := range []*tokens.Node{t.grammar.At(inHTTP...), t.grammar.At(inServer...), t.hosts.At(inServer...), t.hosts.At(inLocation...)} {
		at.Leaf(setMore, tokens.Counts{Min: 1, Max: 1})
	}
}

// spokenText is the text of the http level in a dialect.
type spokenText struct {
	*dialect
	chunk *chunk
}

// speakAll says the directives of the http level in each dialect.
func (r *rendering) speakAll(http []byte) {
	for _, d := range dialects {
		if d.protocol == model.FastCGI {
			r.must("fastcgi", r.view.Forwarded, inHTTP...)
		}
		_ = r.attempt(r.templates.grammar.At(inHTTP...), func() error {
			syntax.Directives(http, func(said syntax.Directive) {
				if said.Depth > 0 || said.Opens {
					return
				}
				if words, _ := d.directive(said, http); words != "" && !r.saidAlready(words) {
					r.page.WriteString(words + "\n")
				}
			})
			return nil
		})
		c := r.page.cut()
		r.spoken = append(r.spoken, spokenText{d, c})
		r.outside = append(r.outside, inheritables(c.text)...)
	}
}

// speakOwn says the directives of the server in the dialects of its locations, with those
// of the http level that they would no longer inherit.
func (s *serverRendering) speakOwn(own []inheritable) {
	for _, d := range dialects {
		if !speaks(s.server, d) {
			continue
		}
		var text bytes.Buffer
		for _, i := range own {
			syntax.Directives([]byte(i.text), func(said syntax.Directive) {
				if words, _ := d.directive(said, []byte(i.text)); words != "" {
					text.WriteString(words + "\n")
				}
			})
		}
		spoken := inheritables(text.Bytes())
		for _, i := range append(lost(s.outside, spoken), spoken...) {
			s.page.WriteString(indents["server"] + i.text + "\n")
		}
		s.inherited = inForce(s.inherited, spoken)
	}
}

// speaks reports whether a location of a server speaks a dialect.
func speaks(s *model.Server, d *dialect) bool {
	return slices.ContainsFunc(s.Locations, func(l *model.Location) bool { return dialectOf(l) == d }) ||
		slices.ContainsFunc(s.Internal, func(i *model.Internal) bool { return dialectOf(i.Location) == d })
}

// saidAlready reports whether the settings print a directive of a dialect themselves.
func (r *rendering) saidAlready(words string) bool {
	return r.global.GRPC.BufferSize > 0 && strings.HasPrefix(words, "grpc_buffer_size ")
}

// inUse returns the texts of the dialects that a location speaks.
func (r *rendering) inUse(all []upstream) []*chunk {
	var chunks []*chunk
	for _, s := range r.spoken {
		if slices.ContainsFunc(all, func(u upstream) bool { return u.Protocol == s.protocol }) {
			chunks = append(chunks, s.chunk)
		}
	}
	return chunks
}
