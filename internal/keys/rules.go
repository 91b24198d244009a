package keys

import (
	"regexp"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"
)

// textRule is a rule of our own for texts, used by name in a validate tag.
type textRule struct {
	name string
	// pattern returns the pattern of valid texts. It compiles on demand, because some
	// patterns are large and most are never needed.
	pattern func() *regexp.Regexp
	// valid describes the valid values, as the continuation of "want ".
	valid string
	// edges are values at the limits of what the rule accepts.
	edges []string
}

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// variable matches the variables that a value may use: only properties of the
// request. $uri and $ssl_server_name are excluded: they are decoded, or as the client
// sent them, so they can contain a line end and inject a header. Package render
// checks again. Source: https://nginx.org/en/docs/varindex.html
const variable = `\$(?:` + variableNames + `\b|\{(?:` + variableNames + `)\})`

const variableNames = `(?:args|best_http_host|host|hostname|is_args|namespace|ingress_name|query_string|remote_addr|request_id|request_method|request_uri|req_id|scheme|` +
	`server_name|server_port|service_name|service_port|(?:arg|cookie|http)_[A-Za-z0-9_]+)`

// A redirect can use the scheme, the host and the parts of the URI. It may begin with
// no variable but the scheme: a path of the client such as //example.com would be
// another host.
const (
	redirectScheme = `\$(?:scheme\b|\{scheme\})`
	redirectRest   = `(?:[A-Za-z0-9\-._~/:,?&=]|\$(?:` + redirectNames + `\b|\{` + redirectNames + `\}))`
	redirectNames  = `(?:args|host|is_args|request_uri|scheme|uri)`
)

// After the host of a mirror comes a path, or a variable that begins with one.
const (
	hostName   = `[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?`
	portNumber = `(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})`
	mirrorPath = `\$(?:(?:request_uri|uri)\b|\{(?:request_uri|uri)\})`
)

// An authentication request has a path and arguments of its own, so that $uri and
// $args say nothing of the request that it is about.
const (
	authNames = `(?:best_http_host|escaped_request_uri|host|ingress_name|namespace|pass_access_scheme|remote_addr|request_id|request_method|request_uri|req_id|scheme|` +
		`server_name|server_port|service_name|service_port|(?:cookie|http)_[A-Za-z0-9_]+)`
	authVariable = `\$(?:` + authNames + `\b|\{` + authNames + `\})`
	authPlain    = `[A-Za-z0-9\-._~/:,?&=;%+@]`
	authText     = `(?:` + authPlain + `|` + authVariable + `)`
)

// headerText matches the value of a header, in which variables may be.
var headerText = regexp.MustCompile(`^(?:[ !-#%-~]|` + variable + `)+$`)

// IsHeaderText reports whether a text may be the value of a header: printable ASCII
// characters, with variables such as $host and no other $.
func IsHeaderText(text string) bool { return headerText.MatchString(text) }

// logFile matches the path of a file below /var/log. No part of it begins with a
// dot, so that none leads upwards.
const logFile = `/var/log(?:/[A-Za-z0-9_][A-Za-z0-9_.@+=:,~-]*)+`

