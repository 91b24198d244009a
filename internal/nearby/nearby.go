// Package nearby makes requests that come near a path or a host: with a slash more or less, in
// the other case, with percent escapes, with dots and double slashes. Rules differ where
// requests are near them. Package compare asks two controllers such requests, and
// test/differential nginx.
//
//	nearby.ReplaceSlash("/foo/bar", 1, "//") // "/foo//bar"
package nearby

import (
	"fmt"
	"strings"
)

// Suffixes make other paths of a path.
var Suffixes = []string{
	"x", "/x", "/bar", "bar", "/", "//", "/.", "/..", "/../", "/./", "/..x", "/.x", "/../x", "/%2e%2e", "/%2E%2e/x", "/%2e/", "%2f", "%2Fbar", "%2f..", "/..%2f", ".", "..", ";x", "~",
	"%0a", "%0A", "%0d", "%20", "+", "%", "%4", "%zz", "%z1", "%1z", "%00", "%2500", "%252e", "\x01", "\x00", "\x7f", " x", "\x80", "%80", "%ff", "/../..", "/../../..", "$", "%24", "|", "\"", "<", "%3f", "%3fx", "%23", "%23x", "\\", "%5c..",
	"/..?x", "/.?", "/..#", "/.#x", "/%2e%2e?", "%2f%2f", "/%2f", "%2f/",
}

// Queries follow a path.
var Queries = []string{"?", "?a=b", "?a=/../%zz", "?x/", "??", "?a#b", "#", "#x", "#x?y", "?%00", "?a b", "?\x01", "?ü", "?/"}

// InsteadOfSlash are texts to put in the place of a slash.
var InsteadOfSlash = []string{"//", "///", "/./", "/x/../", "/x/y/../../", "/%2e/", "/x/%2E%2e/", "%2f", "/%2f", "%2F/", "/.//", "/../", "/x/..//", "/.x/", "\\"}

// Hosts make of a host one that may be another.
var Hosts = []func(host string) string{
	strings.ToUpper,
	func(host string) string { return strings.ToUpper(host[:1]) + host[1:] },
	func(host string) string { return host + ":80" },
	func(host string) string { return host + ":" },
	func(host string) string { return host + ":80:90" },
	func(host string) string { return host + "." },
	func(host string) string { return host + ".:8080" },
	func(host string) string { return host + ".." },
	func(host string) string { return "." + host },
	func(host string) string { return "extra." + host },
	func(host string) string { return "two.extra." + host },
	func(host string) string { return "x" + host },
	func(host string) string { _, rest, _ := strings.Cut(host, "."); return rest },
	func(host string) string { return strings.Replace(host, ".", "..", 1) },
	func(host string) string { return strings.Replace(host, "a", "ä", 1) },
	func(host string) string { return host + "/x" },
	func(host string) string { return host + `\` },
	func(host string) string { return "user@" + host },
	func(host string) string { return "_" + host },
	func(host string) string { return "[" + host + "]" },
	func(host string) string { return host + " x" },
	func(host string) string { return host + "\x7f" },
	func(string) string { return "10.0.0.1" }, func(string) string { return "[::1]" }, func(string) string { return "[::1]:80" },
	func(string) string { return ":80" }, func(string) string { return "." }, func(string) string { return "[::1" },
	func(string) string { return "_" }, func(string) string { return "*." + "test" },
}

// EndsLine are the bytes that end a request line, or its URI.
const EndsLine = "\x00\t\n\r "

// EndsPath are those that have a meaning in a URI.
const EndsPath = "%?#"

// Escaped writes the bytes of a path that are among special with percent escapes.
func Escaped(path, special string) string {
	return EscapedAt(path, "%%%02X", func(i int) bool { return strings.IndexByte(special, path[i]) >= 0 })
}

// EscapedAt writes the bytes at some places with percent escapes: form is "%%%02x" or
// "%%%02X".
func EscapedAt(path, form string, at func(i int) bool) string {
	var out strings.Builder
	for i := range len(path) {
		if at(i) {
			fmt.Fprintf(&out, form, path[i])
			continue
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

// Slashes returns the number of slashes.
func Slashes(target string) int { return strings.Count(target, "/") }

// ReplaceSlash puts another text in the place of the slash with a number; the first is 0.
func ReplaceSlash(target string, number int, instead string) string {
	for i := range len(target) {
		if target[i] != '/' {
			continue
		}
		if number == 0 {
			return target[:i] + instead + target[i+1:]
		}
		number--
	}
	return target
}

// SwapCase turns ASCII letters into those of the other case.
func SwapCase(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			out[i] ^= 0x20
		}
	}
	return string(out)
}
