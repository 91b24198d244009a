package route

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// The characters of an address in a Host header. nginx keeps the brackets of one of
// version 6; one that ends in an address of version 4 is nobody's in practice.
const (
	version4 = "0123456789."
	version6 = "0123456789abcdef:[]"
)

// MayBeAddress reports whether a name of a server, which may be a wildcard or a
// pattern, can stand for an IP address. It rather says yes than no.
func MayBeAddress(name string) bool {
	pattern, ok := strings.CutPrefix(name, "~")
	if !ok {
		return strings.Trim(name, version4+"*") == ""
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
	return err != nil || !needsOther(parsed, version4) || !needsOther(parsed, version6)
}

// needsOther reports whether all that a pattern matches has a character that is none
// of some.
func needsOther(part *syntax.Regexp, some string) bool {
	among := func(r rune) bool { return strings.ContainsRune(some, unicode.ToLower(r)) }
	switch part.Op {
	case syntax.OpLiteral:
		return strings.ContainsFunc(string(part.Rune), func(r rune) bool { return !among(r) })
	case syntax.OpCharClass:
		return !strings.ContainsFunc(some, func(r rune) bool { return inClass(part.Rune, r) })
	case syntax.OpRepeat:
		return part.Min > 0 && needsOther(part.Sub[0], some)
	case syntax.OpCapture, syntax.OpPlus:
		return needsOther(part.Sub[0], some)
	case syntax.OpConcat:
		for _, sub := range part.Sub {
			if needsOther(sub, some) {
				return true
			}
		}
	case syntax.OpAlternate:
		for _, sub := range part.Sub {
			if !needsOther(sub, some) {
				return false
			}
		}
		return true
	}
	return false
}

// inClass looks for a character in the ranges of a class.
func inClass(ranges []rune, r rune) bool {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] <= r && r <= ranges[i+1] {
			return true
		}
	}
	return false
}
