package pcre

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
)

// token is a part of a pattern that PCRE2 reads as one.
type token struct {
	kind tokenKind
	// text is the token as it is written.
	text string
	// name is that of a named group.
	name string
	// refusal says why users' patterns may not have this token; nil if they may.
	refusal error
}

type tokenKind int

const (
	literalToken    tokenKind = iota // one byte that stands for itself
	escapeToken                      // a backslash and what belongs to it
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
	quantifierToken                  // *, +, ?, {2,3}; also with ? or + behind
	lostToken                        // the rest of the pattern, whose extent is unsure
)

var (
	codes = regexp.MustCompile(`^\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{1,2}|[0-9]+)`)
	posix = regexp.MustCompile(`^\[:\^?[a-z]+:\]`)
	// options leave out those that change how later text is read (x), what a name
	// means (J) and what a group without a name is (n).
	options = regexp.MustCompile(`^\(\?[imsU]*(?:-[imsU]+)?[:)]`)
	// bounds include those that are quantifiers since PCRE2 10.43 and literal before.
	bounds = regexp.MustCompile(`^\{[ \t]*(?:[0-9]+[ \t]*(?:,[ \t]*[0-9]*[ \t]*)?|,[ \t]*[0-9]+[ \t]*)\}`)
	named  = regexp.MustCompile(`^\(\?(?:P?<([A-Za-z0-9_]+)>|'([A-Za-z0-9_]+)')`)
	// calls are groups of a sure extent that users' patterns may not have.
	calls = regexp.MustCompile(`^\(\?(?:P[=>]\w+|&\w+|R|[+-]?[0-9]+)\)`)
)

var openers = []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?|"}

// maxGroupName leaves room for groupPrefix in PCRE2's limit of 32.
const maxGroupName = 32 - len(groupPrefix)

// tokens reads a pattern from left to right. All readers of patterns in this
// package use it, so that none takes for text what PCRE2 takes for a group.
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

// next reads the token that a text begins with.
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

// lost is the token behind which nothing is sure.
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

// checkEscape refuses the escapes that change what the next characters are
// (\c takes one away, \E is passed over) and the references to groups by name,
// which would have to be renamed.
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
	return lost(rest, "[ needs its ]")
}

// classStart gives what a class begins with: the bracket, ^, and a ] that does
// not end it.
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

// member gives the length of the next member of a class.
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

// readGroup reads what begins with a parenthesis.
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
