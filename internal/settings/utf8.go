package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Unclean is a variable whose value may be no UTF-8, because a client or a backend chose it.
// Readers of JSON drop the whole line then, and nginx escapes none of these bytes. In a format
// for JSON, the variable with "logs_utf8_" in front stands for it: a map gives the value itself if it is
// UTF-8, which takes 0.5 ms for a body of 1 MB. Otherwise another map writes U+FFFD in place of the
// wrong bytes of its beginning, as that takes 10 ns or more for each byte.
type Unclean string

// utf8Prefix begins the names of the variables with mended values.
const utf8Prefix = "logs_utf8_"

// places is the number of places with wrong bytes that are mended. The value ends at the next one.
const places = 16

// mostMended is how much of such a value is mended, in bytes. It ends there.
const mostMended = 8192

// character is a pattern for bytes that are UTF-8, as of RFC 3629, section 4.
const character = `[\x00-\x7F]++|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]` +
	`|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}`

// replacement is U+FFFD, as a pattern.
const replacement = `\xEF\xBF\xBD`

// Wrong is a pattern for values that are no UTF-8. A group has the beginning, which is to be mended.
func (u Unclean) Wrong() string {
	return fmt.Sprintf(`~^(?=(?<%sbeginning>[\x00-\xFF]{0,%d}))(?:%s)*+[\x80-\xFF]`, utf8Prefix, mostMended, character)
}

// Mending is a pattern for such a beginning with a U+FFFD in front, from which each mark is copied that a
// place needs. Group 1 is a character, and group 2 is wrong bytes.
func (u Unclean) Mending() string {
	var pattern strings.Builder
	pattern.WriteString(`~^(?(DEFINE)(` + character + `)((?:(?!(?1))[\x80-\xFF])++))`)
	for i := 1; i <= places; i++ {
		fmt.Fprintf(&pattern, `(?:(?=(?<%smark_%d>%s)(?:(?1)*+(?2)){%d}))?`, utf8Prefix, i, replacement, i)
	}
	fmt.Fprintf(&pattern, `%s(?<%spart_0>(?1)*+)`, replacement, utf8Prefix)
	for i := 1; i <= places; i++ {
		fmt.Fprintf(&pattern, `(?:(?2)(?<%spart_%d>(?1)*+))?`, utf8Prefix, i)
	}
	return pattern.String()
}

// Mended are the variables that make up the mended value.
func (u Unclean) Mended() []string {
	all := []string{utf8Prefix + "part_0"}
	for i := 1; i <= places; i++ {
		all = append(all, utf8Prefix+"mark_"+strconv.Itoa(i), utf8Prefix+"part_"+strconv.Itoa(i))
	}
	return all
}

// clean are the variables whose values are always UTF-8.
var clean = strings.Fields(`body_bytes_sent bytes_sent connection connection_requests connection_time gzip_ratio hostname http2 https is_args msec
	nginx_version pid pipe proxy_host proxy_port proxy_protocol_addr proxy_protocol_port proxy_protocol_server_addr proxy_protocol_server_port
	realip_remote_addr realip_remote_port remote_addr remote_port request_completion request_id request_length request_method request_time scheme
	server_addr server_port server_protocol ssl_cipher ssl_curve ssl_client_fingerprint ssl_client_serial ssl_client_v_end ssl_client_v_remain
	ssl_client_v_start ssl_early_data ssl_protocol ssl_session_id ssl_session_reused status tcpinfo_rtt tcpinfo_rttvar tcpinfo_snd_cwnd
	tcpinfo_rcv_space time_iso8601 time_local upstream_addr upstream_bytes_received upstream_bytes_sent upstream_cache_status upstream_connect_time
	upstream_header_time upstream_response_length upstream_response_time upstream_status connection_upgrade ingress_name limit_conn_status
	limit_req_status location_path namespace opentelemetry_context_traceparent opentelemetry_span_id opentelemetry_trace_id pass_access_scheme pass_port pass_server_port proxy_alternative_upstream_name proxy_upstream_name
	redirect_scheme route service_name service_port`)

// isClean also holds for variables of GeoIP, whose databases an administrator chose.
func isClean(name string) bool {
	return slices.Contains(clean, name) || strings.HasPrefix(name, "geoip2_")
}

// uncleanOf returns the variables of a format that are not clean, sorted.
func uncleanOf(format string) []Unclean {
	var found []Unclean
	for _, name := range variablesOf(format) {
		if name != "" && !isClean(name) {
			found = append(found, Unclean(name))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// mendedFormat writes the mended variables into a format for JSON.
func mendedFormat(format string) string {
	first, rest, found := strings.Cut(format, "$")
	var out strings.Builder
	out.WriteString(first)
	for found {
		var part string
		part, rest, found = strings.Cut(rest, "$")
		name, brace := strings.TrimPrefix(part, "{"), ""
		if name != part {
			brace = "{"
		}
		word := name
		if end := strings.IndexFunc(name, endsName); end >= 0 {
			word = name[:end]
		}
		out.WriteString("$" + brace)
		if word != "" && !isClean(word) {
			out.WriteString(utf8Prefix)
		}
		out.WriteString(name)
	}
	return out.String()
}