var textRules = []textRule{
	// The character set is that of ingress-nginx. nginx rejects a lone $.
	{"rewrite_target", pattern(`^(?:[A-Za-z0-9\-._~/:]|\$[A-Za-z0-9_]+)+$`),
		`a path of letters, digits and - . _ ~ / : with $1 to $9 for what the path captured`, []string{"/", "/~-._0:/$1$9$uri"}},
	{"secret_ref", pattern(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`),
		`the name of a Secret as "namespace/name"`, []string{"n/s", strings.Repeat("n", 63) + "/" + strings.Repeat("s", 253)}},
	{"secret_name", pattern(`^(?:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`),
		`the name of a Secret, as "name" or "namespace/name"`, []string{"s", strings.Repeat("n", 63) + "/" + strings.Repeat("s", 253)}},
	{"configmap_ref", pattern(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`),
		`the name of a ConfigMap as "namespace/name"`, []string{"n/c", strings.Repeat("n", 63) + "/" + strings.Repeat("c", 253)}},
	{"configmap_name", pattern(`^(?:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`),
		`the name of a ConfigMap, as "name" or "namespace/name"`, []string{"c", strings.Repeat("n", 63) + "/" + strings.Repeat("c", 253)}},
	// nginx puts it between quotes without an escape.
	{"realm", pattern(`^[ !#-\[\]-~]{1,200}$`),
		`at most 200 printable ASCII characters without " and \`, []string{"!", strings.Repeat("~", 200)}},
	{"namespace", pattern(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`),
		`the name of a namespace`, []string{"n", strings.Repeat("n", 63)}},
	{"server_name", pattern(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`),
		`a host name of letters, digits and . - _`, []string{"0", strings.Repeat("n", 253)}},
	// OpenSSL's names of ciphers and its operators (ciphers(1ssl)).
	{"ciphers", pattern(`^[A-Za-z0-9!:+\-_@=]+$`),
		`names of ciphers as OpenSSL writes them, separated by ":"`, []string{"ALL", "HIGH:!aNULL:-PSK:+SHA1:@SECLEVEL=1"}},
	{"curves", pattern(`^[A-Za-z0-9\-_]+(:[A-Za-z0-9\-_]+)*$`),
		`"auto" or names of curves separated by ":"`, []string{"auto", "X25519:prime256v1"}},
	// The character sets of redirects are ingress-nginx's, which takes no variables.
	{"redirect_url", pattern(`^(?:[A-Za-z0-9\-._~/:,?&=]|` + redirectScheme + `)` + redirectRest + `*$`),
		`a URL of letters, digits and - . _ ~ / : , ? & = with $request_uri, $uri, $args, $is_args, $host and $scheme`, []string{"/", "https://~-._0:1/a,b?c=d&e", "$scheme://${host}$uri$is_args$args"}},
	{"http_url", pattern(`^(?:https?|` + redirectScheme + `)://` + redirectRest + `+$`),
		`a URL that begins with http:// or https://, of letters, digits and - . _ ~ / : , ? & = with $request_uri, $uri, $args, $is_args, $host and $scheme`, []string{"http://a", "https://~-._0:1/a,b?c=d&e", "${scheme}://a.$host$request_uri"}},
	{"mirror_target", pattern(`^https?://(?:` + hostName + `|\[[0-9A-Fa-f:.]{2,45}\])(?::` + portNumber + `)?(?:(?:/|` + mirrorPath + `)` + redirectRest + `*)?$`),
		`a URL that begins with http:// or https:// and a host without variables, with $request_uri, $uri, $args, $is_args, $host and $scheme behind it`,
		[]string{"http://a", "https://a.b-c.example:65535/~-._0:1/a,b?c=d&e", "http://[2001:db8::1]:1${uri}$is_args$args", "http://10.0.0.1$request_uri"}},
	{"auth_url", pattern(`^https?://(?:` + hostName + `|\$host|\$\{host\}|\[[0-9A-Fa-f:.]{2,45}\])(?::` + portNumber + `)?(?:[/?]` + authText + `*)?$`),
		`a URL that begins with http:// or https:// and a host, of letters, digits and - . _ ~ / : , ? & = ; % + @ with variables such as $host, $request_uri and $escaped_request_uri`,
		[]string{"http://a", "https://a.b-c.example:65535/~-._0:1/a,b?c=d&e;%20+@", "http://[2001:db8::1]:1?u=$escaped_request_uri", "https://$host/oauth2/auth", "http://${host}:4180/${scheme}/$cookie_A_1$http_x"}},
	{"auth_text", pattern(`^` + authText + `+$`),
		`letters, digits and - . _ ~ / : , ? & = ; % + @ with variables such as $host, $request_uri and $escaped_request_uri`, []string{"/", "https://$host/-._~:,?&=;%+@$request_uri"}},
	{"signin_url", pattern(`^(?:https?://|\$scheme://|\$\{scheme\}://|/)(?:` + authText + `|#)+$`),
		`a path, or a URL that begins with http:// or https://, of letters, digits and - . _ ~ / : , ? & = ; % + @ # with variables such as $host and $escaped_request_uri`,
		[]string{"/a", "http://a", "https://$host/-._~:,?&=;%+@#/?u=$escaped_request_uri", "$scheme://a", "${scheme}://a"}},
	{"parameter_name", pattern(`^[A-Za-z0-9\-._~]{1,100}$`),
		`the name of a parameter, of at most 100 letters, digits and - . _ ~`, []string{"-", strings.Repeat("A", 100)}},
	{"path_and_variables", pattern(`^/(?:[A-Za-z0-9\-._~/:]|` + variable + `)+$`),
		`a path below "/", of letters, digits and - . _ ~ / : and variables such as $host`, []string{"/a", "/~-._0:/$host${request_uri}$arg_A_1"}},
	{"host_and_variables", pattern(`^(?:[A-Za-z0-9\-._:\[\]]|` + variable + `)+$`),
		`a host name, with a port or without; variables such as $host may be in it`, []string{"a", "[::1]:80_-$host${http_x}$scheme"}},
	// nginx ignores a header with _ by default.
	{"header_name", pattern(`^[A-Za-z0-9-]{1,100}$`),
		`the name of a header, of letters, digits and -`, []string{"-", strings.Repeat("A", 100)}},
	{"cookie_name", pattern(`^[A-Za-z0-9._~-]{1,100}$`),
		`the name of a cookie, of letters, digits and . _ ~ -`, []string{"-", strings.Repeat("A", 100)}},
	// A ; or a , would end the attribute, or the header.
	{"cookie_path", pattern(`^/[A-Za-z0-9\-._~/:?&=]*$`),
		`a path of letters, digits and - . _ ~ / : ? & =`, []string{"/", "/~-._0:/?a=b&c"}},
	{"canary_value", pattern(`^[A-Za-z0-9\-._~/:]+$`),
		`a value of letters, digits and - . _ ~ / :`, []string{"a", "A-0._~/:"}},
	{"response_headers", pattern(`^[A-Za-z0-9_-]{1,46}(?: *, *[A-Za-z0-9_-]{1,46}){0,19}$`),
		`at most 20 names of headers, separated by commas, each of at most 46 letters, digits, - and _`,
		[]string{"_", strings.Repeat("A", 46) + strings.Repeat(", X", 19)}},
	// 46 letters are what a bucket of nginx's table of headers holds.
	{"response_header", pattern(`^[A-Za-z0-9_-]{1,46}$`),
		`the name of a header, of at most 46 letters, digits, - and _`, []string{"_", strings.Repeat("A", 46)}},
	{"path_prefix", pattern(`^/[^\x00-\x20"\\]*$`),
		`a path that begins with "/"`, []string{"/", "/é{$}"}},
	{"media_type", pattern(`^(?:\*|[A-Za-z0-9][A-Za-z0-9!&^_.+\-]*/[A-Za-z0-9!&^_.+\-]+)$`),
		`a media type of at most 46 characters such as "text/css", or "*"`, []string{"*", "application/" + strings.Repeat("a", 34)}},
	{"answer_type", pattern(`^[A-Za-z0-9][A-Za-z0-9!&^_.+\-]*/[A-Za-z0-9!&^_.+\-]+$`),
		`a media type such as "text/html"`, []string{"a/b", "application/" + strings.Repeat("a", 88)}},
	{"cpu_masks", pattern(`^(?:auto(?: +[01]+)?|[01]+(?: +[01]+)*)$`),
		`"auto", or masks of 0 and 1 such as "0001 0010", one for each worker`, []string{"auto", "auto 01", "1 01"}},
	{"access_log_file", pattern(`^(?:/dev/(?:stdout|null)|` + logFile + `)$`),
		`"/dev/stdout", "/dev/null" or the path of a file below /var/log`, []string{"/dev/stdout", "/dev/null", "/var/log/nginx/" + strings.Repeat("a", 240)}},
	{"error_log_file", pattern(`^(?:/dev/(?:stderr|stdout|null)|` + logFile + `)$`),
		`"/dev/stderr", "/dev/stdout", "/dev/null" or the path of a file below /var/log`, []string{"/dev/stderr", "/dev/stdout", "/dev/null", "/var/log/nginx/" + strings.Repeat("a", 240)}},
	// Source: https://nginx.org/en/docs/http/ngx_http_log_module.html#access_log
	{"access_log_param", pattern(`^(?:buffer=(?:[1-9][0-9]{0,6}|[1-9][0-9]{0,4}[kK]|[1-9][0-9]?[mM])|flush=[1-9][0-9]{0,4}(?:ms|s|m|h)?|gzip(?:=[1-9])?)$`),
		`"buffer=SIZE" (up to 99m), "flush=TIME" or "gzip=LEVEL"`, []string{"buffer=1", "buffer=99m", "flush=1ms", "flush=99999h", "gzip", "gzip=9"}},
	// A named group would set the variable of that name.
	{"log_url", pattern(`^(?:/[^\x00-\x20\x7f]*|~\*?(?:[^(*]|\(+[^(?]|\(+\?[^(P<'])(?:[^(]|\(+[^(?]|\(+\?[^(P<'])*)$`),
		`a path that begins with "/", with its arguments, or "~" and a regular expression without named groups`, []string{"/", "/" + strings.Repeat("a", 1999), "~x", "~*^/(?:a|b)$"}},
	{"address", pattern(`^[0-9A-Fa-f.:]+$`), `an IP address`, []string{"0.0.0.0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}},
}

var validate = newValidator()

func newValidator() *validator.Validate {
	v := validator.New()
	v.RegisterCustomTypeFunc(optionalNumber, Optional[int](""))
	v.RegisterCustomTypeFunc(sizeValue, Size(""))
	v.RegisterCustomTypeFunc(durationValue, Duration(""))
	for _, r := range textRules {
		check := func(fl validator.FieldLevel) bool { return r.pattern().MatchString(fl.Field().String()) }
		if err := v.RegisterValidation(r.name, check); err != nil {
			panic("keys: " + r.name + ": " + err.Error())
		}
	}
	return v
}
