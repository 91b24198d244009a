package guard

import (
	"strings"
	"testing"

	"sluice/internal/model"
)

var (
	mine   = model.ObjectRef{Kind: "Ingress", Namespace: "a", Name: "mine"}
	theirs = model.ObjectRef{Kind: "Ingress", Namespace: "b", Name: "theirs"}
)

// at returns a location of an owner for one of its paths, by field.
func at(owner model.ObjectRef, field string, modifier model.Modifier, path string) *model.Location {
	return &model.Location{Modifier: modifier, Path: path, Rule: model.Rule{Object: owner, Field: field, Kind: model.RuleWritten}, Proxy: &model.Proxy{}}
}

func closed(l *model.Location) *model.Location {
	l.Proxy, l.Return = nil, &model.Return{Code: 503}
	return l
}

func listed(l *model.Location) *model.Location {
	l.Blocks = []model.Block{{Name: "allow-list"}}
	return l
}

// protecting and plain are claims of the two Ingresses.
func protecting(field, pathType, path string) Claim {
	return Claim{Owner: mine, Field: field, Path: path, PathType: pathType, Protects: true, Blocks: []string{"allow-list"}}
}

// verifying is a claim whose backends must have certificates for the name "backend".
var verifying = Claim{Owner: mine, Field: "0", Path: "/", PathType: "Prefix", Protects: true, BackendName: "backend"}

func to(l *model.Location, t model.Transport) *model.Location {
	l.Proxy.Transport = t
	return l
}

func plain(field, pathType, path string) Claim {
	return Claim{Owner: theirs, Field: field, Path: path, PathType: pathType}
}

func pattern(c Claim) Claim {
	c.Pattern = true
	return c
}

