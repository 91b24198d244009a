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
