package snippets

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// direct is an annotation that has the value of a directive.
type direct struct {
	annotation string
	// value converts the value; nil keeps it as it is.
	value func(text string) (string, bool)
	// usual is the value that needs no annotation.
	usual string
}

// simple are the directives that an annotation replaces one by one.
var simple = map[string]direct{
	"client_max_body_size":        {"proxy-body-size", size, ""},
	"client_body_buffer_size":     {"client-body-buffer-size", size, ""},
	"proxy_connect_timeout":       {"proxy-connect-timeout", seconds, ""},
	"proxy_read_timeout":          {"proxy-read-timeout", seconds, ""},
	"proxy_send_timeout":          {"proxy-send-timeout", seconds, ""},
	"grpc_connect_timeout":        {"proxy-connect-timeout", seconds, ""},
	"grpc_read_timeout":           {"proxy-read-timeout", seconds, ""},
	"grpc_send_timeout":           {"proxy-send-timeout", seconds, ""},
	"proxy_buffering":             {"proxy-buffering", onOff, ""},
	"proxy_buffer_size":           {"proxy-buffer-size", size, ""},
	"proxy_busy_buffers_size":     {"proxy-busy-buffers-size", size, ""},
	"proxy_max_temp_file_size":    {"proxy-max-temp-file-size", size, ""},
	"proxy_request_buffering":     {"proxy-request-buffering", onOff, ""},
	"proxy_http_version":          {"proxy-http-version", oneOf("1.0", "1.1"), "1.1"},
	"proxy_next_upstream":         {"proxy-next-upstream", plain, ""},
	"proxy_next_upstream_timeout": {"proxy-next-upstream-timeout", seconds, ""},
	"proxy_next_upstream_tries":   {"proxy-next-upstream-tries", whole, ""},
	"proxy_cookie_domain":         {"proxy-cookie-domain", plain, ""},
	"proxy_ssl_name":              {"proxy-ssl-name", host, ""},
	"proxy_ssl_server_name":       {"proxy-ssl-server-name", onOff, ""},
	"proxy_ssl_verify":            {"proxy-ssl-verify", onOff, "off"},
	"proxy_ssl_verify_depth":      {"proxy-ssl-verify-depth", whole, ""},
	"proxy_ssl_protocols":         {"proxy-ssl-protocols", protocols, ""},
	"proxy_ssl_ciphers":           {"proxy-ssl-ciphers", ciphers, ""},
	"proxy_intercept_errors":      {"disable-proxy-intercept-errors", oneOfAs(map[string]string{"off": "true"}), ""},
	"ssl_ciphers":                 {"ssl-ciphers", ciphers, ""},
	"ssl_prefer_server_ciphers":   {"ssl-prefer-server-ciphers", trueFalse, ""},
	"ssl_verify_depth":            {"auth-tls-verify-depth", whole, ""},
	"satisfy":                     {"satisfy", oneOf("all", "any"), ""},
	"limit_rate":                  {"limit-rate", kilobytes, ""},
	"limit_rate_after":            {"limit-rate-after", kilobytes, ""},
	"rewrite_log":                 {"enable-rewrite-log", trueFalse, ""},
	"port_in_redirect":            {"use-port-in-redirects", trueFalse, ""},
	"absolute_redirect":           {"relative-redirects", oneOfAs(map[string]string{"off": "true", "on": "false"}), ""},
	"fastcgi_index":               {"fastcgi-index", plain, ""},
	"modsecurity":                 {"enable-modsecurity", trueFalse, ""},
	"modsecurity_rules":           {"modsecurity-snippet", plain, ""},
	"modsecurity_transaction_id":  {"modsecurity-transaction-id", plain, ""},
	"opentelemetry":               {"enable-opentelemetry", trueFalse, ""},
	"expires":                     {OwnPrefix + "expires", plain, "off"},
	"proxy_cookie_flags":          {OwnPrefix + "cookie-flags", cookieFlags, ""},
}

// several are the annotations of simple that take a line for each directive.
var several = map[string]bool{OwnPrefix + "cookie-flags": true}

