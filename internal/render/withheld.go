package render

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// identity are the headers with the certificate of the client. Backends trust them, so no
// client may send them.
var identity = []string{"ssl-client-cert", "ssl-client-issuer-dn", "ssl-client-subject-dn", "ssl-client-verify"}

// replaced are the headers that nginx sets, whatever the client sent.
var replaced = []string{
	"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Original-Forwarded-For",
	"X-Original-URI", "X-Real-IP", "X-Request-ID", "X-Scheme",
}

// withheld returns the headers of clients that are not passed on.
func (r *rendering) withheld() []string {
	names := withheld(r.underscores)
	if r.underscores {
		for _, h := range r.global.GlobalHeaders.Questions() {
			names = append(slices.Clip(names), otherForms(h.Name)...)
		}
	}
	if r.global.DebugHeader.Secret == "" {
		return names
	}
	if r.underscores {
		return append(slices.Clip(names), underscored(debugHeader)...)
	}
	return append(slices.Clip(names), debugHeader)
}

// withheld returns those that no setting adds. If nginx accepts names
// with underscores, their forms with underscores are among them: CGI, WSGI and others
// read "_" and "-" as the same.
func withheld(underscores bool) []string {
	if !underscores {
		return identity
	}
	var all []string
	for _, name := range identity {
		all = append(all, underscored(name)...)
	}
	for _, name := range replaced {
		all = append(all, otherForms(name)...)
	}
	return all
}

// withOtherForms returns the text of a behaviour, and for each header that it sets directives that
// withhold the other forms of its name: a client could send one beside it, such as X_User beside
// the X-User of an authentication server. A parameter of FastCGI has one form only.
func (r *rendering) withOtherForms(text []byte) []byte {
	if !r.underscores || r.speaks != nil && r.speaks.protocol == model.FastCGI {
		return text
	}
	var forms []string
	syntax.Directives(text, func(d syntax.Directive) {
		if d.Depth == 0 && d.Name == setHeader {
			forms = append(forms, otherForms(d.Arg)...)
		}
	})
	for _, form := range forms {
		text = append(text, setHeader+" "+form+` "";`+"\n"...)
	}
	return text
}

// mostDashes is the number of "-" in a name up to which all its forms are withheld: there are twice
// as many with each. Of longer names, the one with "_" only is withheld.
const mostDashes = 5

// otherForms returns the forms of a name with "_" for some "-".
func otherForms(name string) []string {
	if strings.Count(name, "-") > mostDashes {
		return []string{strings.ReplaceAll(name, "-", "_")}
	}
	return slices.DeleteFunc(underscored(name), func(form string) bool { return form == name })
}

// underscored returns the forms of a name with "-" or "_" for each "-".
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
