package render

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/syntax"
)

// questions is the behaviour that asks an authentication server. It gets the headers of the
// client: those of the settings are for backends, and can be their passwords.
const questions = "external-auth-question"

// overruled returns the text of a behaviour without the directives for headers that the
// administrator decides about.
func (r *rendering) overruled(behaviour string, text []byte) []byte {
	g := r.global.GlobalHeaders
	if len(g.Hidden())+len(g.Requests) == 0 || behaviour == questions {
		return text
	}
	var out bytes.Buffer
	done := 0
	syntax.Directives(text, func(d syntax.Directive) {
		if !d.Opens && g.Overrules(d.Name, d.Arg) {
			out.Write(text[done:d.Start])
			done = d.End
		}
	})
	out.Write(text[done:])
	return out.Bytes()
}

// inheritedBy returns the inherited directives that a location repeats. The location of a
// question to an authentication server has no global headers of requests, and withholds
// the headers of clients that the server may believe.
func (r *rendering) inheritedBy(l *model.Location, outside []inheritable) []inheritable {
	if !isQuestion(l) {
		return outside
	}
	global := r.global.GlobalHeaders.Questions()
	return r.withBelieved(slices.DeleteFunc(slices.Clone(outside), func(i inheritable) bool {
		return i.directive == setHeader && slices.ContainsFunc(global, func(h keys.HeaderLine) bool { return strings.EqualFold(h.Name, i.header) })
	}))
}
