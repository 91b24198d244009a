package route

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// groupPrefix begins the name of every group of a user's pattern. No variable
// of nginx or of ours begins with it.
const groupPrefix = "p_"

// maxGroupName is PCRE2's limit of the name of a group.
const maxGroupName = 32

// Rename gives the pattern with each named group (?<n>..), (?P<n>..) or
// (?'n'..) as (?<p_n>..) if its name is to be kept, and else as (..), and the
// names n in order. nginx sets a variable for each named group of a pattern that
// matches, so that a name such as "route" would overwrite ours; and every
// request pays for every variable that there is. Whatever could hide a group from the reader, or name
// one from elsewhere, is an error that says what to write instead.
func Rename(pattern string, keep ...string) (renamed string, names []string, err error) {
	s := &scanner{in: pattern, keep: keep}
	for s.at < len(s.in) {
		if err := s.step(); err != nil {
			return "", nil, err
		}
	}
	return s.out.String(), s.names, nil
}

// Balanced reports whether each group of a pattern that Rename takes begins and
// ends in it, so that the pattern can stand in a group.
func Balanced(pattern string) bool {
	s := &scanner{in: pattern}
	for s.at < len(s.in) {
		if s.step() != nil {
			return false
		}
	}
	return s.depth == 0 && !s.crossed
}

// References gives the names that are used in a rewrite's target: $n and ${n}.
func References(target string) []string {
	var names []string
	for _, found := range reference.FindAllString(target, -1) {
		names = append(names, strings.Trim(found, "${}"))
	}
	return names
}

// RenameReferences puts the prefix before the names of the groups where they
// are used in a rewrite's target: $n and ${n}. It is false if the target names
// a variable that would pass for a group's.
func RenameReferences(target string, names []string) (renamed string, ok bool) {
	ok = true
	renamed = reference.ReplaceAllStringFunc(target, func(found string) string {
		name := strings.Trim(found, "${}")
		if slices.Contains(names, name) {
			return strings.Replace(found, name, groupPrefix+name, 1)
		}
		ok = ok && !strings.HasPrefix(name, groupPrefix)
		return found
	})
	return renamed, ok
}

var (
	reference = regexp.MustCompile(`\$(?:\{[A-Za-z0-9_]+\}|[A-Za-z_][A-Za-z0-9_]*)`)
	// groupReference is reference with the numbers of groups.
	groupReference = regexp.MustCompile(`\$(?:[1-9]|\{[A-Za-z_][A-Za-z0-9_]*\}|[A-Za-z_][A-Za-z0-9_]*)`)

	groupName = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	// posix is a class such as [:alpha:] within brackets.
	posix = regexp.MustCompile(`^\[:\^?[a-z]+:\]`)
	// flags are those of PCRE that change neither the reading of the text (x),
	// nor that of names (J), nor what a group without a name is (n).
	flags = regexp.MustCompile(`^[imsU]*(?:-[imsU]+)?[:)]`)
)

// scanner reads a PCRE far enough to know its groups.
type scanner struct {
	in    string
	at    int
	out   strings.Builder
	names []string
	// keep are the names that groups keep.
	keep []string
	// depth is how many groups are open; crossed is set if one ended that was not.
	depth   int
	crossed bool
}

func (s *scanner) step() error {
	rest := s.in[s.at:]
	switch {
	case strings.HasPrefix(rest, `\Q`):
		return s.literal(rest)
	case rest[0] == '\\':
		return s.escape(rest)
	case rest[0] == '[':
		return s.class(rest)
	case strings.HasPrefix(rest, "(*"):
		return errors.New("(* is not taken here")
	case strings.HasPrefix(rest, "(?"):
		return s.group(rest)
	case rest[0] == '(':
		s.depth++
	case rest[0] == ')':
		s.shut()
	}
	s.copy(1)
	return nil
}

func (s *scanner) shut() {
	s.depth--
	s.crossed = s.crossed || s.depth < 0
}

func (s *scanner) copy(length int) {
	s.out.WriteString(s.in[s.at : s.at+length])
	s.at += length
}

// literal passes over \Q..\E, which holds no group.
func (s *scanner) literal(rest string) error {
	end := strings.Index(rest, `\E`)
	if end < 0 {
		return errors.New(`\Q needs its \E`)
	}
	s.copy(end + 2)
	return nil
}

// escape passes over \x.
func (s *scanner) escape(rest string) error {
	if err := checkEscape(rest); err != nil {
		return err
	}
	s.copy(2)
	return nil
}

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

// class passes over [..], in which brackets and parentheses are literal.
func (s *scanner) class(rest string) error {
	i := 1
	if strings.HasPrefix(rest[i:], "^") {
		i++
	}
	if strings.HasPrefix(rest[i:], "]") {
		i++
	}
	for i < len(rest) {
		if rest[i] == ']' {
			s.copy(i + 1)
			return nil
		}
		length, err := member(rest[i:])
		if err != nil {
			return err
		}
		i += length
	}
	return errors.New("[ needs its ]")
}

// member gives the length of the next member of a class.
func member(rest string) (int, error) {
	switch {
	case strings.HasPrefix(rest, `\Q`):
		return 0, errors.New(`\Q in brackets is not taken here`)
	case rest[0] == '\\':
		return 2, checkEscape(rest)
	case posix.MatchString(rest):
		return len(posix.FindString(rest)), nil
	case len(rest) > 1 && rest[0] == '[' && strings.ContainsRune(":.=", rune(rest[1])):
		return 0, fmt.Errorf("%q in brackets is not taken here", rest[:2])
	}
	return 1, nil
}

// group reads what follows "(?".
func (s *scanner) group(rest string) error {
	for _, opener := range []string{"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?|"} {
		if strings.HasPrefix(rest, opener) {
			s.depth++
			s.copy(len(opener))
			return nil
		}
	}
	if strings.HasPrefix(rest, "(?#") {
		return s.comment(rest)
	}
	for opener, closer := range map[string]string{"(?<": ">", "(?P<": ">", "(?'": "'"} {
		if after, ok := strings.CutPrefix(rest, opener); ok {
			return s.named(after, opener, closer)
		}
	}
	if set := flags.FindString(rest[2:]); set != "" {
		if strings.HasSuffix(set, ":") {
			s.depth++
		}
		s.copy(2 + len(set))
		return nil
	}
	return fmt.Errorf("the group %q is not taken here", rest[:min(len(rest), 6)])
}

// comment leaves the text of (?#..) out. Without the rest of it, what stands
// before could be joined to what stands behind, as in \1(?#)0.
func (s *scanner) comment(rest string) error {
	end := strings.IndexByte(rest, ')')
	if end < 0 {
		return errors.New("(?# needs its )")
	}
	s.at += end + 1
	s.out.WriteString("(?#)")
	return nil
}

func (s *scanner) named(after, opener, closer string) error {
	name, _, ok := strings.Cut(after, closer)
	if !ok || !groupName.MatchString(name) || len(groupPrefix)+len(name) > maxGroupName {
		return fmt.Errorf("the name of a group: want 1 to %d letters, digits and _", maxGroupName-len(groupPrefix))
	}
	if slices.Contains(s.names, name) {
		return fmt.Errorf("two groups have the name %s", name)
	}
	s.names, s.depth = append(s.names, name), s.depth+1
	if s.out.WriteByte('('); slices.Contains(s.keep, name) {
		s.out.WriteString("?<" + groupPrefix + name + ">")
	}
	s.at += len(opener) + len(name) + len(closer)
	return nil
}
