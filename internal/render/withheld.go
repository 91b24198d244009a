package render

import (
	"slices"
	"strings"

	"sluice/internal/settings"
)

// identity are the headers by which a backend learns of the certificate that a
// client showed. A backend believes them, so that no client may write them.
var identity = []string{"ssl-client-cert", "ssl-client-issuer-dn", "ssl-client-subject-dn", "ssl-client-verify"}

// spoken are the headers by which nginx tells a backend of a request, in place of
// what the client wrote.
var spoken = []string{
	"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Original-Forwarded-For",
	"X-Original-URI", "X-Real-IP", "X-Request-ID", "X-Scheme",
}

// withheld gives the headers that are never passed on as a client wrote them.
// Where nginx takes names with underscores, those with some in the place of "-"
// are among them: CGI, WSGI and others make one name of both.
func withheld(client settings.Client) []string {
	if !client.TakesUnderscores() {
		return identity
	}
	var all []string
	for _, name := range identity {
		all = append(all, underscored(name)...)
	}
	for _, name := range spoken {
		all = append(all, slices.DeleteFunc(underscored(name), func(form string) bool { return form == name })...)
	}
	return all
}

// underscored gives a name with each choice of "-" and "_" in the place of "-".
func underscored(name string) []string {
	before, after, found := strings.Cut(name, "-")
	if !found {
		return []string{name}
	}
	var all []string
	for _, rest := range underscored(after) {
		all = append(all, before+"-"+rest, before+"_"+rest)
	}
	return all
}
