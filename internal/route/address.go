package route

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// The characters of an address in a Host header. nginx keeps the brackets of an IPv6
// address. IPv6 addresses that end in an IPv4 address are not used in practice.
const (
	version4 = "0123456789."
	version6 = "0123456789abcdef:[]"
)

// MayBeAddress reports whether the name of a server, which can be a wildcard or a
// pattern, can match an IP address. If in doubt, it returns true.
func MayBeAddress(name string) bool {
	pattern, ok := strings.CutPrefix(name, "~")
	if !ok {
		return strings.Trim(name, version4+"*") == ""
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl|syntax.FoldCase)
	return err != nil || !needsOther(parsed, version4) || !needsOther(parsed, version6)
}

// needsOther reports whether every match of a pattern has a character outside some.
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
