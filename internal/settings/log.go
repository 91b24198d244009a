package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// LogFormat is the format of the access log. It is a separate group, so that a format that
// cannot be printed does not affect the rest of Log.
type LogFormat struct {
	Format     string `key:"log-format-upstream" default:"$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id" validate:"max=3500" doc:"Format of the access log."`
	EscapeJSON bool   `key:"log-format-escape-json" default:"false" empty:"zero" doc:"Whether values in the access log are escaped for JSON."`
	EscapeNone bool   `key:"log-format-escape-none" default:"false" empty:"zero" doc:"Whether values in the access log are not escaped. It overrides log-format-escape-json."`
}

// StreamLog is the format of the access log of TCP and UDP services.
type StreamLog struct {
	Format string `key:"log-format-stream" default:"[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time" validate:"max=3500" doc:"Format of the access log of TCP and UDP services."`
}

// Log configures the logs. Their files must be below /var/log: clients choose much of the
// content, and a file elsewhere could be executed.
type Log struct {
	DisableAccess  bool           `key:"disable-access-log" default:"false" empty:"zero" doc:"Whether no access log is written."`
	DisableHTTP    bool           `key:"disable-http-access-log" default:"false" empty:"zero" doc:"Whether no access log of HTTP requests is written."`
	DefaultBackend bool           `key:"enable-access-log-for-default-backend" default:"false" empty:"zero" doc:"Whether requests that match no Ingress are in the access log."`
	AccessPath     string         `key:"access-log-path" default:"/dev/stdout" validate:"max=255,access_log_file" doc:"File of the access log. It must be writable; Sluice does not rotate it."`
	HTTPAccessPath string         `key:"http-access-log-path" validate:"max=255,access_log_file" doc:"File of the access log of HTTP requests. Default: that of access-log-path."`
	DisableStream  bool           `key:"disable-stream-access-log" default:"false" empty:"zero" doc:"Whether no access log of TCP and UDP services is written."`
	StreamPath     string         `key:"stream-access-log-path" validate:"max=255,access_log_file" doc:"File of the access log of TCP and UDP services. Default: that of access-log-path."`
	AccessFormat   string         `key:"access-log-format" default:"text" validate:"oneof=text json logfmt" doc:"Format of the lines of the access log: text is that of log-format-upstream, json an object in each line, and logfmt words NAME=VALUE."`
	AccessShares   keys.LogShares `key:"access-log-sampling" empty:"zero" doc:"Shares of requests that are in the access log, by status or class of statuses, such as \"2xx=1% 3xx=10%\". A status counts before its class, and requests with other statuses are all in the log."`
	AccessParams   keys.Words     `key:"access-log-params" validate:"dive,access_log_param" doc:"Parameters of the file of the access log: buffer writes blocks, gzip compresses them, and flush is the longest delay of a line with either."`
	SkipURLs       []string       `key:"skip-access-log-urls" empty:"zero" validate:"dive,max=2000,log_url" doc:"Requests that are not in the access log: a URI with its arguments, or a regular expression after ~ (~* ignores case)."`
	ErrorPath      string         `key:"error-log-path" default:"/dev/stderr" validate:"max=255,error_log_file" doc:"File for messages of nginx about requests. Its messages about itself always go to standard error."`
	ErrorLevel     string         `key:"error-log-level" default:"notice" validate:"oneof=debug info notice warn error crit alert emerg" doc:"Lowest level of messages in the error log."`
	Level          string         `key:"controller-log-level" default:"info" validate:"oneof=debug info warn error" doc:"Lowest level of lines that the controller itself logs to standard error: debug adds the steps of each sync, and warn leaves out syncs without an error."`
	Syslog         bool           `key:"enable-syslog" default:"false" empty:"zero" doc:"Whether the logs go to the syslog server at syslog-host instead of files."`
	SyslogHost     string         `key:"syslog-host" validate:"ip,address" doc:"IP address of the syslog server."`
	SyslogPort     int            `key:"syslog-port" default:"514" validate:"min=1,max=65535" doc:"UDP port of the syslog server."`

	// ByVariable is set if a snippet decides by $loggable which requests are in the access log.
	ByVariable bool `json:"-"`
}

// Loggable is the variable by which the access log leaves out requests.
const Loggable = "loggable"

// Escape returns the escape parameter of log_format, "" for the default.
func (f LogFormat) Escape() string {
	switch {
	case f.EscapeNone:
		return "none"
	case f.EscapeJSON:
		return "json"
	}
	return ""
}

// JSON returns the format with mended values, empty unless values are escaped for JSON. Values
// are not mended if the names of their variables make the format too long for nginx.
func (f LogFormat) JSON() string {
	if f.Escape() != "json" {
		return ""
	}
	if f.excess() > 0 {
		return f.Format
	}
	return mendedFormat(f.Format)
}

