package tokens

import (
	"errors"
	"slices"
	"strings"

	"sluice/internal/model"
)

// KnownVariables may be used in users' values. They describe the request, the connection
// or the answer, and cannot run anything. Every nginx from 1.22 on has them, or all
// modes of the templates define them: nginx refuses the whole file for an unknown
// variable, and names no line. $http3 is missing, because an nginx without QUIC lacks it.
// Source: https://nginx.org/en/docs/varindex.html
var KnownVariables = words(`args body_bytes_sent bytes_sent connection connection_requests connection_time content_length
	content_type document_uri gzip_ratio host hostname http2 https is_args msec nginx_version pid pipe query_string proxy_host proxy_port
	proxy_protocol_addr proxy_protocol_port proxy_protocol_server_addr proxy_protocol_server_port
	proxy_add_x_forwarded_for realip_remote_addr realip_remote_port remote_addr remote_port remote_user request
	request_body request_completion request_id request_length request_method request_time request_uri
	scheme server_addr server_name server_port server_protocol ssl_cipher ssl_ciphers ssl_curve ssl_curves
	ssl_client_escaped_cert ssl_client_fingerprint ssl_client_i_dn ssl_client_s_dn ssl_client_serial ssl_client_v_end
	ssl_client_v_remain ssl_client_v_start ssl_client_verify ssl_early_data ssl_protocol ssl_server_name ssl_session_id
	ssl_session_reused status tcpinfo_rtt tcpinfo_rttvar tcpinfo_snd_cwnd tcpinfo_rcv_space time_iso8601 time_local
	upstream_addr upstream_bytes_received upstream_bytes_sent upstream_cache_status upstream_connect_time
	upstream_header_time upstream_response_length upstream_response_time
	upstream_status uri
	best_http_host connection_upgrade full_x_forwarded_for ingress_name namespace pass_access_scheme pass_port pass_server_port proxy_alternative_upstream_name
	proxy_upstream_name redirect_host redirect_scheme redirect_uri req_id request_path route service_name service_port`)

// InternalVariables are for templates only: not every mode defines them, or their values
// are not text.
var InternalVariables = words(`announced_addr arrived_port binary_remote_addr debug_client debug_token decision early_data escaped_request_uri metric_labels opentelemetry opentelemetry_question_header request_metrics vouched_addr`)

// Borrowed are variables of ingress-nginx that only texts of users need, with their values where
// nothing sets them. They are defined where a snippet or the format of the access log names them.
// Source: nginx.tmpl of ingress-nginx 1.15, and its module for OpenTelemetry.
var Borrowed = map[string]string{
	"auth_cookie": "", "balancer_ewma_score": "-1", "cache_key": "", "cors": "", model.EscapedURI: "", "global_rate_limit_exceeding": "n", LocationPath: "", "loggable": "1",
	"opentelemetry_context_traceparent": "", "opentelemetry_span_id": "", "opentelemetry_trace_id": "", "target": "", "tmp_cache_key": "",
}

func borrowed(name string) bool {
	_, known := Borrowed[name]
	return known
}

// streamVariables may be used in the format of the access log of TCP and UDP
// services.
// Source: https://nginx.org/en/docs/varindex.html, those of ngx_stream_*
var streamVariables = words(`bytes_received bytes_sent connection hostname msec nginx_version pid protocol proxy_protocol_addr
	proxy_protocol_port proxy_protocol_server_addr proxy_protocol_server_port remote_addr remote_port server_addr server_port
	session_time status time_iso8601 time_local upstream_addr upstream_bytes_received upstream_bytes_sent upstream_connect_time
	upstream_first_byte_time upstream_session_time`)

// Patterned are the known variables that our maps compute with a pattern.
var Patterned = words(`best_http_host connection_upgrade ingress_name namespace redirect_host redirect_scheme redirect_uri
	request_path service_name service_port`)

// unclean are the known variables whose values can contain line ends: the body, and
// values that nginx or OpenSSL decoded.
var unclean = words(`document_uri remote_user request_body ssl_server_name uri`)

// families begin names whose rest the user chooses.
var families = []string{"arg_", "cookie_", "http_", "sent_http_", "sent_trailer_", "upstream_cookie_", "upstream_http_", "upstream_trailer_"}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// captured reports whether a variable is a capture of a path: $1 to $9, or a named group
// ($p_...).
func captured(name string) bool {
	return len(name) == 1 && name[0] >= '1' && name[0] <= '9' || len(name) > 2 && strings.HasPrefix(name, "p_")
}

