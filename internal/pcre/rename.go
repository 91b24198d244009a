package pcre

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// groupPrefix begins the name of every group of a user's pattern. No variable
// of nginx or of ours begins with it.
const groupPrefix = "p_"

// GroupName is the name that Rename gives to a group.
func GroupName(name string) string { return groupPrefix + name }

// IsGroupName reports whether a name is one that Rename gives.
func IsGroupName(name string) bool { return strings.HasPrefix(name, groupPrefix) }

// Rename gives the pattern with each named group (?<n>..), (?P<n>..) or
// (?'n'..) as (?<p_n>..) if its name is to be kept, and else as (..), and the
// names n in order. nginx sets a variable for each named group of a pattern that
// matches, so that a name such as "route" would overwrite ours; and every
// request pays for every variable that there is. Whatever could hide a group from the reader, or name
// one from elsewhere, is an error that says what to write instead.
func Rename(pattern string, keep ...string) (renamed string, names []string, err error) {
	var out strings.Builder
	for t := range tokens(pattern) {
		switch {
		case t.refusal != nil:
			return "", nil, t.refusal
		case slices.Contains(names, t.name):
			return "", nil, fmt.Errorf("two groups have the name %s", t.name)
		case t.name != "":
			names = append(names, t.name)
			if out.WriteByte('('); slices.Contains(keep, t.name) {
				out.WriteString("?<" + GroupName(t.name) + ">")
			}
		case t.kind == commentToken:
			// Without the rest of it, what stands before could be joined to what stands
			// behind, as in \1(?#)0.
			out.WriteString("(?#)")
		default:
			out.WriteString(t.text)
		}
	}
	return out.String(), names, nil
}

// Balanced reports whether each group of a pattern that Rename takes begins and
// ends in it, so that the pattern can stand in a group.
func Balanced(pattern string) bool {
	depth := 0
	for t := range tokens(pattern) {
		switch {
		case t.refusal != nil, t.kind == closeToken && depth == 0:
			return false
		case t.kind == openToken:
			depth++
		case t.kind == closeToken:
			depth--
		}
	}
	return depth == 0
}

// Beginning gives literal text that everything begins with which a pattern
// matches from its start, whatever else is in the pattern: it need not compile.
// Where that cannot be told, it is empty. PCRE compares it in either case.
func Beginning(pattern string) string {
	var lead []byte
	rest := pattern
	for rest != "" {
		t := next(rest)
		literal, ok := t.literal()
		if after := rest[len(t.text):]; !ok || after != "" && strings.IndexByte("*?{", after[0]) >= 0 {
			break // behind a quantifier the character may be absent
		}
		lead = append(lead, literal)
		rest = rest[len(t.text):]
	}
	if mayBranch(rest) {
		return ""
	}
	return readable(string(lead))
}

// literal gives the byte of a token that stands for one without any doubt.
func (t token) literal() (c byte, ok bool) {
	switch {
	case t.kind == literalToken && strings.IndexByte("{}]", t.text[0]) < 0:
		return t.text[0], true
	case t.kind == escapeToken && t.text[1] > ' ' && t.text[1] < utf8.RuneSelf && !wordBytes.has(t.text[1]):
		return t.text[1], true
	}
	return 0, false
}

// readable gives the beginning of a text up to what is no UTF-8 or a control
// character.
func readable(text string) string {
	for i, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return text[:i]
		}
	}
	return text
}

// mayBranch reports whether a pattern may have a "|" that is in no group: what
// stands before it is then but one of the choices.
func mayBranch(rest string) bool {
	depth := 0
	for t := range tokens(rest) {
		switch {
		case depth == 0 && (t.kind == barToken || t.kind == closeToken), t.kind == lostToken:
			return strings.Contains(rest, "|")
		case t.kind == openToken:
			depth++
		case t.kind == closeToken:
			depth--
		}
		rest = rest[len(t.text):]
	}
	return false
}
