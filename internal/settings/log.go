package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/keys"
)

// LogFormat is how a line of the access log is made up. It is a group of its
// own, so that a format that cannot be printed leaves the rest of Log as it is.
type LogFormat struct {
	Format     string `key:"log-format-upstream" default:"$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id" validate:"max=3500" doc:"Format of the access log."`
	EscapeJSON bool   `key:"log-format-escape-json" default:"false" empty:"zero" doc:"Whether values are escaped in the access log as JSON wants it."`
	EscapeNone bool   `key:"log-format-escape-none" default:"false" empty:"zero" doc:"Whether values stand in the access log as they are; this goes before log-format-escape-json."`
}

// StreamLog is how a line about a connection of a TCP or UDP service is made up.
type StreamLog struct {
	Format string `key:"log-format-stream" default:"[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time" validate:"max=3500" doc:"Format of the access log of TCP and UDP services."`
}

// Log is what is logged, and where. The folder /var/log is the only one that is
// written to besides the state directory: a file elsewhere could be one that
// somebody executes, and clients choose much of what a log says.
type Log struct {
	DisableAccess bool `key:"disable-access-log" default:"false" empty:"zero" doc:"Whether no access log is written."`
	DisableHTTP   bool `key:"disable-http-access-log" default:"false" empty:"zero" doc:"Whether no access log is written of HTTP requests."`
	// DefaultBackend is about requests that no Ingress takes.
	DefaultBackend bool       `key:"enable-access-log-for-default-backend" default:"false" empty:"zero" doc:"Whether the requests that no Ingress takes are in the access log."`
	AccessPath     string     `key:"access-log-path" default:"/dev/stdout" validate:"max=255,access_log_file" doc:"File of the access log; that it can be written to, and is moved away in time, is up to who runs Sluice."`
	HTTPAccessPath string     `key:"http-access-log-path" validate:"max=255,access_log_file" doc:"File of the access log of HTTP requests, if not that of access-log-path."`
	DisableStream  bool       `key:"disable-stream-access-log" default:"false" empty:"zero" doc:"Whether no access log is written of TCP and UDP services."`
	StreamPath     string     `key:"stream-access-log-path" validate:"max=255,access_log_file" doc:"File of the access log of TCP and UDP services, if not that of access-log-path."`
	AccessParams   keys.Words `key:"access-log-params" validate:"dive,access_log_param" doc:"How the file of the access log is written: in blocks (buffer), compressed (gzip), and in both cases at least so often (flush)."`
	SkipURLs       []string   `key:"skip-access-log-urls" empty:"zero" validate:"dive,max=2000,log_url" doc:"Requests that are not in the access log: their URI with its arguments, or, behind ~ (~* for any case), a regular expression for it."`
	ErrorPath      string     `key:"error-log-path" default:"/dev/stderr" validate:"max=255,error_log_file" doc:"File of what nginx says about requests; what it says about itself goes to standard error always."`
	ErrorLevel     string     `key:"error-log-level" default:"notice" validate:"oneof=debug info notice warn error crit alert emerg" doc:"Least level of what goes to the error log."`
	Syslog         bool       `key:"enable-syslog" default:"false" empty:"zero" doc:"Whether the syslog server of syslog-host is sent what the files would get."`
	SyslogHost     string     `key:"syslog-host" validate:"ip,address" doc:"IP address of the syslog server."`
	SyslogPort     int        `key:"syslog-port" default:"514" validate:"min=1,max=65535" doc:"UDP port of the syslog server."`
}

// Escape is nginx's word for how values are escaped, "" for its own way.
func (f LogFormat) Escape() string {
	switch {
	case f.EscapeNone:
		return "none"
	case f.EscapeJSON:
		return "json"
	}
	return ""
}

// Names reports whether the format has the value of a variable.
func (f LogFormat) Names(variable string) bool {
	return slices.Contains(variablesOf(f.Format), variable)
}

// variablesOf are the names behind each $ of a text, in braces or not.
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

// AccessLog is where the access log goes, "" for none.
func (l Log) AccessLog() string { return l.accessLog(l.DisableHTTP, l.HTTPAccessPath) }

// StreamAccessLog is where the access log of TCP and UDP services goes, "" for
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

// SkipsUnknown is true if the requests that no Ingress takes are not in the
// access log, though others are.
func (l Log) SkipsUnknown() bool { return !l.DefaultBackend && l.AccessLog() != "" }

// Params are what is said of the file of the access log; syslog has none.
func (l Log) Params() []string {
	if l.Syslog {
		return nil
	}
	return l.AccessParams
}

// ErrorLog is where what nginx says about requests goes, "" for where
// everything else goes: standard error.
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

// SkippedURIs are the URIs of SkipURLs, SkippedPatterns the patterns with what
// marks them as such.
func (l Log) SkippedURIs() []string { return l.skipped(false) }

// SkippedPatterns are explained at SkippedURIs.
func (l Log) SkippedPatterns() []string { return l.skipped(true) }

func (l Log) skipped(patterns bool) []string {
	return slices.DeleteFunc(slices.Clone(l.SkipURLs), func(item string) bool { return strings.HasPrefix(item, "~") != patterns })
}

// mend gives what one key alone does not tell, and puts the default in its
// place: a flush needs something to be written, and syslog somewhere to go.
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