// Known reports whether users may name a variable.
func Known(name string) bool {
	return KnownVariables[name] || slices.ContainsFunc(families, func(family string) bool {
		return strings.HasPrefix(name, family) && len(name) > len(family)
	})
}

// VariablesOf returns the beginning of the names of a behaviour's own variables: the only
// ones that it may set.
func VariablesOf(behaviour string) string { return strings.ReplaceAll(behaviour, "-", "_") + "_" }

// declared begin the names of variables that templates declare.
var declared = []string{"match_", "query_", "dispatch_", "external_auth_", "limits_", ofUTF8}

// IsDeclared reports whether a variable is one that templates declare.
func IsDeclared(name string) bool {
	return slices.ContainsFunc(declared, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}

// PrintVariable prints "$name"; the value comes with or without the "$".
func PrintVariable(s string) (string, error) { return PrintOwnVariable("", s) }

// PrintOwnVariable is printVariable in a template of a behaviour; own begins the names of
// its own variables.
func PrintOwnVariable(own, s string) (string, error) {
	name := strings.TrimPrefix(s, "$")
	if !partBytes.Holds(name) || strings.ContainsAny(name, ".:/-") || !Known(name) && !InternalVariables[name] && !borrowed(name) && !GeoIP[name] && !IsDeclared(name) && !(own != "" && strings.HasPrefix(name, own)) {
		return "", &Refusal{Want: "the name of a variable that may be used here", Got: s}
	}
	return limit("$"+name, s)
}

// printVariableList prints the values of variables side by side.
func printVariableList(value any) (string, error) {
	names, ok := value.([]string)
	if !ok || len(names) == 0 {
		return "", &Refusal{Want: "names of variables"}
	}
	var all strings.Builder
	for _, name := range names {
		printed, err := PrintVariable(name)
		if err != nil {
			return "", err
		}
		all.WriteString(printed)
	}
	return limit(`"`+all.String()+`"`, names[0])
}

// ofLog are the variables that only the access log has a use for.
// Source: https://nginx.org/en/docs/http/ngx_http_limit_req_module.html#variables
var ofLog = words(`limit_conn_status limit_req_status`)

// LocationPath is the variable with the path of a rule. It is set for the access log only,
// so only its format may name it.
const LocationPath = "location_path"

// printLogFormat prints the format of the access log.
func printLogFormat(s string) (string, error) {
	return printVariables(s, func(name string) bool { return borrowed(name) || ofLog[name] || GeoIP[name] || Known(name) })
}

// ofUTF8 begins the names of the variables whose values are mended for JSON.
const ofUTF8 = "logs_utf8_"

// printJSONFormat prints the format of an access log in JSON, in which another variable stands for
// each that may be no UTF-8.
func printJSONFormat(s string) (string, error) {
	printed, err := printVariables(s, func(name string) bool {
		of := strings.TrimPrefix(name, ofUTF8)
		return borrowed(of) || ofLog[of] || GeoIP[name] || Known(of)
	})
	var refused *Refusal
	if errors.As(err, &refused) {
		refused.Got = strings.ReplaceAll(refused.Got, ofUTF8, "") // as its author wrote it
	}
	return printed, err
}

// GeoIP are the variables about the place of a client. Only the format of the access log may
// name them: they depend on the databases, and render defines those that are missing.
var GeoIP = words(`geoip2_country_code geoip2_country_name geoip2_country_geoname_id geoip2_continent_code geoip2_continent_name
	geoip2_continent_geoname_id geoip2_city_country_code geoip2_city_country_name geoip2_city_country_geoname_id
	geoip2_city_continent_code geoip2_city_continent_name geoip2_city geoip2_city_geoname_id geoip2_postal_code geoip2_dma_code
	geoip2_latitude geoip2_longitude geoip2_time_zone geoip2_region_code geoip2_region_name geoip2_region_geoname_id
	geoip2_subregion_code geoip2_subregion_name geoip2_subregion_geoname_id geoip2_asn geoip2_org geoip2_isp geoip2_isp_org
	geoip2_is_anon geoip2_is_anonymous geoip2_is_anonymous_vpn geoip2_is_hosting_provider geoip2_is_public_proxy
	geoip2_is_tor_exit_node geoip2_connection_type`)

// printStreamFormat prints the format of the access log of TCP and UDP services.
func printStreamFormat(s string) (string, error) {
	return printVariables(s, func(name string) bool { return streamVariables[name] })
}

// PrintHeader prints the value of a header. nginx writes variables unchanged, and a line
// end would begin another header.
func PrintHeader(s string) (string, error) {
	return printVariables(s, inHeaders)
}

// inHeaders reports whether a variable may be in a header.
func inHeaders(name string) bool { return Known(name) && !unclean[name] || name == model.EscapedURI }

// printParameter prints the value of a FastCGI parameter. Its length stands before it, so a
// line end in it does no harm.
func printParameter(s string) (string, error) {
	return printVariables(s, func(name string) bool { return Known(name) || ofFastCGI[name] })
}

// ofFastCGI are the variables of nginx's FastCGI module.
// Source: https://nginx.org/en/docs/http/ngx_http_fastcgi_module.html#variables
var ofFastCGI = words(`fastcgi_path_info fastcgi_script_name`)

// printArgument prints an argument of a Lua program. Values with line ends do no harm there.
func printArgument(value any) (string, error) {
	s, err := Text(value)
	if err != nil {
		return "", err
	}
	switch value.(type) {
	case int, model.Word:
		return PrintWord(s)
	case model.Verbatim:
		return printVerbatim(s)
	}
	return printVariables(s, func(name string) bool { return Known(name) || name == model.EscapedURI })
}

// URL is the URL of a redirect in which further variables may be. None of them can contain a line
// end.
type URL struct {
	Text string
	// Own are the further variables, in lower case.
	Own []string
}

// printAnyURL prints a URL, or a text that is one.
func printAnyURL(value any) (string, error) {
	if url, ok := value.(URL); ok {
		return printURL(url.Text, url.Own...)
	}
	return OfText(func(s string) (string, error) { return printURL(s) })(value)
}

// printURL prints the URL of a redirect, which is a header. $uri becomes the path as the
// client sent it: nginx decodes $uri, so it can contain a line end.
func printURL(s string, own ...string) (string, error) {
	parts := strings.Split(s, "$")
	for i, part := range parts[1:] {
		if name, rest, whole := VariableName(part); whole && name == "uri" {
			parts[i+1] = "{request_path}" + rest
		}
	}
	return printVariables(strings.Join(parts, "$"), func(name string) bool {
		return name == model.RedirectRest || inHeaders(name) || slices.Contains(own, strings.ToLower(name))
	})
}

// printTarget prints the target of a rewrite. A variable that a map computes with a pattern
// would overwrite the captures while nginx copies them, past the room that it reserved.
func printTarget(s string) (string, error) {
	return printVariables(s, func(name string) bool { return captured(name) || Known(name) && !Patterned[name] })
}

// printVariables prints a token with variables. nginx refuses the whole file for an unknown
// one, so all must be known.
func printVariables(s string, known func(name string) bool) (string, error) {
	for rest := s; ; {
		_, after, found := strings.Cut(rest, "$")
		if !found {
			return quote(s)
		}
		name, more, whole := VariableName(after)
		switch want := "text whose $ names a known variable, such as $host"; {
		case !whole:
			return "", &Refusal{Want: want, Got: s}
		case !known(name):
			return "", &Refusal{Want: want, Got: "$" + name}
		}
		rest = more
	}
}

// VariableName reads the name behind a "$" as nginx does: one digit, or letters, digits
// and "_", in braces or not.
// Source: ngx_http_script_compile in nginx's src/http/ngx_http_script.c.
func VariableName(s string) (name, rest string, whole bool) {
	if s == "" {
		return "", "", false
	}
	if s[0] >= '1' && s[0] <= '9' {
		return s[:1], s[1:], true
	}
	braced := strings.HasPrefix(s, "{")
	s = strings.TrimPrefix(s, "{")
	length := 0
	for length < len(s) && (s[length] == '_' || partBytes[s[length]] && !strings.ContainsRune(".:/-", rune(s[length]))) {
		length++
	}
	name, rest = s[:length], s[length:]
	if !braced {
		return name, rest, name != ""
	}
	rest, whole = strings.CutPrefix(rest, "}")
	return name, rest, whole && name != "" && name[0] > '9'
}
