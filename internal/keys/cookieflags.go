package keys

import (
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// CookieFlag are the flags of a cookie of backends.
type CookieFlag struct {
	// Name is the name of the cookie, "*" for all.
	Name  string   `json:"name"`
	Flags []string `json:"flags"`
}

// CookieFlags are flags of cookies. Of several lines for a cookie, the first counts.
type CookieFlags []CookieFlag

// The kinds of flags; a cookie has one of each kind.
var flagKinds = [][]string{
	{"secure", "nosecure"},
	{"httponly", "nohttponly"},
	{"samesite=strict", "samesite=lax", "samesite=none", "nosamesite"},
}

// nginx reads a name that begins with "~" as a pattern.
var flaggedCookie = regexp.MustCompile(`^(?:\*|[A-Za-z0-9._-][A-Za-z0-9._~-]{0,99})$`)

// UnmarshalText accepts lines such as "session secure httponly samesite=lax".
func (c *CookieFlags) UnmarshalText(text []byte) error {
	var list CookieFlags
	err := readLines(text, func(line string) error {
		words := strings.Fields(line)
		one := CookieFlag{Name: words[0]}
		if !flaggedCookie.MatchString(one.Name) {
			return wrongLine(line, `want the name of a cookie, of at most 100 letters, digits and . _ ~ -, or "*"`)
		}
		if slices.ContainsFunc(list, func(other CookieFlag) bool { return other.Name == one.Name || other.Name == "*" }) {
			return wrongLine(line, "it has no effect, as a line before it is for the same cookies")
		}
		var kinds []int
		for _, word := range words[1:] {
			flag := strings.ToLower(word)
			kind := slices.IndexFunc(flagKinds, func(flags []string) bool { return slices.Contains(flags, flag) })
			if kind < 0 || slices.Contains(kinds, kind) {
				return wrongLine(line, "want secure or nosecure, httponly or nohttponly, and samesite=strict, samesite=lax, samesite=none or nosamesite, each once (got %s)", model.Quoted(word))
			}
			kinds, one.Flags = append(kinds, kind), append(one.Flags, flag)
		}
		if len(one.Flags) == 0 {
			return wrongLine(line, "want a flag behind the name")
		}
		list = append(list, one)
		return nil
	})
	*c = list
	return err
}