// excess is by how many bytes the format with mended values is too long for nginx.
func (f LogFormat) excess() int {
	mended := mendedFormat(f.Format)
	return max(0, len(mended)+strings.Count(mended, `"`)+strings.Count(mended, `\`)-(model.LongestToken-len(`""`)))
}

// unmended reports a format whose values are not mended.
func (s *Settings) unmended() []model.Problem {
	excess := s.LogFormat.excess()
	if s.LogFormat.Escape() != "json" || excess == 0 {
		return nil
	}
	text := fmt.Sprintf("bytes that are not UTF-8 stay in its lines, and many readers of JSON drop such a line: want it shorter by %d bytes, so that the names of mended values have room", excess)
	return []model.Problem{s.problem("log-format-upstream", model.Unsupported, text, false)}
}

// Unclean returns the variables that JSON needs mended.
func (f LogFormat) Unclean() []Unclean {
	if text := f.JSON(); text == "" || text == f.Format {
		return nil
	}
	return uncleanOf(f.Format)
}

// Names reports whether the format contains a variable.
func (f LogFormat) Names(variable string) bool {
	return slices.Contains(variablesOf(f.Format), variable)
}

// Variables returns the names of the variables in the format.
func (f LogFormat) Variables() []string { return variablesOf(f.Format) }

// variablesOf returns the names of the variables in a text, with or without braces.
func variablesOf(text string) []string {
	var names []string
	for _, part := range strings.Split(text, "$")[1:] {
		part = strings.TrimPrefix(part, "{")
		if end := strings.IndexFunc(part, endsName); end >= 0 {
			part = part[:end]
		}
		names = append(names, part)
	}
	return names
}

func endsName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// AccessLog returns the target of the access log, "" for none.
func (l Log) AccessLog() string { return l.accessLog(l.DisableHTTP, l.HTTPAccessPath) }

// StreamAccessLog returns the target of the access log of TCP and UDP services, "" for
// none.
func (l Log) StreamAccessLog() string { return l.accessLog(l.DisableStream, l.StreamPath) }

func (l Log) accessLog(disabled bool, path string) string {
	switch {
	case l.DisableAccess || disabled:
		return ""
	case l.Syslog:
		return l.syslog()
	case path != "":
		return path
	}
	return l.AccessPath
}

// SkipsUnknown reports whether the access log lacks only requests that match no Ingress.
func (l Log) SkipsUnknown() bool { return !l.DefaultBackend && l.AccessLog() != "" }

// Params returns the parameters of the file of the access log, nil for syslog.
func (l Log) Params() []string {
	if l.Syslog {
		return nil
	}
	return l.AccessParams
}

// Sampling decides which requests are in an access log.
type Sampling struct {
	Shares keys.LogShares
	// Hash is a part of the names of the variables: logs with the same Shares share them.
	Hash string
	// Skips is set if some URLs are not in the log either.
	Skips bool
}

// Sampling returns that of the access log.
func (l Log) Sampling() Sampling { return l.SamplingBy(l.AccessShares) }

// SamplingBy returns that of a log with other shares.
func (l Log) SamplingBy(shares keys.LogShares) Sampling {
	return Sampling{Shares: shares, Hash: model.SHA256(fmt.Sprint(shares))[:16], Skips: len(l.SkipURLs) > 0 || l.ByVariable}
}

// ErrorLog returns the target of messages about requests, "" for standard error.
func (l Log) ErrorLog() string {
	switch {
	case l.Syslog:
		return l.syslog()
	case l.ErrorPath == "/dev/stderr":
		return ""
	}
	return l.ErrorPath
}

func (l Log) syslog() string {
	host := l.SyslogHost
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return "syslog:server=" + host + ":" + strconv.Itoa(l.SyslogPort)
}

// SkippedURIs returns the URIs of SkipURLs.
func (l Log) SkippedURIs() []string { return l.skipped(false) }

// SkippedPatterns returns the patterns of SkipURLs, with their ~ or ~*.
func (l Log) SkippedPatterns() []string { return l.skipped(true) }

func (l Log) skipped(patterns bool) []string {
	return slices.DeleteFunc(slices.Clone(l.SkipURLs), func(item string) bool { return strings.HasPrefix(item, "~") != patterns })
}

// mend reports keys that lack another key, and sets them to their defaults: flush needs
// buffer or gzip, and enable-syslog needs syslog-host.
func (l *Log) mend() []keys.Fault {
	var faults []keys.Fault
	held := func(param string) bool { return strings.HasPrefix(param, "buffer") || strings.HasPrefix(param, "gzip") }
	if len(l.AccessParams) > 0 && !slices.ContainsFunc(l.AccessParams, held) {
		faults = append(faults, keys.Fault{Key: "access-log-params", Value: strings.Join(l.AccessParams, " "), Want: "flush only beside buffer or gzip"})
		l.AccessParams = nil
	}
	if l.Syslog && l.SyslogHost == "" {
		faults = append(faults, keys.Fault{Key: "enable-syslog", Value: fmt.Sprint(l.Syslog), Want: `"true" only beside syslog-host, the IP address of the server`})
		l.Syslog = false
	}
	return faults
}
