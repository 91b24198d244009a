package differential

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"

	"sluice/internal/nearby"
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
			q.host = cmp.Or(pick(m.Rand, nearby.Hosts)(q.host), "x")
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

// sendable escapes what ends a request line, and sometimes what has a meaning in
// it.
func sendable(r *rand.Rand, path string) string {
	special := nearby.EndsLine
	if r.IntN(2) == 0 {
		special += nearby.EndsPath
	}
	return nearby.Escaped(path, special)
}

// mutations make of the target of a request another one.
var mutations = []func(r *rand.Rand, target string) string{
	func(_ *rand.Rand, target string) string { return target + "/" },
	func(_ *rand.Rand, target string) string { return strings.TrimSuffix(target, "/") },
	func(r *rand.Rand, target string) string { return target + pick(r, nearby.Suffixes) },
	func(_ *rand.Rand, target string) string { return target[:max(1, len(target)-1)] },
	func(_ *rand.Rand, target string) string { return nearby.SwapCase(target) },
	func(r *rand.Rand, target string) string {
		return "/" + pick(r, []string{"x", "foo", "/", "."}) + target
	},
	func(r *rand.Rand, target string) string { return target[:1+r.IntN(len(target))] },
	changedByte, escapedBytes, otherSlash, otherSlash,
	func(r *rand.Rand, target string) string { return target + pick(r, nearby.Queries) },
}

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
	form := pick(r, []string{"%%%02x", "%%%02X"})
	return nearby.EscapedAt(target, form, func(i int) bool { return i > 0 && target[i] != '%' && r.IntN(4) == 0 })
}

// otherSlash puts something else in the place of one slash.
func otherSlash(r *rand.Rand, target string) string {
	if nearby.Slashes(target) == 0 {
		return target
	}
	number := r.IntN(nearby.Slashes(target))
	return nearby.ReplaceSlash(target, number, pick(r, nearby.InsteadOfSlash))
}
