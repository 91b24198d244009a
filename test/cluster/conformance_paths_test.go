package cluster

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

const (
	exactly = networkingv1.PathTypeExact
	prefix  = networkingv1.PathTypePrefix
)

// An Exact path is that path alone; a Prefix is matched element by element, with
// or without a slash at its end; the longest wins, and an Exact one before a
// Prefix of its length. Letters are told by their case.
func TestConformancePaths(t *testing.T) {
	t.Parallel()
	s := conform(t, "conform-paths", "exact", "exact-slash", "root", "foo", "bar", "slash")
	rules := func(host string, rules ...networkingv1.IngressRule) networkingv1.IngressRule {
		merged := rules[0]
		merged.Host = host
		for _, rule := range rules[1:] {
			merged.HTTP.Paths = append(merged.HTTP.Paths, rule.HTTP.Paths...)
		}
		return merged
	}
	s.Apply(t,
		s.ingress("exact", rules("exact.paths.example", path("", "/foo", exactly, "exact"))),
		s.ingress("exact-slash", rules("exact-slash.paths.example", path("", "/foo/", exactly, "exact-slash"))),
		s.ingress("prefix", rules("prefix.paths.example", path("", "/foo", prefix, "foo"), path("", "/aaa/bbb", prefix, "bar"), path("", "/slash/", prefix, "slash"))),
		s.ingress("nested", rules("nested.paths.example", path("", "/", prefix, "root"), path("", "/aaa", prefix, "foo"), path("", "/aaa/bbb", prefix, "bar"))),
		s.ingress("mixed", rules("mixed.paths.example", path("", "/foo", prefix, "foo"), path("", "/foo", exactly, "exact"), path("", "/foo/", exactly, "exact-slash"))),
	)
	s.expect(t,
		expectation{"mixed.paths.example", "/foo", "exact"},
		expectation{"mixed.paths.example", "/foo/", "exact-slash"},
		expectation{"mixed.paths.example", "/foo/bar", "foo"},
		expectation{"mixed.paths.example", "/", ""},

		expectation{"exact.paths.example", "/foo", "exact"},
		expectation{"exact.paths.example", "/foo?a=b", "exact"},
		expectation{"exact.paths.example", "/foo/", ""},
		expectation{"exact.paths.example", "/foo/bar", ""},
		expectation{"exact.paths.example", "/FOO", ""},
		expectation{"exact.paths.example", "/bar", ""},
		expectation{"exact.paths.example", "/", ""},
		expectation{"exact-slash.paths.example", "/foo/", "exact-slash"},
		expectation{"exact-slash.paths.example", "/foo", ""},

		expectation{"prefix.paths.example", "/foo", "foo"},
		expectation{"prefix.paths.example", "/foo/", "foo"},
		expectation{"prefix.paths.example", "/foo/bar", "foo"},
		expectation{"prefix.paths.example", "/foobar", ""},
		expectation{"prefix.paths.example", "/Foo", ""},
		expectation{"prefix.paths.example", "/aaa", ""},
		expectation{"prefix.paths.example", "/aaa/bbb", "bar"},
		expectation{"prefix.paths.example", "/aaa/bbb/ccc", "bar"},
		expectation{"prefix.paths.example", "/aaa/bbbxyz", ""},
		expectation{"prefix.paths.example", "/slash/", "slash"},
		expectation{"prefix.paths.example", "/slash", "slash"},
		expectation{"prefix.paths.example", "/slash/more", "slash"},
		expectation{"prefix.paths.example", "/", ""},

		expectation{"nested.paths.example", "/aaa/bbb", "bar"},
		expectation{"nested.paths.example", "/aaa/ccc", "foo"},
		expectation{"nested.paths.example", "/aaa/bbbccc", "foo"},
		expectation{"nested.paths.example", "/aaaccc", "root"},
		expectation{"nested.paths.example", "/ccc", "root"},
	)
}
