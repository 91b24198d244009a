package settings

import "strings"

// logFields are the fields of access-log-format in order. bare are those without quotes: the
// values are never empty and, for JSON, numbers. $status is none of these, because it can be 000.
var logFields = []struct {
	name, variable         string
	bareJSON, bareInLogfmt bool
}{
	{"time", "time_iso8601", false, true},
	{"remote_addr", "remote_addr", false, true},
	{"remote_user", "remote_user", false, false},
	{"method", "request_method", false, false},
	{"scheme", "scheme", false, true},
	{"host", "host", false, false},
	{"uri", "request_uri", false, false},
	{"protocol", "server_protocol", false, false},
	{"status", "status", false, true},
	{"bytes_sent", "bytes_sent", true, true},
	{"body_bytes_sent", "body_bytes_sent", true, true},
	{"request_length", "request_length", true, true},
	{"request_time", "request_time", true, true},
	{"referer", "http_referer", false, false},
	{"user_agent", "http_user_agent", false, false},
	{"namespace", "namespace", false, false},
	{"ingress", "ingress_name", false, false},
	{"service", "service_name", false, false},
	{"service_port", "service_port", false, false},
	{"upstream", "proxy_upstream_name", false, false},
	{"alternative_upstream", "proxy_alternative_upstream_name", false, false},
	{"upstream_addr", "upstream_addr", false, false},
	{"upstream_status", "upstream_status", false, false},
	{"upstream_response_time", "upstream_response_time", false, false},
	{"upstream_response_length", "upstream_response_length", false, false},
	{"request_id", "req_id", false, false},
	{"traceparent", "http_traceparent", false, false},
	{"connection", "connection", true, true},
}

// FormatName returns the name of the log_format for a value of access-log-format. A name of an
// http-snippet is another one.
func FormatName(format string) string {
	if format == "text" {
		return "upstreaminfo"
	}
	return "sluice_" + format
}

// FormatText returns the text of a log_format with escape=json, "" for the one of
// log-format-upstream.
func FormatText(format string) string {
	var parts []string
	for _, f := range logFields {
		value := "$" + f.variable
		switch {
		case format == "json" && f.bareJSON:
			parts = append(parts, `"`+f.name+`":`+value)
		case format == "json":
			parts = append(parts, `"`+f.name+`":"`+value+`"`)
		case format == "logfmt" && f.bareInLogfmt:
			parts = append(parts, f.name+"="+value)
		case format == "logfmt":
			parts = append(parts, f.name+`="`+value+`"`)
		}
	}
	if format == "json" {
		return mendedFormat("{" + strings.Join(parts, ",") + "}")
	}
	return mendedFormat(strings.Join(parts, " "))
}

// FormatName returns the name of the log_format of the access log.
func (l Log) FormatName() string { return FormatName(l.AccessFormat) }

// FormatText returns the text of the log_format that the group prints, "" for none.
func (l Log) FormatText() string { return FormatText(l.AccessFormat) }

// Unclean returns the variables that the text needs mended.
func (l Log) Unclean() []Unclean { return UncleanOf(l.AccessFormat) }

// UncleanOf returns the variables that FormatText needs mended.
func UncleanOf(format string) []Unclean {
	var names strings.Builder
	for _, f := range logFields {
		names.WriteString("$" + f.variable + " ")
	}
	if FormatText(format) == "" {
		return nil
	}
	return uncleanOf(names.String())
}
