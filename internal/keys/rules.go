package keys

import (
	"regexp"
	"slices"
	"sync"

	"github.com/go-playground/validator/v10"

	"sluice/internal/syntax"
)

// textRule is a rule of our own for texts, used by name in a validate tag.
type textRule struct {
	name string
	// pattern returns the pattern of valid texts. It compiles on demand, because some
	// patterns are large and most are never needed.
	pattern func() *regexp.Regexp
	// valid describes the valid values, as the continuation of "want ".
	valid string
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

// The names of objects and of namespaces.
const (
	dnsLabel = `[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?`
	dnsName  = `[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?`
)

// A redirect can use the scheme, the host and the parts of the URI. It must not begin with
// a variable other than the scheme, because with a path such as //example.com the client
// would choose the host.
const (
	redirectScheme = `\$(?:scheme\b|\{scheme\})`
	redirectRest   = `(?:[A-Za-z0-9\-._~/:,?&=]|\$(?:` + redirectNames + `\b|\{` + redirectNames + `\}))`
	redirectNames  = `(?:args|host|is_args|request_uri|scheme|uri)`
)

// The host of a mirror is followed by a path, or by a variable that begins with one.
const (
	hostName   = `[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?`
	portNumber = `(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})`
	mirrorPath = `\$(?:(?:request_uri|uri)\b|\{(?:request_uri|uri)\})`
)

// headerName matches the name of a header of LongestHeaderName.
const headerName = syntax.HeaderLetter + `{1,46}`

const urlText = `[A-Za-z0-9\-._/:,?&=][A-Za-z0-9\-._~/:,?&=]{0,499}`

// The variables for authentication requests exclude $uri and $args, which would be those
// of the authentication request itself.
const (
	authNames = `(?:best_http_host|escaped_request_uri|host|ingress_name|namespace|pass_access_scheme|remote_addr|request_id|request_method|request_uri|req_id|scheme|` +
		`server_name|server_port|service_name|service_port|(?:cookie|http)_[A-Za-z0-9_]+)`
	authVariable = `\$(?:` + authNames + `\b|\{` + authNames + `\})`
	authPlain    = `[A-Za-z0-9\-._~/:,?&=;%+@]`
	// The key of a cache only says which questions are equal, so it can have any property
	// of the request, also decoded ones.
	cacheNames    = `(?:args|is_args|query_string|remote_user|ssl_client_(?:fingerprint|i_dn|s_dn|serial|verify)|uri|arg_[A-Za-z0-9_]+)`
	cacheVariable = `\$(?:` + cacheNames + `\b|\{` + cacheNames + `\})`
	authText      = `(?:` + authPlain + `|` + authVariable + `)`
)

// authNamed matches the name of a variable for authentication requests.
var authNamed = regexp.MustCompile(`^` + authNames + `$`)

// IsAuthVariable reports whether a variable may be in a text about authentication.
func IsAuthVariable(name string) bool { return authNamed.MatchString(name) }

// cacheDirective is a directive of Cache-Control in answers (RFC 9111, RFC 5861, RFC 8246).
const cacheDirective = `(?:public|private|no-store|no-cache|no-transform|must-revalidate|proxy-revalidate|must-understand|immutable|(?:max-age|s-maxage|stale-while-revalidate|stale-if-error)=[0-9]{1,10})`

// headerText matches the value of a header, with variables.
var headerText = regexp.MustCompile(`^(?:[ !-#%-~]|` + variable + `)+$`)

// The variables for keys of hashes have their values before a backend is chosen. Line ends
// in them do no harm.
// Source: https://nginx.org/en/docs/varindex.html
const (
	hashNames = `(?:args|best_http_host|binary_remote_addr|connection|connection_requests|content_length|content_type|document_uri|full_x_forwarded_for|host|hostname|http2|https|ingress_name|is_args|` +
		`msec|namespace|nginx_version|pass_access_scheme|pass_port|pid|pipe|proxy_add_x_forwarded_for|proxy_protocol_(?:addr|port|server_addr|server_port)|proxy_upstream_name|query_string|realip_remote_addr|realip_remote_port|` +
		`redirect_host|redirect_scheme|redirect_uri|remote_addr|remote_port|remote_user|req_id|request|request_body|request_id|request_length|request_method|request_path|request_time|request_uri|` +
		`scheme|server_addr|server_name|server_port|server_protocol|service_name|service_port|` +
		`ssl_(?:cipher|ciphers|curve|curves|early_data|protocol|server_name|session_id|session_reused|client_(?:escaped_cert|fingerprint|i_dn|s_dn|serial|v_end|v_remain|v_start|verify))|` +
		`tcpinfo_(?:rtt|rttvar|snd_cwnd|rcv_space)|time_iso8601|time_local|uri|(?:arg|cookie|http)_[A-Za-z0-9_]+)`
	hashVariable = `\$(?:` + hashNames + `\b|\{` + hashNames + `\})`
)

// IsHeaderText reports whether a text is a valid value of a header: printable ASCII
// characters, in which $ occurs only in variables such as $host.
func IsHeaderText(text string) bool { return headerText.MatchString(text) }

// IsCacheKey reports whether a text is a valid auth-cache-key.
func IsCacheKey(text string) bool { return cacheText().MatchString(text) }

var cacheText = pattern(`^(?:[A-Za-z0-9 \-._~/:,;=|]|` + authVariable + `|` + cacheVariable + `)+$`)

// parameterText matches the value of a FastCGI parameter, with variables. Unlike a header,
// it can contain a line end.
var parameterText = regexp.MustCompile(`^(?:[ !-#%-~]|` + variable + `|` + parameterVariable + `)*$`)

const (
	parameterVariable = `\$(?:` + parameterNames + `\b|\{(?:` + parameterNames + `)\})`
	parameterNames    = `(?:content_length|content_type|document_uri|fastcgi_path_info|fastcgi_script_name|https|nginx_version|remote_port|remote_user|request|server_addr|server_protocol|` +
		`ssl_cipher|ssl_client_fingerprint|ssl_client_i_dn|ssl_client_s_dn|ssl_client_serial|ssl_client_verify|ssl_protocol|uri)`
)

// IsParameterText reports whether a text is a valid value of a FastCGI parameter: printable
// ASCII characters, in which $ occurs only in variables such as $fastcgi_script_name.
func IsParameterText(text string) bool { return parameterText.MatchString(text) }

// logFile matches the path of a file below /var/log. No part begins with a dot, so that
// the path cannot contain "..".
const logFile = `/var/log(?:/[A-Za-z0-9_][A-Za-z0-9_.@+=:,~-]*)+`

// textRules are all rules for texts.
var textRules = slices.Concat(nameRules, addressRules, answerRules, keyRules, serverRules, logRules)

// nameRules are for names of objects, files, headers, cookies and parameters.
var nameRules = []textRule{
	{"secret_ref", pattern(`^` + dnsLabel + `/` + dnsName + `$`), `the name of a Secret as "namespace/name"`},
	{"secret_name", pattern(`^(?:` + dnsLabel + `/)?` + dnsName + `$`), `the name of a Secret, as "name" or "namespace/name"`},
	{"configmap_ref", pattern(`^` + dnsLabel + `/` + dnsName + `$`), `the name of a ConfigMap as "namespace/name"`},
	{"configmap_name", pattern(`^(?:` + dnsLabel + `/)?` + dnsName + `$`), `the name of a ConfigMap, as "name" or "namespace/name"`},
	{"ingress_ref", pattern(`^` + dnsLabel + `/` + dnsName + `$`), `the name of an Ingress as "namespace/name"`},
	{"service_name", pattern(`^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`), "the name of a Service"},
	{"namespace", pattern(`^` + dnsLabel + `$`), `the name of a namespace`},
	{"file_name", pattern(`^[A-Za-z0-9._-]{1,200}$`), `the name of a file, of letters, digits and . _ -`},
	// nginx ignores a header with _ by default.
	{"header_name", pattern(`^` + syntax.RequestHeaderLetter + `{1,100}$`), `the name of a header, of letters, digits and -`},
	{"any_header_name", pattern(`^` + syntax.HeaderLetter + `{1,100}$`), `the name of a header, of letters, digits, - and _`},
	{"response_header", pattern(`^` + headerName + `$`), `the name of a header, of at most 46 letters, digits, - and _`},
	{"cookie_name", pattern(`^[A-Za-z0-9._~-]{1,100}$`), `the name of a cookie, of letters, digits and . _ ~ -`},
	{"parameter_name", pattern(`^[A-Za-z0-9\-._~]{1,100}$`), `the name of a parameter, of at most 100 letters, digits and - . _ ~`},
	// The character set is that of ingress-nginx.
	{"operation_name", pattern(`^[A-Za-z0-9_-]+$`), `letters, digits, - and _`},
}

// addressRules are for hosts, paths and URLs without variables, or with those that are written in them.
var addressRules = []textRule{
	{"server_name", pattern(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`), `a host name of letters, digits and . - _`},
	{"collector_host", pattern(`^(?:` + hostName + `|[0-9A-Fa-f:.]{2,45})$`), `the name of a host, or an IP address`},
	{"address", pattern(`^[0-9A-Fa-f.:]+$`), `an IP address`},
	{"check_path", pattern(`^/(?:[A-Za-z0-9\-._~/:,;?&=+@]|%[0-9A-Fa-f]{2}){0,499}$`), `a path that begins with "/", of at most 500 letters, digits and - . _ ~ / : , ; ? & = + @, and others as %XX`},
	{"path_prefix", pattern(`^/[^\x00-\x20"\\]*$`), `a path that begins with "/"`},
	{"fallback_path", pattern(`^/[A-Za-z0-9\-._~/]*$`), `a path that begins with "/", of letters, digits and - . _ ~ /`},
	// A ; would end the attribute, and a , the header.
	{"cookie_path", pattern(`^/[A-Za-z0-9\-._~/:?&=]*$`), `a path of letters, digits and - . _ ~ / : ? & =`},
	// The character set is that of ingress-nginx. nginx rejects a lone $.
	{"rewrite_target", pattern(`^(?:[A-Za-z0-9\-._~/:]|\$[A-Za-z0-9_]+)+$`),
		`a path of letters, digits and - . _ ~ / : with $1 to $9 for what the path captured`},
	// The character set is that of ingress-nginx, without a host that has no scheme.
	{"error_page", pattern(`^(?:@[A-Za-z0-9_-]{1,100}|(?:https?://` + hostName + `(?::` + portNumber + `)?)?(?:/[A-Za-z0-9_-][A-Za-z0-9\-_.]*)*/?)$`),
		`a URL that begins with http:// or https://, a path of letters, digits and - _ . / or the name of a location such as @name`},
	// The character sets are those of ingress-nginx. nginx reads a text that begins with
	// "~" as a regular expression.
	{"url_text", pattern(`^` + urlText + `$`), `"off" or a URL or a path of at most 500 letters, digits and - . _ ~ / : , ? & =`},
	{"from_to", pattern(`^(?:off|` + urlText + ` +` + urlText + `)$`), `"off" or two texts with a space between, each of at most 500 letters, digits and - . _ ~ / : , ? & =`},
	// The character sets of redirects are those of ingress-nginx, plus variables.
	{"redirect_url", pattern(`^(?:[A-Za-z0-9\-._~/:,?&=]|` + redirectScheme + `)` + redirectRest + `*$`),
		`a URL of letters, digits and - . _ ~ / : , ? & = with $request_uri, $uri, $args, $is_args, $host and $scheme`},
	{"http_url", pattern(`^(?:https?|` + redirectScheme + `)://` + redirectRest + `+$`),
		`a URL that begins with http:// or https://, of letters, digits and - . _ ~ / : , ? & = with $request_uri, $uri, $args, $is_args, $host and $scheme`},
	{"mirror_target", pattern(`^https?://(?:` + hostName + `|\[[0-9A-Fa-f:.]{2,45}\])(?::` + portNumber + `)?(?:(?:/|` + mirrorPath + `)` + redirectRest + `*)?$`),
		`a URL that begins with http:// or https:// and a host without variables, with $request_uri, $uri, $args, $is_args, $host and $scheme behind it`},
	{"auth_url", pattern(`^https?://(?:` + hostName + `|\$host|\$\{host\}|\[[0-9A-Fa-f:.]{2,45}\])(?::` + portNumber + `)?(?:[/?]` + authText + `*)?$`),
		`a URL that begins with http:// or https:// and a host, of letters, digits and - . _ ~ / : , ? & = ; % + @ with variables such as $host, $request_uri and $escaped_request_uri`},
	{"auth_text", pattern(`^` + authText + `+$`),
		`letters, digits and - . _ ~ / : , ? & = ; % + @ with variables such as $host, $request_uri and $escaped_request_uri`},
	{"signin_url", pattern(`^(?:https?://|\$scheme://|\$\{scheme\}://|/)(?:` + authText + `|#)+$`),
		`a path, or a URL that begins with http:// or https://, of letters, digits and - . _ ~ / : , ? & = ; % + @ # with variables such as $host and $escaped_request_uri`},
	// A snippet may set the other variables: translate looks.
	{"own_signin_url", pattern(`^(?:https?://|\$scheme://|\$\{scheme\}://|/)(?:` + authPlain + `|#|\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\})+$`),
		`a path, or a URL that begins with http:// or https://, of letters, digits and - . _ ~ / : , ? & = ; % + @ # with variables such as $host and $escaped_request_uri`},
	{"path_and_variables", pattern(`^/(?:[A-Za-z0-9\-._~/:]|` + variable + `)+$`),
		`a path below "/", of letters, digits and - . _ ~ / : and variables such as $host`},
	{"host_and_variables", pattern(`^(?:[A-Za-z0-9\-._:\[\]]|` + variable + `)+$`),
		`a host name, with a port or without; variables such as $host may be in it`},
}

// answerRules are for statuses, media types and headers of answers.
var answerRules = []textRule{
	// nginx refuses 499, with which it logs that a client left.
	{"error_status", pattern(`^(?:4(?:[0-8][0-9]|9[0-8])|5[0-9]{2})$`), "a status from 400 to 599 except 499"},
	{"answer_status", pattern(`^(?:3[0-9]{2}|4(?:[0-8][0-9]|9[0-8])|5[0-9]{2})$`), "a status from 300 to 599 except 499"},
	{"media_type", pattern(`^(?:\*|[A-Za-z0-9][A-Za-z0-9!&^_.+\-]*/[A-Za-z0-9!&^_.+\-]+)$`),
		`a media type of at most 46 characters such as "text/css", or "*"`},
	{"answer_type", pattern(`^[A-Za-z0-9][A-Za-z0-9!&^_.+\-]*/[A-Za-z0-9!&^_.+\-]+$`), `a media type such as "text/html"`},
	// Units in the order in which nginx takes them.
	{"expires", pattern(`^(?:max|epoch|off|0|-?(?:[1-9][0-9]{0,2}y(?:[1-9][0-9]{0,2}M)?|[1-9][0-9]{0,2}M|[1-9][0-9]{0,2}w(?:[1-9][0-9]{0,2}d)?|[1-9][0-9]{0,2}d(?:[1-9][0-9]{0,2}h)?|[1-9][0-9]{0,2}h(?:[1-9][0-9]{0,2}m)?|[1-9][0-9]{0,2}m(?:[1-9][0-9]{0,2}s)?|[1-9][0-9]{0,8}s?))$`),
		`a time such as "30d", "1h30m" or "3600", "max", "epoch" or "off"`},
	{"cache_directive", pattern(`^` + cacheDirective + `$`),
		`a directive of Cache-Control such as public or max-age=3600: public, private, no-store, no-cache, no-transform, must-revalidate, proxy-revalidate, must-understand, immutable, and max-age, s-maxage, stale-while-revalidate and stale-if-error with seconds`},
	{"header_text", pattern(`^[ !#%-\[\]-~]+$`), "printable ASCII characters without \" $ and \\"},
	// nginx puts it between quotes without an escape.
	{"realm", pattern(`^[ !#-\[\]-~]{1,200}$`), `at most 200 printable ASCII characters without " and \`},
}

// keyRules are for texts that tell requests apart.
var keyRules = []textRule{
	{"cache_key", cacheText,
		`letters, digits, spaces and - . _ ~ / : , ; = | with variables of the request such as $http_authorization and $cookie_NAME`},
	{"limit_key", pattern(`^(?:address|host|\$(?:binary_remote_addr|remote_addr|server_name|host|http_[a-z0-9_]{1,100}|cookie_[A-Za-z0-9_]{1,100})|header:` + syntax.RequestHeaderLetter + `{1,100}|cookie:[A-Za-z0-9._~-]{1,100})$`),
		`"address", "host", or "header:NAME" or "cookie:NAME" with a name of letters, digits and - (. _ ~ too for a cookie), or one of the variables $binary_remote_addr, $remote_addr, $server_name, $host, $http_NAME and $cookie_NAME`},
	{"hash_key", pattern(`^(?:[A-Za-z0-9\-_]|` + hashVariable + `)+$`),
		`letters, digits, - and _ with variables that are known before a backend is chosen, such as $request_uri, $host, $remote_addr, $arg_id and $http_x_user`},
	// The character set is that of ingress-nginx.
	{"canary_pattern", pattern(`^[A-Za-z0-9\-._~/:^$\[\](){}*+?|&=\\]+$`), `a regular expression of letters, digits and - . _ ~ / : ^ $ [ ] ( ) { } * + ? | & = \`},
	{"canary_value", pattern(`^[A-Za-z0-9\-._~/:]+$`), `a value of letters, digits and - . _ ~ / :`},
}

// serverRules are for TLS and the processes of nginx.
var serverRules = []textRule{
	// The names of ciphers and the operators of OpenSSL (ciphers(1ssl)).
	{"ciphers", pattern(`^[A-Za-z0-9!:+\-_@=, ]+$`), `names of ciphers as OpenSSL writes them, separated by ":", "," or spaces`},
	{"curves", pattern(`^[A-Za-z0-9\-_]+(:[A-Za-z0-9\-_]+)*$`), `"auto" or names of curves separated by ":"`},
	{"subject_pattern", pattern(`^CN=[ -~]{1,500}$`), `"CN=" and a regular expression of at most 500 printable ASCII characters`},
	{"cpu_masks", pattern(`^(?:auto(?: +[01]+)?|[01]+(?: +[01]+)*)$`), `"auto", or masks of 0 and 1 such as "0001 0010", one for each worker`},
}

// logRules are for logs and traces.
var logRules = []textRule{
	{"access_log_file", pattern(`^(?:/dev/(?:stdout|null)|` + logFile + `)$`),
		`"/dev/stdout", "/dev/null" or the path of a file below /var/log`},
	{"error_log_file", pattern(`^(?:/dev/(?:stderr|stdout|null)|` + logFile + `)$`),
		`"/dev/stderr", "/dev/stdout", "/dev/null" or the path of a file below /var/log`},
	// Source: https://nginx.org/en/docs/http/ngx_http_log_module.html#access_log
	{"access_log_param", pattern(`^(?:buffer=(?:[1-9][0-9]{0,6}|[1-9][0-9]{0,4}[kK]|[1-9][0-9]?[mM])|flush=[1-9][0-9]{0,4}(?:ms|s|m|h)?|gzip(?:=[1-9])?)$`),
		`"buffer=SIZE" (up to 99m), "flush=TIME" or "gzip=LEVEL"`},
	{"log_share", pattern(`^[1-5](?:xx|[0-9]{2})=(?:0|0\.0[125]|0\.[125]|[125]|[125]0|100)%$`), `a status or a class, and a percentage among 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50 or 100`},
	// A named group would set the variable of that name.
	{"log_url", pattern(`^(?:/[^\x00-\x20\x7f]*|~\*?(?:[^(*]|\(+[^(?]|\(+\?[^(P<'])(?:[^(]|\(+[^(?]|\(+\?[^(P<'])*)$`),
		`a path that begins with "/", with its arguments, or "~" and a regular expression without named groups`},
	{"span_name", pattern(`^(?:[ !#%-\[\]-~]|` + hashVariable + `){1,200}$`),
		`at most 200 printable ASCII characters without " and \, with variables of the request such as $request_method and $service_name`},
	{"ratio", pattern(`^(?:0(?:\.[0-9]{1,12})?|1(?:\.0{1,12})?)$`), `a number from 0 to 1, such as "0.01"`},
	// The characters are those of ingress-nginx, the variables those that are known.
	{"transaction_id", pattern(`^(?:[A-Za-z0-9_-]|` + variable + `)+$`), `letters, digits, - and _, and variables of the request such as $request_id`},
}

// RulePattern returns the regular expression of a rule for texts, "" if there is none.
func RulePattern(name string) string {
	for _, r := range textRules {
		if r.name == name {
			return r.pattern().String()
		}
	}
	return ""
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