func (r *reader) simple(n *node, at scope, d direct) {
	value, ok := d.value(r.variables.expand(n.arguments()))
	switch {
	case len(n.Tokens) < 2 || !ok:
		r.leave(n, "the annotation "+d.annotation+" does not take this value")
	case value == d.usual && value != "" && r.Given[d.annotation] == "":
		r.needlessFor(n, "it is the default")
	case several[d.annotation]:
		r.flags(n, at, value)
	default:
		r.write(n, at, d.annotation, value)
	}
}

// flags adds a line of cookie-flags, unless a line for these cookies has all its flags. Sluice
// takes one line for each cookie.
func (r *reader) flags(n *node, at scope, line string) {
	const annotation = OwnPrefix + "cookie-flags"
	words := strings.Fields(line)
	for _, other := range r.linesOf(annotation, at) {
		has := strings.Fields(strings.ToLower(other))
		if len(has) == 0 || has[0] != "*" && has[0] != strings.ToLower(words[0]) {
			continue
		}
		if !slices.ContainsFunc(words[1:], func(flag string) bool { return !slices.Contains(has[1:], flag) }) {
			r.needlessFor(n, "another line of "+annotation+" says it")
			return
		}
	}
	r.add(n, at, annotation, line)
}

var sizePattern = regexp.MustCompile(`^[0-9]{1,9}[kKmMgG]?$`)

func size(text string) (string, bool) { return text, sizePattern.MatchString(text) }

func whole(text string) (string, bool) {
	_, err := strconv.ParseUint(text, 10, 31)
	return text, err == nil
}

var timePattern = regexp.MustCompile(`^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s?)?$`)

// seconds converts a time of nginx, such as 1h30m.
func seconds(text string) (string, bool) {
	m := timePattern.FindStringSubmatch(text)
	if m == nil || text == "" {
		return "", false
	}
	total := 0
	for i, unit := range []int{86400, 3600, 60, 1} {
		n, _ := strconv.Atoi(m[i+1]) // 0 if it is missing
		total += n * unit
	}
	return strconv.Itoa(total), total > 0 && total <= 31536000
}

// kilobytes converts a size of nginx into the unit of limit-rate.
func kilobytes(text string) (string, bool) {
	m := regexp.MustCompile(`^(\d{1,6})([kKmM])$`).FindStringSubmatch(text)
	if m == nil {
		return "0", text == "0"
	}
	n, _ := strconv.Atoi(m[1]) // It has a few digits.
	if strings.EqualFold(m[2], "m") {
		n *= 1024
	}
	return strconv.Itoa(n), true
}

func plain(text string) (string, bool) { return text, text != "" && !strings.ContainsAny(text, "$\n") }

var hostPattern = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$`)

func host(text string) (string, bool) { return text, hostPattern.MatchString(text) }

func onOff(text string) (string, bool) { return text, text == "on" || text == "off" }

func trueFalse(text string) (string, bool) {
	return oneOfAs(map[string]string{"on": "true", "off": "false"})(text)
}

func oneOf(words ...string) func(string) (string, bool) {
	return func(text string) (string, bool) { return text, slices.Contains(words, text) }
}

func oneOfAs(words map[string]string) func(string) (string, bool) {
	return func(text string) (string, bool) {
		word, ok := words[text]
		return word, ok
	}
}

// protocols accepts those that the annotation takes.
func protocols(text string) (string, bool) {
	for word := range strings.FieldsSeq(text) {
		if word != "TLSv1.2" && word != "TLSv1.3" {
			return "", false
		}
	}
	return text, text != ""
}

var cipherPattern = regexp.MustCompile(`^[A-Za-z0-9!:+\-_@=]+$`)

func ciphers(text string) (string, bool) { return text, cipherPattern.MatchString(text) }

// cookieFlags accepts the flags of cookies with a name.
func cookieFlags(text string) (string, bool) {
	name, flags, _ := strings.Cut(text, " ")
	if name == "~" {
		name = "*"
	}
	for flag := range strings.FieldsSeq(flags) {
		if !slices.Contains([]string{"secure", "httponly", "samesite=strict", "samesite=lax", "samesite=none", "nosecure", "nohttponly", "nosamesite"}, strings.ToLower(flag)) {
			return "", false
		}
	}
	return name + " " + strings.ToLower(flags), flags != "" && !strings.ContainsAny(name, "~$\n")
}
