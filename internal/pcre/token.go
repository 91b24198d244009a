package pcre

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
)

// token is a part of a pattern that PCRE2 reads as a unit.
type token struct {
	kind tokenKind
	// text is the token as written.
	text string
	// name is the name of a named group.
	name string
	// refusal is the reason why users' patterns may not have this token; nil if they may.
	refusal error
}

type tokenKind int

const (
	literalToken    tokenKind = iota // one byte that stands for itself
	escapeToken                      // a backslash with its characters
	quotedToken                      // \Q..\E
	classToken                       // [..]
	dotToken                         // .
	caretToken                       // ^
	dollarToken                      // $
	barToken                         // |
	openToken                        // the beginning of a group
	closeToken                       // )
	optionsToken                     // (?i)
	commentToken                     // (?#..)
	quantifierToken                  // *, +, ?, {2,3}, also followed by ? or +
	lostToken                        // the rest of the pattern, if its tokens are not known
)

var (
	codes = regexp.MustCompile(`^\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{1,2}|[0-9]+)`)
	posix = regexp.MustCompile(`^\[:\^?[a-z]+:\]`)
	// options lacks x, J and n, which change how PCRE2 reads later text, names, and groups
	// without a name.
	options = regexp.MustCompile(`^\(\?[imsU]*(?:-[imsU]+)?[:)]`)
	// bounds includes forms that are quantifiers since PCRE2 10.43 and literal before.
	bounds = regexp.MustCompile(`^\{[ \t]*(?:[0-9]+[ \t]*(?:,[ \t]*[0-9]*[ \t]*)?|,[ \t]*[0-9]+[ \t]*)\}`)
	named  = regexp.MustCompile(`^\(\?(?:P?<([A-Za-z0-9_]+)>|'([A-Za-z0-9_]+)')`)
	// calls matches groups that users' patterns may not have, but whose end is known.
	calls = regexp.MustCompile(`^\(\?(?:P[=>]\w+|&\w+|R|[+-]?[0-9]+)\)`)
)

var openers = []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?|"}

// maxGroupName is PCRE2's limit of 32 without groupPrefix.
const maxGroupName = 32 - len(groupPrefix)

// tokens splits a pattern from left to right. Everything in this package uses it, so
// that no reader mistakes a group of PCRE2 for text.
func tokens(pattern string) iter.Seq[token] {
	return func(yield func(token) bool) {
		for rest := pattern; rest != ""; {
			t := next(rest)
			if !yield(t) {
				return
			}
			rest = rest[len(t.text):]
		}
	}
}

var singles = map[byte]tokenKind{'.': dotToken, '^': caretToken, '$': dollarToken, '|': barToken, ')': closeToken}

// next returns the first token of a text.
func next(rest string) token {
	switch c := rest[0]; c {
	case '\\':
		return readEscape(rest)
	case '[':
		return readClass(rest)
	case '(':
		return readGroup(rest)
	case '*', '+', '?', '{':
		return readQuantifier(rest)
	default:
		return token{kind: singles[c], text: rest[:1]}
	}
}

// lost returns a lostToken.
func lost(rest, format string, values ...any) token {
	return token{kind: lostToken, text: rest, refusal: fmt.Errorf(format, values...)}
}

func readEscape(rest string) token {
	if strings.HasPrefix(rest, `\Q`) {
		end := strings.Index(rest, `\E`)
		if end < 0 {
			return lost(rest, `\Q needs its \E`)
		}
		return token{kind: quotedToken, text: rest[:end+2]}
	}
	refusal := checkEscape(rest)
	if len(rest) < 2 || rest[1] == 'c' || rest[1] == 'E' {
		return lost(rest, "%w", refusal)
	}
	return token{kind: escapeToken, text: rest[:escapeLength(rest)], refusal: refusal}
}

func escapeLength(rest string) int { return min(max(2, len(codes.FindString(rest))), len(rest)) }

