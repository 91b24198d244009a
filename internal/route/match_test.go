package route

import (
	"testing"

	"sluice/internal/model"
)

func TestNormalizeAsNginx(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ uri, want string }{
		{"/", "/"}, {"/foo", "/foo"}, {"/foo/?a=/b", "/foo/"}, {"/foo#x", "/foo"}, {"/foo?", "/foo"},
		{"//", "/"}, {"//foo", "/foo"}, {"/foo//bar", "/foo/bar"}, {"/foo///", "/foo/"},
		{"/foo/.", "/foo/"}, {"/./foo", "/foo"}, {"/foo/..", "/"}, {"/foo/../", "/"}, {"/a/b/../c", "/a/c"}, {"/a/...", "/a/..."},
		{"/foo/%2e%2e/x", "/x"}, {"/%66oo", "/foo"}, {"/foo%2Fbar", "/foo/bar"}, {"/a%2f%2fb", "/a/b"},
		{"/a%3Fb?c", "/a?b"}, {"/a%23b", "/a#b"}, {"/a%2520", "/a%20"}, {"/a+b", "/a+b"},
	} {
		got, _, err := normalize(test.uri)
		if err != nil || got != test.want {
			t.Errorf("normalize(%q) = %q, %v; want %q", test.uri, got, err, test.want)
		}
	}
	for _, uri := range []string{"", "foo", "*", "/%", "/%4", "/%zz", "/a%00", "/..", "/../a", "/a/../..", "/%2e%2e", "/a b", "/a\x01", "/a?\x7f", "/a?b c", "/a#\t"} {
		if got, _, err := normalize(uri); err == nil {
			t.Errorf("normalize(%q) = %q; nginx answers 400", uri, got)
		}
	}
}

func TestHostNameAsNginx(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"": "", "a.example": "a.example", "A.Example": "a.example", "a.example:80": "a.example", "a.example:": "a.example", "a.example:80:90": "a.example",
		"a.example.": "a.example", "a.example.:80": "a.example", ".a": ".a", "a_b": "a_b", "u@a": "u@a", "a\\": "a\\",
		"a.:8.0": "a.", "[::1]": "[::1]", "[::1]:80": "[::1]", "[::1]x": "[::1]", "[::1": "[::1", "ÄK.example": "Äk.example", "\u212a": "\u212a",
	} {
		if got, err := HostName(host); err != nil || got != want {
			t.Errorf("HostName(%q) = %q, %v; want %q", host, got, err, want)
		}
	}
	for _, host := range []string{"a..example", "a..", ".", ":80", ".:80", "a/b", "a b", "a\x7f", "a:8\x010", "a:8..0"} {
		if got, err := HostName(host); err == nil {
			t.Errorf("HostName(%q) = %q; nginx answers 400", host, got)
		}
	}
}

func proxied(modifier model.Modifier, path string) *model.Location {
	return &model.Location{Modifier: modifier, Path: path, Proxy: &model.Proxy{Backend: "ns/s/80"}, Rule: model.Rule{Path: path}}
}

func server(host string, locations ...*model.Location) *model.Server {
	return &model.Server{Host: host, Locations: locations}
}

func TestMatchLocation(t *testing.T) {
	t.Parallel()
	all := server("", proxied(model.Equal, "/a"), proxied(model.Equal, "/dir/"), proxied(model.PrefixFirst, "/a/"), proxied(model.PrefixFirst, "/a/b/"),
		proxied(model.Prefix, "/"), proxied(model.Prefix, "/slow/"), proxied(model.Pattern, "^/[a-z]+/[0-9]"), proxied(model.Pattern, "^/slow/1"), proxied(model.Pattern, `^/.\.txt$`),
		proxied(model.Pattern, `^/v2/(?!users/)|^/(?<v>v\d)/users/(?:\w+)$`), proxied(model.Pattern, `^/v3/(?=admin)`))
	for _, test := range []struct {
		uri, want string
		outcome   Outcome
	}{
		{"/a", "= /a", Served},
		{"/a/", "^~ /a/", Served},
		{"/a/1", "^~ /a/", Served}, // no pattern is tried
		{"/a/b/1", "^~ /a/b/", Served},
		{"/a/b", "^~ /a/b/", Redirects},
		{"/dir", "= /dir/", Redirects},
		{"/dirx", " /", Served},
		{"/x/1", "~* ^/[a-z]+/[0-9]", Served},
		{"/X/1", "~* ^/[a-z]+/[0-9]", Served},
		{"/slow/1", "~* ^/[a-z]+/[0-9]", Served}, // the first of the file
		{"/slow/x", " /slow/", Served},
		{"/slow", " /slow/", Redirects},
		{"/%C3.txt", `~* ^/.\.txt$`, Served},
		{"/%C3%A9.txt", " /", Served}, // "." is one byte
		{"/other", " /", Served},
		{"/v2/users/me", `~* ^/v2/(?!users/)|^/(?<v>v\d)/users/(?:\w+)$`, Served},
		{"/v3/admin", `~* ^/v3/(?=admin)`, Served},
		{"/v3/x", " /", Served},
	} {
		got := Match([]*model.Server{all}, "any", test.uri)
		if name := string(got.Location.Modifier) + " " + got.Location.Path; name != test.want || got.Outcome != test.outcome {
			t.Errorf("%s: got %s, %s; want %s, %s", test.uri, name, got.Outcome, test.want, test.outcome)
		}
	}
}

