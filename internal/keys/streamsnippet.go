package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// StreamSnippet contains nginx directives for the stream level. They are beside those of
// others, and on ports of their own.
type StreamSnippet string

// UnmarshalText accepts complete directives, of which those that listen name a port.
func (s *StreamSnippet) UnmarshalText(text []byte) error {
	upstreams := StreamSnippet(text).upstreams()
	err := checkSnippet(text, func(statement syntax.Statement) string {
		switch {
		case statement.Depth == 0:
		case statement.Name() == "listen":
			_, wrong := portOf(statement)
			return wrong
		// The upstreams of Sluice lead to sockets that believe a PROXY header.
		case (statement.Name() == "proxy_pass" || statement.Name() == "pass") && len(statement.Tokens) > 1 && !strings.Contains(statement.Tokens[1], ":") && !slices.Contains(upstreams, statement.Tokens[1]):
			return "leads to an upstream that is not in the snippet: want HOST:PORT, or the name of an upstream of the snippet"
		}
		return reachesFromStream(statement)
	})
	if err != nil {
		return err
	}
	*s = StreamSnippet(text)
	return nil
}

// upstreams are the names of the upstreams in the snippet.
func (s StreamSnippet) upstreams() []string {
	var names []string
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		if statement.Name() == "upstream" && len(statement.Tokens) > 1 {
			names = append(names, statement.Tokens[1])
		}
	}
	return names
}

// Variables returns the variables that blocks of the snippet define, without their $.
func (s StreamSnippet) Variables() []string {
	var names []string
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		variable, groups := statement.Sets()
		for _, name := range append(groups, variable) {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ofStreams are the directives that a stream snippet may have, by their block. A directive
// that a later nginx adds may open connections, so that it is not among them. The lines of
// the other blocks are values.
var ofStreams = map[string][]string{
	"": {"server", "upstream", "map", "geo", "split_clients"},
	"server": strings.Fields(`access_log allow deny error_log listen pass preread_buffer_size preread_timeout proxy_bind
		proxy_buffer_size proxy_connect_timeout proxy_download_rate proxy_half_close proxy_next_upstream proxy_next_upstream_timeout
		proxy_next_upstream_tries proxy_pass proxy_protocol proxy_protocol_timeout proxy_requests proxy_responses
		proxy_socket_keepalive proxy_ssl proxy_ssl_certificate proxy_ssl_certificate_key proxy_ssl_ciphers proxy_ssl_crl
		proxy_ssl_name proxy_ssl_password_file proxy_ssl_protocols proxy_ssl_server_name proxy_ssl_session_reuse
		proxy_ssl_trusted_certificate proxy_ssl_verify proxy_ssl_verify_depth proxy_timeout proxy_upload_rate resolver
		resolver_timeout return server_name set set_real_ip_from ssl_alpn ssl_certificate ssl_certificate_key ssl_ciphers
		ssl_client_certificate ssl_crl ssl_dhparam ssl_ecdh_curve ssl_handshake_timeout ssl_password_file ssl_preread
		ssl_prefer_server_ciphers ssl_protocols ssl_session_tickets ssl_session_timeout ssl_trusted_certificate ssl_verify_client
		ssl_verify_depth tcp_nodelay`),
	"upstream": strings.Fields("hash least_conn random resolver resolver_timeout server zone"),
}

func reachesFromStream(s syntax.Statement) string {
	if s.Depth == 0 && !slices.Contains(ofStreams[""], s.Name()) {
		return "changes the servers of others: want it in a block such as server or upstream"
	}
	if s.Block == "upstream" && s.Name() == "server" && len(s.Tokens) > 1 && namesSocket(s.Tokens[1]) {
		return "may lead to a unix socket: want a host that is written out"
	}
	if why := reaches(s); why != "" {
		return why
	}
	if allowed, limited := ofStreams[s.Block]; s.Depth > 1 || s.Depth == 1 && limited && !slices.Contains(allowed, s.Name()) {
		return "is not among the directives of a stream snippet, which docs/snippets.md lists"
	}
	return ""
}

// Ports returns the ports on which the snippet listens, each once.
func (s StreamSnippet) Ports() []model.StreamPort {
	statements, _ := syntax.Parse([]byte(s))
	var found []model.StreamPort
	for _, statement := range statements {
		if statement.Name() != "listen" {
			continue
		}
		if port, wrong := portOf(statement); wrong == "" && !slices.Contains(found, port) {
			found = append(found, port)
		}
	}
	return found
}

// portOf returns the port of a listen directive, or the reason why it cannot be.
func portOf(s syntax.Statement) (port model.StreamPort, wrong string) {
	if len(s.Tokens) < 2 {
		return port, "names no port"
	}
	text := s.Tokens[1]
	if at := strings.LastIndexByte(text, ':'); at >= 0 && !strings.HasPrefix(strings.ToLower(text), "unix:") {
		text = text[at+1:]
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > 65535 {
		return port, fmt.Sprintf("needs a port from 1 to 65535, as in 9000 or 127.0.0.1:9000 (got %s)", model.Quoted(s.Tokens[1]))
	}
	port = model.StreamPort{Protocol: model.TCP, Number: number}
	if slices.Contains(s.Tokens[2:], "udp") {
		port.Protocol = model.UDP
	}
	return port, ""
}
