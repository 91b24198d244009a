package route

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Beginning gives literal text that everything begins with which a pattern
// matches from its start, whatever else is in the pattern: it need not compile.
// Where that cannot be told, it is empty. PCRE compares it in either case.
func Beginning(pattern string) string {
	var lead strings.Builder
	rest := pattern
	for rest != "" {
		text, length := literalOf(rest)
		if length == 0 || maybeNone.MatchString(rest[length:]) {
			break
		}
		lead.WriteString(text)
		rest = rest[length:]
	}
	if mayBranch(rest) {
		return ""
	}
	return lead.String()
}

// maybeNone is a quantifier by which what stands before may be absent.
var maybeNone = regexp.MustCompile(`^[*?{]`)

// literalOf gives the character that a pattern begins with, and how much of the
// pattern that takes; 0 where it is something else.
func literalOf(rest string) (text string, length int) {
	if rest[0] == '\\' {
		if len(rest) > 1 && rest[1] > ' ' && rest[1] < utf8.RuneSelf && !isWord(rest[1]) {
			return rest[1:2], 2
		}
		return "", 0
	}
	r, size := utf8.DecodeRuneInString(rest)
	if r == utf8.RuneError || unicode.IsControl(r) || strings.ContainsRune(`.[]()|*+?{}^$`, r) {
		return "", 0
	}
	return rest[:size], size
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// opener is a group whose extent is plain: no comment, no verb, and no option by
// which the text after it is read in another way.
var opener = regexp.MustCompile(`^\((?:\?(?:[:=!>|]|<[=!]|P?<\w+>|'\w+'|[imsU]*(?:-[imsU]+)?[:)]|P=\w+\)|P>\w+\)|&\w+\)|R\)|[+-]?\d+\))|$|[^*?])`)

// plainClass is a class without anything that could hide its end.
var plainClass = regexp.MustCompile(`^\[\^?\]?(?:\\[^QEc]|[^\[\]\\])*\]`)

// mayBranch reports whether a pattern may have a "|" that is in no group: what
// stands before it is then but one of the choices.
func mayBranch(rest string) bool {
	depth := 0
	for rest != "" {
		length := 1
		switch c := rest[0]; {
		case c == '|' && depth == 0, c == ')' && depth == 0:
			return strings.Contains(rest, "|")
		case c == ')':
			depth--
		case c == '(':
			if !opener.MatchString(rest) {
				return strings.Contains(rest, "|")
			}
			depth++
		case c == '[':
			if length = len(plainClass.FindString(rest)); length == 0 {
				return strings.Contains(rest, "|")
			}
		case c == '\\':
			if len(rest) < 2 || strings.ContainsRune("QEc", rune(rest[1])) {
				return strings.Contains(rest, "|")
			}
			length = 2
		}
		rest = rest[length:]
	}
	return false
}
