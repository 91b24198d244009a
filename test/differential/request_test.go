package differential

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
)

// form is the way a request line and its host are written.
type form int

const (
	// ordinary is the path in the request line and the host in a header.
	ordinary form = iota
	// hostless is HTTP/1.0 without a host.
	hostless
	// absolute is the whole URL in the request line, with another host in the
	// header.
	absolute
)

// request is what is sent. Both parts are sent byte for byte.
type request struct {
	form         form
	host, target string
}

// bytes is the request as it is sent.
func (q request) bytes() []byte {
	switch q.form {
	case hostless:
		return fmt.Appendf(nil, "GET %s HTTP/1.0\r\n\r\n", q.target)
	case absolute:
		return fmt.Appendf(nil, "GET http://%s%s HTTP/1.1\r\nHost: other.test\r\n\r\n", q.host, q.target)
	}
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", q.target, q.host)
}

// String is the request as Go writes its bytes.
func (q request) String() string { return fmt.Sprintf("%q", q.bytes()) }

// ask adds requests that come near what the set has, and near its edges.
func (m *setMaker) ask(count int) {
	if len(m.targets) == 0 {
		m.targets = []target{{m.hosts[0], func() string { return "/" }}}
	}
	for range count {
		from := pick(m.Rand, m.targets)
		q := request{host: m.hostOf(from.host), target: sendable(m.Rand, from.example())}
		for range m.IntN(3) {
			q.target = cmp.Or(pick(m.Rand, mutations)(m.Rand, q.target), "/")
		}
		// What nginx skips before the version is no part of the URI.
		q.target = strings.TrimRight(q.target, " ")
		switch choice := m.IntN(40); {
		case choice < 5:
			q.host = cmp.Or(pick(m.Rand, strangers)(q.host), "x")
		case choice == 5:
			q.form, q.host = hostless, ""
		case choice == 6 && strings.HasPrefix(q.target, "/") && !strings.Contains(q.host, "*"):
			q.form = absolute
		}
		m.set.requests = append(m.set.requests, q)
	}
}

// hostOf makes a name that a host takes.
func (m *setMaker) hostOf(host string) string {
	if host == "" {
		return pick(m.Rand, []string{"unknown.test", "127.0.0.1", "localhost", "s0.test", "*"})
	}
	return strings.Replace(host, "*", pick(m.Rand, []string{"w", "w", "a", "b", "x-1", "*"}), 1)
}

// strangers make of a host one that may be another.
var strangers = []func(host string) string{
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

// sendable escapes what ends a request line, and sometimes what has a meaning in
// it.
func sendable(r *rand.Rand, path string) string {
	special := "\x00\t\n\r "
	if r.IntN(2) == 0 {
		special += "%?#"
	}
	var out strings.Builder
	for i := range len(path) {
		if strings.IndexByte(special, path[i]) >= 0 {
			fmt.Fprintf(&out, "%%%02X", path[i])
			continue
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

// mutations make of the target of a request another one.
var mutations = []func(r *rand.Rand, target string) string{
	func(_ *rand.Rand, target string) string { return target + "/" },
	func(_ *rand.Rand, target string) string { return strings.TrimSuffix(target, "/") },
	func(r *rand.Rand, target string) string { return target + pick(r, suffixes) },
	func(_ *rand.Rand, target string) string { return target[:max(1, len(target)-1)] },
	func(_ *rand.Rand, target string) string { return swapCase(target) },
	func(r *rand.Rand, target string) string {
		return "/" + pick(r, []string{"x", "foo", "/", "."}) + target
	},
	func(r *rand.Rand, target string) string { return target[:1+r.IntN(len(target))] },
	changedByte, escapedBytes, otherSlash, otherSlash,
	func(r *rand.Rand, target string) string { return target + pick(r, queries) },
}

var suffixes = []string{
	"x", "/x", "/bar", "bar", "/", "//", "/.", "/..", "/../", "/./", "/..x", "/.x", "/../x", "/%2e%2e", "/%2E%2e/x", "/%2e/", "%2f", "%2Fbar", "%2f..", "/..%2f", ".", "..", ";x", "~",
	"%0a", "%0A", "%0d", "%20", "+", "%", "%4", "%zz", "%z1", "%1z", "%00", "%2500", "%252e", "\x01", "\x00", "\x7f", " x", "\x80", "%80", "%ff", "/../..", "/../../..", "$", "%24", "|", "\"", "<", "%3f", "%3fx", "%23", "%23x", "\\", "%5c..",
	"/..?x", "/.?", "/..#", "/.#x", "/%2e%2e?", "%2f%2f", "/%2f", "%2f/",
}

var queries = []string{"?", "?a=b", "?a=/../%zz", "?x/", "??", "?a#b", "#", "#x", "#x?y", "?%00", "?a b", "?\x01", "?ü", "?/"}

// changedByte changes one bit, but for what would end the request line.
func changedByte(r *rand.Rand, target string) string {
	out := []byte(target)
	at := r.IntN(len(out))
	changed := out[at] ^ 1<<r.IntN(8)
	if changed != '\r' && changed != '\n' && (at > 0 || r.IntN(10) == 0) {
		out[at] = changed
	}
	return string(out)
}

// escapedBytes writes some bytes with percent escapes, after the first.
func escapedBytes(r *rand.Rand, target string) string {
	var out strings.Builder
	for i := range len(target) {
		if i > 0 && target[i] != '%' && r.IntN(4) == 0 {
			fmt.Fprintf(&out, pick(r, []string{"%%%02x", "%%%02X"}), target[i])
			continue
		}
		out.WriteByte(target[i])
	}
	return out.String()
}

// otherSlash puts something else in the place of one slash.
func otherSlash(r *rand.Rand, target string) string {
	var at []int
	for i := range len(target) {
		if target[i] == '/' {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return target
	}
	i := pick(r, at)
	instead := pick(r, []string{"//", "///", "/./", "/x/../", "/x/y/../../", "/%2e/", "/x/%2E%2e/", "%2f", "/%2f", "%2F/", "/.//", "/../", "/x/..//", "/.x/", "\\"})
	return target[:i] + instead + target[i+1:]
}
