package route

import (
	"regexp"
	"regexp/syntax"

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
