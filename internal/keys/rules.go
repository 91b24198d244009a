package keys

import (
	"regexp"

	"github.com/go-playground/validator/v10"
)

// textRule is a rule of our own for texts, usable by its name in a validate tag.
type textRule struct {
	name    string
	pattern *regexp.Regexp
	// valid says what would be valid, to follow "want ".
	valid string
}

// variable is one that a value may name: what says something of the request,
// and nothing else. Package render has the last word.
// Source: https://nginx.org/en/docs/varindex.html
const variable = `\$(?:` + variableNames + `\b|\{(?:` + variableNames + `)\})`

const variableNames = `(?:args|best_http_host|host|hostname|is_args|namespace|ingress_name|query_string|remote_addr|request_id|request_method|request_uri|req_id|scheme|` +
	`server_name|server_port|service_name|service_port|ssl_server_name|uri|(?:arg|cookie|http)_[A-Za-z0-9_]+)`

var textRules = []textRule{
	// The character set is ingress-nginx's; a lone $ is what nginx refuses.
	{"rewrite_target", regexp.MustCompile(`^(?:[A-Za-z0-9\-._~/:]|\$[A-Za-z0-9_]+)+$`),
		`a path of letters, digits and - . _ ~ / : with $1 to $9 for what the path captured`},
	{"secret_ref", regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`),
		`the name of a Secret as "namespace/name"`},
	{"server_name", regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`),
		`a host name of letters, digits and . - _`},
	// OpenSSL's names of ciphers and its operators (ciphers(1ssl)).
	{"ciphers", regexp.MustCompile(`^[A-Za-z0-9!:+\-_@=]+$`),
		`names of ciphers as OpenSSL writes them, separated by ":"`},
	{"curves", regexp.MustCompile(`^[A-Za-z0-9\-_]+(:[A-Za-z0-9\-_]+)*$`),
		`"auto" or names of curves separated by ":"`},
	// The character sets of redirects are ingress-nginx's.
	{"redirect_url", regexp.MustCompile(`^[A-Za-z0-9\-._~/:,?&=]+$`),
		`a URL of letters, digits and - . _ ~ / : , ? & =`},
	{"http_url", regexp.MustCompile(`^https?://[A-Za-z0-9\-._~/:,?&=]+$`),
		`a URL that begins with http:// or https://, of letters, digits and - . _ ~ / : , ? & =`},
	{"path_and_variables", regexp.MustCompile(`^/(?:[A-Za-z0-9\-._~/:]|` + variable + `)+$`),
		`a path below "/", of letters, digits and - . _ ~ / : and variables such as $host`},
	{"host_and_variables", regexp.MustCompile(`^(?:[A-Za-z0-9\-._:\[\]]|` + variable + `)+$`),
		`a host name, with a port or without; variables such as $host may be in it`},
	// A name with _ would not be read by nginx unless it is told to.
	{"header_name", regexp.MustCompile(`^[A-Za-z0-9-]{1,100}$`),
		`the name of a header, of letters, digits and -`},
	{"path_prefix", regexp.MustCompile(`^/[^\x00-\x20"\\]*$`),
		`a path that begins with "/"`},
}

var validate = newValidator()

func newValidator() *validator.Validate {
	v := validator.New()
	v.RegisterCustomTypeFunc(numberValue, Number(""))
	v.RegisterCustomTypeFunc(sizeValue, Size(""))
	v.RegisterCustomTypeFunc(durationValue, Duration(""))
	for _, r := range textRules {
		check := func(fl validator.FieldLevel) bool { return r.pattern.MatchString(fl.Field().String()) }
		if err := v.RegisterValidation(r.name, check); err != nil {
			panic("keys: " + r.name + ": " + err.Error())
		}
	}
	return v
}
