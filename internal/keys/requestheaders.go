package keys

import (
	"regexp"
	"slices"
	"strings"

	"sluice/internal/syntax"
)

// RequestHeaders are headers for requests to backends, in the order of their lines.
type RequestHeaders []HeaderLine

// guarded are the headers of requests that Sluice sets itself, or that control the
// connection, with the way to change them.
var guarded = map[string]string{
	"host":                      "upstream-vhost changes it",
	"connection":                "connection-proxy-header changes it",
	"x-forwarded-prefix":        "x-forwarded-prefix sets it",
	"x-forwarded-for":           "the setting use-forwarded-headers decides about it",
	"x-forwarded-host":          "the setting use-forwarded-headers decides about it",
	"x-forwarded-port":          "the setting use-forwarded-headers decides about it",
	"x-forwarded-proto":         "the setting use-forwarded-headers decides about it",
	"x-forwarded-scheme":        "the setting use-forwarded-headers decides about it",
	"x-scheme":                  "the setting use-forwarded-headers decides about it",
	"x-original-forwarded-for":  "the setting use-forwarded-headers decides about it",
	"x-original-forwarded-host": "the setting use-forwarded-headers decides about it",
	"x-real-ip":                 "Sluice sets it to the address of the client",
	"x-original-uri":            "the setting proxy-add-original-uri-header decides about it",
	"x-request-id":              "the setting generate-request-id decides about it",
	"ssl-client-cert":           "auth-tls-pass-certificate-to-upstream sets it",
	"ssl-client-verify":         "Sluice sets it where clients show certificates",
	"ssl-client-subject-dn":     "Sluice sets it where clients show certificates",
	"ssl-client-issuer-dn":      "Sluice sets it where clients show certificates",
	"proxy":                     "CGI programs would take it for a proxy of theirs",
	"expect":                    "nginx answers it itself",
}

// RequestVariables describes the variables of values of RequestHeaders.
const RequestVariables = "$remote_addr, $host, $scheme, $request_id, $request_method, $request_uri, $ssl_client_s_dn, $ssl_client_i_dn, $ssl_client_serial, " +
	"$ssl_client_verify, $ssl_client_fingerprint, $ssl_protocol, $ssl_cipher, $http_NAME, $cookie_NAME and $arg_NAME"

// None of the variables can contain a line end, and each tells the backend only what the
// client sent or how it is connected.
const requestNames = `(?:remote_addr|host|scheme|request_id|request_method|request_uri|ssl_client_(?:s_dn|i_dn|serial|verify|fingerprint)|ssl_protocol|ssl_cipher|(?:http|cookie|arg)_[A-Za-z0-9_]+)`

var (
	requestHeaderValue = regexp.MustCompile(`^(?:[ !-#%-~]|\$(?:` + requestNames + `\b|\{` + requestNames + `\}))*$`)
	// A client could claim an identity by them.
	claimedIdentity = regexp.MustCompile(`(?i)\$\{?http_ssl_client_`)
)

// WrongRequestHeader returns the reason why a header of requests cannot be set or removed, ""
// if it can. CGI, WSGI and others read "_" and "-" as the same, so both are compared as "-".
func WrongRequestHeader(name string) string {
	folded := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	switch {
	case !syntax.IsHeaderName(name, syntax.LongestHeaderName):
		return "want the name of a header, of at most 46 letters, digits, - and _"
	case guarded[folded] != "":
		return guarded[folded]
	case slices.Contains(framing, folded) && folded != "date" && folded != "server", strings.HasPrefix(folded, "x-hops-"):
		return "nginx writes this header itself"
	}
	return ""
}

// UnmarshalText accepts lines such as "X-Client: $ssl_client_s_dn".
func (h *RequestHeaders) UnmarshalText(text []byte) error {
	list, err := headerLines(text, func(line string, header HeaderLine) error {
		switch wrong := WrongRequestHeader(header.Name); {
		case !syntax.IsRequestHeaderName(header.Name, syntax.LongestHeaderName):
			return wrongLine(line, "want the name of a header, of at most 46 letters, digits and -, and a colon")
		case wrong != "":
			return wrongLine(line, "%s", wrong)
		case len(header.Value) > syntax.LongestHeaderValue:
			return wrongLine(line, "want at most %d characters as the value", syntax.LongestHeaderValue)
		case !requestHeaderValue.MatchString(header.Value):
			return wrongLine(line, "want printable ASCII characters as the value, and no variables but %s", RequestVariables)
		case claimedIdentity.MatchString(header.Value):
			return wrongLine(line, "any client can send this header: $ssl_client_s_dn and others have the properties of a certificate")
		}
		return nil
	})
	*h = list
	return err
}