// checkEscape rejects escapes that change the meaning of the next characters (\c and
// \E), and references to groups by name, which Rename would have to change.
func checkEscape(rest string) error {
	if len(rest) < 2 {
		return errors.New(`a \ at the end`)
	}
	switch rest[1] {
	case 'k', 'g':
		return fmt.Errorf(`\%c is not taken here: refer to a group by its number, as in \1`, rest[1])
	case 'c', 'E':
		return fmt.Errorf(`\%c is not taken here`, rest[1])
	}
	return nil
}

// readClass reads [..], in which brackets and parentheses are literal.
func readClass(rest string) token {
	for i := len(classStart(rest)); i < len(rest); {
		if rest[i] == ']' {
			return token{kind: classToken, text: rest[:i+1]}
		}
		length, err := member(rest[i:])
		if err != nil {
			return lost(rest, "%w", err)
		}
		i += length
	}
	return lost(rest, "%w", errNoBracket)
}

var errNoBracket = errors.New("[ needs its ]")

// classStart returns the beginning of a class: the bracket, ^, and a ] that does not end
// it.
func classStart(rest string) string {
	i := 1
	if strings.HasPrefix(rest[i:], "^") {
		i++
	}
	if strings.HasPrefix(rest[i:], "]") {
		i++
	}
	return rest[:i]
}

// member returns the length of the next member of a class.
func member(rest string) (int, error) {
	switch {
	case strings.HasPrefix(rest, `\Q`):
		return 0, errors.New(`\Q in brackets is not taken here`)
	case rest[0] == '\\':
		return escapeLength(rest), checkEscape(rest)
	case posix.MatchString(rest):
		return len(posix.FindString(rest)), nil
	case len(rest) > 1 && rest[0] == '[' && strings.IndexByte(":.=", rest[1]) >= 0:
		return 0, fmt.Errorf("%q in brackets is not taken here", rest[:2])
	}
	return 1, nil
}

func readQuantifier(rest string) token {
	end := 1
	if rest[0] == '{' {
		if end = len(bounds.FindString(rest)); end == 0 {
			return token{kind: literalToken, text: rest[:1]}
		}
	}
	if end < len(rest) && (rest[end] == '?' || rest[end] == '+') {
		end++
	}
	return token{kind: quantifierToken, text: rest[:end]}
}

// readGroup reads the beginning of a group, options or a comment.
func readGroup(rest string) token {
	switch {
	case strings.HasPrefix(rest, "(*"):
		return lost(rest, "(* is not taken here")
	case !strings.HasPrefix(rest, "(?"):
		return token{kind: openToken, text: "("}
	case strings.HasPrefix(rest, "(?#"):
		text, _, ok := strings.Cut(rest, ")")
		if !ok {
			return lost(rest, "(?# needs its )")
		}
		return token{kind: commentToken, text: text + ")"}
	}
	for _, opener := range openers {
		if strings.HasPrefix(rest, opener) {
			return token{kind: openToken, text: opener}
		}
	}
	if set := options.FindString(rest); set != "" {
		if strings.HasSuffix(set, ":") {
			return token{kind: openToken, text: set}
		}
		return token{kind: optionsToken, text: set}
	}
	return readNamed(rest)
}

func readNamed(rest string) token {
	if found := named.FindStringSubmatch(rest); found != nil {
		t := token{kind: openToken, text: found[0], name: found[1] + found[2]}
		if len(t.name) > maxGroupName {
			t.refusal = errGroupName
		}
		return t
	}
	for _, opener := range []string{"(?<", "(?P<", "(?'"} {
		if strings.HasPrefix(rest, opener) {
			return lost(rest, "%w", errGroupName)
		}
	}
	refusal := fmt.Errorf("the group %q is not taken here", rest[:min(len(rest), 6)])
	if call := calls.FindString(rest); call != "" {
		return token{kind: openToken, text: call[:len(call)-1], refusal: refusal}
	}
	return lost(rest, "%w", refusal)
}

var errGroupName = fmt.Errorf("the name of a group: want 1 to %d letters, digits and _", maxGroupName)