// Each placement is in order, or open for the given requests.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		asked     Asked
		locations []*model.Location
		open      string
	}{
		"a prefix with its protection": {
			asked:     Asked{Claims: []Claim{protecting("0", "Prefix", "/a"), plain("1", "Prefix", "/")}},
			locations: []*model.Location{listed(at(mine, "0", "=", "/a")), listed(at(mine, "0", "^~", "/a/")), at(theirs, "1", "^~", "/")},
		},
		"a prefix without its own path": {
			asked:     Asked{Claims: []Claim{protecting("0", "Prefix", "/a"), plain("1", "Prefix", "/")}},
			locations: []*model.Location{closed(at(mine, "0", "^~", "/a/")), at(theirs, "1", "^~", "/")},
			open:      "/a by /",
		},
		"a prefix that was dropped": {
			asked:     Asked{Claims: []Claim{protecting("0", "Prefix", "/a"), plain("1", "Prefix", "/")}},
			locations: []*model.Location{at(theirs, "1", "^~", "/")},
			open:      "/a by /",
		},
		"a protection that was dropped": {
			asked:     Asked{Claims: []Claim{protecting("0", "Prefix", "/")}},
			locations: []*model.Location{at(mine, "0", "^~", "/")},
			open:      "/ by /",
		},
		"backends that nobody verifies": {
			asked:     Asked{Claims: []Claim{verifying}},
			locations: []*model.Location{to(at(mine, "0", "^~", "/"), model.Transport{TLS: true, Name: "backend", TrustedCA: "x"})},
			open:      "/ by /",
		},
		"backends that are verified by another name": {
			asked:     Asked{Claims: []Claim{verifying}},
			locations: []*model.Location{to(at(mine, "0", "^~", "/"), model.Transport{TLS: true, Verify: true, Name: "other", TrustedCA: "x"})},
			open:      "/ by /",
		},
		"backends that are verified": {
			asked:     Asked{Claims: []Claim{verifying}},
			locations: []*model.Location{to(at(mine, "0", "^~", "/"), model.Transport{TLS: true, Verify: true, Name: "backend", TrustedCA: "x"})},
		},
		"a path whose backends nginx verifies, served by a path without": {
			asked:     Asked{Claims: []Claim{{Owner: mine, Field: "1", Path: "/x", PathType: "Prefix"}, verifying}},
			locations: []*model.Location{to(at(mine, "0", "^~", "/"), model.Transport{TLS: true})},
			open:      "/ by /",
		},
		"a denied path that is served": {
			asked:     Asked{Claims: []Claim{{Owner: mine, Field: "0", Path: "/", PathType: "Prefix", Protects: true, Denied: true}}},
			locations: []*model.Location{at(mine, "0", "^~", "/")},
			open:      "/ by /",
		},
		"an older, a longer and a more exact path of a neighbour": {
			asked: Asked{Claims: []Claim{plain("0", "Prefix", "/a"), protecting("1", "Prefix", "/a"), plain("2", "Prefix", "/a/b"), plain("3", "Exact", "/a/c")}},
			locations: []*model.Location{
				at(theirs, "0", "=", "/a"), at(theirs, "0", "^~", "/a/"), at(theirs, "2", "=", "/a/b"), at(theirs, "2", "^~", "/a/b/"), at(theirs, "3", "=", "/a/c"),
			},
		},
		"a newer path of a neighbour": {
			asked:     Asked{Claims: []Claim{protecting("1", "Prefix", "/a"), plain("2", "Prefix", "/a")}},
			locations: []*model.Location{at(theirs, "2", "=", "/a"), at(theirs, "2", "^~", "/a/")},
			open:      "/a by /a, /a/ by /a/",
		},
		"a bad escape in both spellings": {
			asked:     Asked{Claims: []Claim{protecting("0", "Exact", "/%zz%41"), plain("1", "Prefix", "/")}},
			locations: []*model.Location{closed(at(mine, "0", "=", "/%zzA")), at(theirs, "1", "^~", "/")},
			open:      "/%zz%41 by /",
		},
		"a fallback": {
			asked:     Asked{Claims: []Claim{protecting("0", "Exact", "/a")}},
			locations: []*model.Location{at(theirs, "", "", "/")},
			open:      "/a by /",
		},
		"a pattern that cannot be told, closed": {
			asked:     Asked{Turned: true, Claims: []Claim{pattern(protecting("0", "ImplementationSpecific", `/a/(x|y)/\g1`)), plain("1", "Prefix", "/")}},
			locations: []*model.Location{closed(at(mine, "0", "~*", "^/a/")), at(theirs, "1", "~*", "^/")},
		},
		"a pattern that cannot be told, dropped": {
			asked:     Asked{Turned: true, Claims: []Claim{pattern(protecting("0", "ImplementationSpecific", `/a/\k<s>`)), plain("1", "Prefix", "/")}},
			locations: []*model.Location{at(theirs, "1", "~*", "^/")},
			open:      "/A/ by ^/",
		},
		"a pattern in one case only": {
			asked:     Asked{Turned: true, Claims: []Claim{pattern(protecting("0", "ImplementationSpecific", `/a[0-9]`)), plain("1", "Prefix", "/")}},
			locations: []*model.Location{closed(at(mine, "0", "~*", "(?-i)^/a[0-9]")), at(theirs, "1", "~*", "^/")},
			open:      "/A7 by ^/",
		},
		"a longer pattern of a neighbour": {
			asked: Asked{Turned: true, Claims: []Claim{pattern(protecting("0", "ImplementationSpecific", `/a[0-9]`)), pattern(plain("1", "ImplementationSpecific", "/[a-z][0-9]+"))}},
			locations: []*model.Location{
				at(theirs, "1", "~*", "^/[a-z][0-9]+"), listed(at(mine, "0", "~*", "^/a[0-9]")),
			},
		},
		"a pattern in front that is shorter": {
			asked: Asked{Turned: true, Claims: []Claim{pattern(protecting("0", "ImplementationSpecific", `/a[0-9]`)), pattern(plain("1", "ImplementationSpecific", "/.*"))}},
			locations: []*model.Location{
				at(theirs, "1", "~*", "^/.*"), listed(at(mine, "0", "~*", "^/a[0-9]")),
			},
			open: "/A7 by ^/.*",
		},
		"a plain path of a turned host that is taken by case": {
			asked:     Asked{Turned: true, Claims: []Claim{protecting("0", "Prefix", "/a"), pattern(plain("1", "ImplementationSpecific", "/"))}},
			locations: []*model.Location{listed(at(mine, "0", "=", "/a")), at(theirs, "1", "~*", "^/")},
			open:      "/A by ^/",
		},
		"nothing that protects": {
			asked:     Asked{Claims: []Claim{plain("0", "Prefix", "/")}},
			locations: nil,
		},
	} {
		var got []string
		for _, o := range Check(test.asked, test.locations, nil) {
			got = append(got, o.Path+" by "+o.Taker.Path)
		}
		if text := strings.Join(got, ", "); text != test.open {
			t.Errorf("%s: open are %q, want %q", name, text, test.open)
		}
	}
}

