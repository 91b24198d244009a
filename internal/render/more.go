package render

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/syntax"
)

// addHeader is the directive of nginx for headers of answers, and setMore that of headers-more.
const (
	addHeader = "add_header"
	setMore   = "more_set_headers"
	setCookie = "set-cookie"
)

// more are the headers of answers, in lower case and sorted, that snippets set or remove by
// directives of headers-more: always are those of them that no condition is about. nginx would
// send an add_header of the same name besides. Cookies are not among them, as there may be many.
type more struct{ headers, always []string }

// moreIn reads a snippet.
func moreIn(text []byte) (m more) {
	if !bytes.Contains(text, []byte("more_")) {
		return m
	}
	statements, _ := syntax.Parse(text)
	for _, s := range statements {
		if s.Name() != setMore && s.Name() != "more_clear_headers" {
			continue
		}
		var names []string
		options := false
		for i, token := range s.Tokens[1:] {
			option := strings.HasPrefix(token, "-") || i > 0 && (s.Tokens[i] == "-s" || s.Tokens[i] == "-t")
			options = options || option
			name, _, _ := strings.Cut(token, ":")
			if name = strings.ToLower(strings.TrimSpace(name)); !option && name != setCookie {
				names = append(names, name)
			}
		}
		found := more{headers: names}
		if s.Depth == 0 && !options {
			found.always = names
		}
		m = m.plus(found)
	}
	return m
}

func (m more) plus(o more) more {
	return more{union(m.headers, o.headers), union(m.always, o.always)}
}

func union(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// names reports whether a list has a header, perhaps by a name that ends with a star. Cookies do not
// count.
func names(list []string, header string) bool {
	return header != setCookie && slices.ContainsFunc(list, func(name string) bool {
		beginning, star := strings.CutSuffix(name, "*")
		return name == header || star && strings.HasPrefix(header, beginning)
	})
}

func (m more) equal(o more) bool {
	return slices.Equal(m.headers, o.headers) && slices.Equal(m.always, o.always)
}

// asMore returns the text of a behaviour in which the headers that snippets set by headers-more
// are set so too, as ingress-nginx sets them: the later directive wins.
func (r *rendering) asMore(text []byte) []byte {
	if len(r.more.headers) == 0 || !bytes.Contains(text, []byte(addHeader)) {
		return text
	}
	var out bytes.Buffer
	done := 0
	beside := inheritables(text)
	syntax.Directives(text, func(d syntax.Directive) {
		if d.Name != addHeader || d.Depth > 0 {
			return
		}
		directive := inheritable{directive: d.Name, header: strings.ToLower(d.Arg), text: string(text[d.Start:d.End])}
		if instead := r.moreOf(directive, beside); instead != "" {
			out.Write(text[done:d.Start])
			out.WriteString(instead)
			done = d.End
		}
	})
	out.Write(text[done:])
	return out.Bytes()
}

// moreOf returns what stands for an add_header beside the snippets, "" if it stays: an empty one,
// so that none is inherited, and unless a snippet always replaces it, a directive of
// headers-more. That removes a header for an empty value, so a value of variables alone stays unless
// one of the directives beside it hides that of backends, which nginx gives no other answer.
// Those of the policy of the settings stay too: no snippet replaces them.
func (r *rendering) moreOf(i inheritable, beside []inheritable) string {
	if i.directive != addHeader || !names(r.more.headers, i.header) || r.global.GlobalHeaders.Overrules(addHeader, i.header) {
		return ""
	}
	statements, err := syntax.Parse([]byte(i.text))
	if err != nil || len(statements) != 1 {
		return "" // what nginx refuses
	}
	words := statements[0].Tokens
	if len(words) != 4 || words[3] != "always" || !syntax.IsHeaderName(words[1], len(words[1])) {
		return ""
	}
	name, value := words[1], words[2]
	empty := addHeader + " " + name + ` "" always;`
	switch {
	case value == "":
		return ""
	case names(r.more.always, i.header):
		return empty
	case strings.HasPrefix(value, "$") && (i.header == "content-type" || !hides(beside, i.header)):
		return ""
	}
	return empty + "\n" + setMore + ` "` + name + ": " + inQuotes.Replace(value) + `";`
}

func hides(all []inheritable, header string) bool {
	return slices.ContainsFunc(all, func(i inheritable) bool { return strings.HasSuffix(i.directive, "_hide_header") && i.header == header })
}

// inQuotes writes a value within double quotes; variables in it stay variables.
var inQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// replaceInherited returns the own directives of a block with those that stand for inherited ones
// beside its snippets, and their text.
func (b *blockList) replaceInherited(own []inheritable) (all []inheritable, texts []string) {
	for _, o := range b.outside {
		if instead := b.moreOf(o, b.outside); instead != "" && !has(own, addHeader, o.header) {
			own = append(own, inheritable{directive: addHeader, header: o.header, text: addHeader + " " + o.header + ` "" always;`})
			texts = append(texts, instead)
		}
	}
	return own, texts
}
