package route

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"sluice/internal/pcre"
)

// Quote gives a PCRE that matches the text literally.
func Quote(text string) string { return regexp.QuoteMeta(text) }

// Compiles reports whether a pattern is one that both Go and PCRE take and
// that has no effect beyond matching. It is for paths that nobody wrote as a
// pattern: it rather says no to what PCRE would take, such as a look-ahead.
func Compiles(pattern string) bool {
	if dubious.MatchString(pattern) {
		return false
	}
	_, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil
}

// dubious is what Go compiles and PCRE may not, or what would set a variable:
// (? and (*, POSIX classes, code points, ranges from a class, and assertions
// that are repeated.
var dubious = regexp.MustCompile(`\(\?|\(\*|\[[:.=]|\\x\{|\\[pPQE]|\\[dDsSwW]-|(?:[$^]|\\[AzbB])[*+?{]`)

// Lead gives the literal text that everything a pattern matches begins with, as
// far as Go can tell without compiling it, which may take long.
func Lead(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl&^syntax.UnicodeGroups) // whose tables take long
	if err != nil {
		return ""
	}
	var lead strings.Builder
	leading(tree, &lead)
	return lead.String()
}

// leading writes the text that all matches of a part begin with, and reports
// whether that is all of the part.
func leading(part *syntax.Regexp, lead *strings.Builder) (whole bool) {
	switch part.Op {
	case syntax.OpEmptyMatch:
		return true
	case syntax.OpLiteral:
		if part.Flags&syntax.FoldCase != 0 {
			return false
		}
		lead.WriteString(string(part.Rune))
		return true
	case syntax.OpConcat:
		return !slices.ContainsFunc(part.Sub, func(sub *syntax.Regexp) bool { return !leading(sub, lead) })
	case syntax.OpCapture:
		return leading(part.Sub[0], lead)
	case syntax.OpPlus:
		leading(part.Sub[0], lead)
	}
	return false
}

// matchPattern matches a path as `location ~*` does. known is false if package
// pcre cannot tell what PCRE2 says.
func matchPattern(pattern, path string) (matches, known bool) {
	compiled, err := pcre.Compile(pattern, pcre.Caseless)
	if err != nil {
		return false, false
	}
	_, matches, err = compiled.Match(path)
	return matches, err == nil
}