func TestMatchOutcomes(t *testing.T) {
	t.Parallel()
	unknown := proxied(model.Pattern, "^/(a(?1)?b)")
	answering := proxied(model.Equal, "/dir/")
	answering.Proxy, answering.Return = nil, &model.Return{Code: 503}
	for _, test := range []struct {
		name string
		in   []*model.Server
		uri  string
		want Outcome
	}{
		{"no server", nil, "/", Refuses},
		{"bad URI", []*model.Server{server("")}, "/..", Refuses},
		{"no location", []*model.Server{server("", proxied(model.Equal, "/x"))}, "/", Unmatched},
		{"a pattern that calls itself", []*model.Server{server("", unknown, proxied(model.Prefix, "/"))}, "/", Unknown},
		{"nothing is proxied below /dir/", []*model.Server{server("", answering, proxied(model.Prefix, "/"))}, "/dir", Served},
	} {
		if got := Match(test.in, "h", test.uri); got.Outcome != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got.Outcome, test.want)
		}
	}
}

func TestMatchServerByAlias(t *testing.T) {
	t.Parallel()
	root := proxied(model.Prefix, "/")
	shop, stores, wild, named := server("shop.com", root), server("*.stores.com", root), server("*.wild.com", root), server("named.com", root)
	shop.Aliases = []string{"*.shop.org", "shop.*", "www.shop.com"}
	stores.Aliases, stores.AliasesOnly = []string{"stores.com", "~^[a-z]+[0-9]\\."}, true
	named.Aliases = []string{"*.a.shop.org", "~^x"}
	servers := []*model.Server{server("", root), stores, wild, named, shop}
	for host, want := range map[string]string{
		"www.shop.com":  "shop.com",
		"x.shop.org":    "shop.com", // a wildcard before a pattern
		"x.y.shop.org":  "shop.com",
		"x.a.shop.org":  "named.com", // the longer wildcard
		"shop.org":      "shop.com",  // shop.*
		"shop.a.b":      "shop.com",
		"stores.com":    "*.stores.com",
		"x.stores.com":  "named.com", // the host of these aliases is not theirs
		"X1.anything":   "*.stores.com",
		"xx.anything":   "named.com",
		"a.wild.com":    "*.wild.com",
		"a.b.wild.com":  "",
		"other.example": "",
	} {
		if got := Match(servers, host, "/"); got.Server.Host != want {
			t.Errorf("%q: got %q, want %q", host, got.Server.Host, want)
		}
	}
	for _, row := range Table(servers) {
		if row.Host == stores.Host {
			t.Errorf("a row for aliases: %s", row.Host)
		}
	}
}

func TestMatchServer(t *testing.T) {
	t.Parallel()
	wild := func(host string) *model.Server {
		s := server(host, proxied(model.Prefix, "/"))
		s.Internal = []*model.Internal{model.MissOf(proxied(model.Prefix, "/"))}
		return s
	}
	servers := []*model.Server{server("", proxied(model.Prefix, "/")), wild("*.b.foo.com"), wild("*.foo.com"), server("x.foo.com", proxied(model.Prefix, "/"))}
	for _, test := range []struct {
		host, want string
		outcome    Outcome
	}{
		{"x.foo.com", "x.foo.com", Served},
		{"X.Foo.Com:8080", "x.foo.com", Served},
		{"x.foo.com.", "x.foo.com", Served},
		{"y.foo.com", "*.foo.com", Served},
		{"a.b.foo.com", "*.b.foo.com", Served},
		{"a.c.foo.com", "*.foo.com", Missed},
		{"a.a.b.foo.com", "*.b.foo.com", Missed},
		{".foo.com", "*.foo.com", Missed},
		{"foo.com", "", Served},
		{"xfoo.com", "", Served},
		{"[::1]:80", "", Served},
		{"", "", Served},
	} {
		got := Match(servers, test.host, "/")
		if got.Server.Host != test.want || got.Outcome != test.outcome {
			t.Errorf("%q: got %q, %s; want %q, %s", test.host, got.Server.Host, got.Outcome, test.want, test.outcome)
		}
	}
}