// If two paths of one Ingress differ in protection, the weaker one may serve requests of
// the other only if it is for a part of them.
func TestCheckWithinOneIngress(t *testing.T) {
	t.Parallel()
	open := func(field, pathType, path string) Claim {
		return Claim{Owner: mine, Field: field, Path: path, PathType: pathType}
	}
	valued := func(c Claim, value string) Claim {
		c.Protections = []any{&value}
		return c
	}
	const specific = "ImplementationSpecific"
	for name, test := range map[string]struct {
		claims []Claim
		taker  *model.Location
		open   string
	}{
		"the same prefix with a slash": {[]Claim{open("0", "Prefix", "/a"), protecting("1", "Prefix", "/a/")}, at(mine, "0", "^~", "/a/"), "/a/ by /a/"},
		"the same path encoded":        {[]Claim{open("0", "Exact", "/a"), protecting("1", "Exact", "/%61")}, at(mine, "0", "=", "/a"), "/a by /a"},
		"the place is closed":          {[]Claim{open("0", "Prefix", "/a"), protecting("1", "Prefix", "/a/")}, closed(at(mine, "0", "^~", "/a/")), ""},
		"another value":                {[]Claim{valued(protecting("0", "Prefix", "/a"), "x"), valued(protecting("1", "Prefix", "/a/"), "y")}, listed(at(mine, "0", "^~", "/a/")), "/a/ by /a/"},
		"an equal value":               {[]Claim{valued(protecting("0", "Prefix", "/a"), "x"), valued(protecting("1", "Prefix", "/a/"), "x")}, listed(at(mine, "0", "^~", "/a/")), ""},
		"a longer prefix":              {[]Claim{open("0", "Prefix", "/a/b"), protecting("1", "Prefix", "/a")}, at(mine, "0", "^~", "/a/b/"), ""},
		"an exact path":                {[]Claim{open("0", "Exact", "/a/b"), protecting("1", "Prefix", "/a")}, at(mine, "0", "=", "/a/b"), ""},
		"a pattern in capitals":        {[]Claim{pattern(open("0", specific, "/admin")), pattern(protecting("1", specific, "/Admin"))}, at(mine, "0", "~*", "^/admin"), "/admin by ^/admin"},
		"a longer pattern for more":    {[]Claim{pattern(protecting("1", specific, "/admin")), pattern(open("0", specific, "/[a-z]+"))}, at(mine, "0", "~*", "^/[a-z]+"), "/admin by ^/[a-z]+"},
		"a longer pattern for as much": {[]Claim{pattern(protecting("1", specific, "/admin")), pattern(open("0", specific, "/admin.*"))}, at(mine, "0", "~*", "^/admin.*"), "/admin by ^/admin.*"},
		"a longer pattern for a part":  {[]Claim{pattern(protecting("1", specific, "/admin")), pattern(open("0", specific, "/admin/public"))}, at(mine, "0", "~*", "^/admin/public"), ""},
		"a prefix before a pattern":    {[]Claim{open("0", "Prefix", "/a"), pattern(protecting("1", specific, "/a/secret.*"))}, at(mine, "0", "^~", "/a/"), "/a/secret by /a/"},
	} {
		locations := []*model.Location{test.taker, closed(at(theirs, "", "", "/"))}
		var got []string
		for _, o := range Check(Asked{Claims: test.claims}, locations, nil) {
			got = append(got, o.Path+" by "+o.Taker.Path)
		}
		if text := strings.ToLower(strings.Join(got, ", ")); text != test.open {
			t.Errorf("%s: open are %q, want %q", name, text, test.open)
		}
	}
}

// The work for a host with thousands of hostile patterns has a limit.
func TestCheckIsBounded(t *testing.T) {
	t.Parallel()
	var asked Asked
	var locations []*model.Location
	for range 3000 {
		asked.Claims = append(asked.Claims, pattern(protecting("0", "ImplementationSpecific", "/(a+)+"+strings.Repeat("a", 30)+"b")))
		locations = append(locations, at(theirs, "1", "~*", "^/(a+)+b"))
	}
	asked.Turned = true
	j := newJudge(asked, locations)
	for _, c := range j.readings {
		if j.left > 0 {
			for _, path := range j.samples(c) {
				j.places.find(path, &j.left)
			}
		}
	}
	if j.left < -mostSteps {
		t.Errorf("%d steps were taken beyond those allowed", -j.left)
	}
}
