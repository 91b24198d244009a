package pcre

import "math/bits"

// set is a set of bytes.
type set [4]uint64

func (s *set) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

func (s *set) add(c byte) { s[c>>6] |= 1 << (c & 63) }

func (s *set) addRange(low, high byte) {
	for c := int(low); c <= int(high); c++ {
		s.add(byte(c))
	}
}

func (s *set) addSet(o set) {
	for i := range s {
		s[i] |= o[i]
	}
}

func (s set) inverse() set {
	for i := range s {
		s[i] = ^s[i]
	}
	return s
}

// folded adds the other case of each letter. In the C locale only ASCII letters have one.
func (s set) folded() set {
	for c := byte('a'); c <= 'z'; c++ {
		if upper := c - 'a' + 'A'; s.has(c) || s.has(upper) {
			s.add(c)
			s.add(upper)
		}
	}
	return s
}

func (s set) disjoint(o set) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return false
		}
	}
	return true
}

func (s *set) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// bytesOf returns the set of the bytes of a text.
func bytesOf(text string) set {
	var s set
	for i := range len(text) {
		s.add(text[i])
	}
	return s
}

// ranges returns the set of ranges, each given as its first and last byte.
func ranges(pairs string) set {
	var s set
	for i := 0; i < len(pairs); i += 2 {
		s.addRange(pairs[i], pairs[i+1])
	}
	return s
}

var (
	anyByte    = set{}.inverse()
	notNewline = bytesOf("\n").inverse()
	digits     = ranges("09")
	wordBytes  = ranges("09AZaz__")
	spaces     = bytesOf(" \t\n\v\f\r")
	horizontal = bytesOf(" \t\xa0")
	vertical   = bytesOf("\n\v\f\r\x85")
)

// posixSets are the classes [:name:].
var posixSets = map[string]set{
	"alnum":  ranges("09AZaz"),
	"alpha":  ranges("AZaz"),
	"ascii":  ranges("\x00\x7f"),
	"blank":  bytesOf(" \t"),
	"cntrl":  ranges("\x00\x1f\x7f\x7f"),
	"digit":  digits,
	"graph":  ranges("!~"),
	"lower":  ranges("az"),
	"print":  ranges(" ~"),
	"punct":  ranges("!/:@[`{~"),
	"space":  spaces,
	"upper":  ranges("AZ"),
	"word":   wordBytes,
	"xdigit": ranges("09AFaf"),
}

// escapedSet returns the bytes of \d, \W and the like.
func escapedSet(letter byte) (s set, ok bool) {
	switch letter | 0x20 {
	case 'd':
		s = digits
	case 'w':
		s = wordBytes
	case 's':
		s = spaces
	case 'h':
		s = horizontal
	case 'v':
		s = vertical
	default:
		return s, false
	}
	if letter < 'a' {
		s = s.inverse()
	}
	return s, true
}

// literal returns the set of one byte, in either case if fold is set.
func literal(c byte, fold bool) set {
	var s set
	if s.add(c); fold {
		return s.folded()
	}
	return s
}
