package pcre

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// groupPrefix is the prefix of every group name in a user's pattern. No variable of nginx
// or Sluice begins with it.
const groupPrefix = "p_"

// GroupName returns the name that Rename gives to a group.
func GroupName(name string) string { return groupPrefix + name }

// IsGroupName reports whether a name is one that Rename gives.
func IsGroupName(name string) bool { return strings.HasPrefix(name, groupPrefix) }

// Rename replaces each named group (?<n>..), (?P<n>..) or (?'n'..) of a pattern with
// (?<p_n>..) if n is in keep, and with (..) otherwise. It also returns the names n in
// order. nginx sets a variable for each named group of a matching pattern, so a name such
// as "route" would overwrite one of Sluice's; and every variable costs every request.
// Syntax that could hide a group from the reader, or that refers to a group by name, is
// an error that names an alternative.
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
			// An empty comment stays, because it can separate tokens, as in \1(?#)0.
			out.WriteString("(?#)")
		default:
			out.WriteString(t.text)
		}
	}
	return out.String(), names, nil
}

// NameGroups gives those groups of a pattern whose numbers are in which the names p_1 to
// p_9. It also returns how many groups there are. The pattern has no named groups.
func NameGroups(pattern string, which []int) (named string, groups int) {
	var out strings.Builder
	for t := range tokens(pattern) {
		out.WriteString(t.text)
		if t.kind != openToken || t.text != "(" {
			continue
		}
		if groups++; slices.Contains(which, groups) {
			out.WriteString("?<" + GroupName(strconv.Itoa(groups)) + ">")
		}
	}
	return out.String(), groups
}

// Balanced reports whether each group of a pattern begins and ends in it, so that the
// pattern can be put in a group. Rename must have accepted the pattern.
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

// Beginning returns the literal text with which every match of an anchored pattern
// begins, in any case of letters; empty if it is not known. The pattern need not compile.
func Beginning(pattern string) string {
	var lead []byte
	rest := pattern
	for rest != "" {
		t := next(rest)
		literal, ok := t.literal()
		if after := rest[len(t.text):]; !ok || after != "" && strings.IndexByte("*?{", after[0]) >= 0 {
			break // with a quantifier the character can be absent
		}
		lead = append(lead, literal)
		rest = rest[len(t.text):]
	}
	if mayBranch(rest) {
		return ""
	}
	return readable(string(lead))
}

// literal returns the byte of a token that certainly stands for one.
func (t token) literal() (c byte, ok bool) {
	switch {
	case t.kind == literalToken && strings.IndexByte("{}]", t.text[0]) < 0:
		return t.text[0], true
	case t.kind == escapeToken && t.text[1] > ' ' && t.text[1] < utf8.RuneSelf && !wordBytes.has(t.text[1]):
		return t.text[1], true
	}
	return 0, false
}

// readable returns a text up to the first control character or invalid UTF-8.
func readable(text string) string {
	for i, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return text[:i]
		}
	}
	return text
}

// mayBranch reports whether a pattern may have a "|" outside groups, so that the text
// before it is only one of the choices.
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
