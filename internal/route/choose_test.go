package route

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

func TestStepsOfNormalize(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"/a":                  "",
		"/a?b=/c//d":          "CutsQuery /a",
		"/a#b?c":              "CutsFragment /a",
		"/a?b#c":              "CutsQuery /a",
		"/%61%2f":             "Decodes /a/",
		"/%2561":              "Decodes /%61", // once
		"//a///b":             "MergesSlashes /a/b",
		"/a/./b/../c":         "ResolvesDots /a/c",
		"/x//%2e%2e/%61?y=1":  "CutsQuery /x//%2e%2e/%61, Decodes /x//../a, MergesSlashes /x/../a, ResolvesDots /a",
		"/a/...":              "",
		"/a%2F%2Fb":           "Decodes /a//b, MergesSlashes /a/b",
		"/\xc3\xa9/%C3%A9":    "Decodes /\xc3\xa9/\xc3\xa9",
		"/" + "%0a" + "/next": "Decodes /\n/next", // nginx takes it
	} {
		path, steps, err := normalize(uri)
		var got []string
		last := uri
		for _, s := range steps {
			got = append(got, fmt.Sprint(s.Kind, " ", s.Path))
			last = s.Path
		}
		if text := strings.Join(got, ", "); err != nil || text != want || last != path {
			t.Errorf("%q: got %s, then %q, %v; want %s", uri, text, path, err, want)
		}
	}
}

func TestWhyAURIIsRefused(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]error{
		"": errNotAbsolute, "*": errNotAbsolute, "a/b": errNotAbsolute,
		"/a b": errControl, "/a\tb": errControl, "/a\x7f": errControl, "/a?b\nc": errControl, "/#\x01": errControl, "/\x00": errControl,
		"/%": errEscape, "/%4": errEscape, "/%zz": errEscape,
		"/a%00": errNUL,
		"/..":   errAboveRoot, "/a/../..": errAboveRoot, "/%2e%2e/": errAboveRoot, "//..": errAboveRoot,
	} {
		choice := Choose([]*model.Server{server("", proxied(model.Prefix, "/"))}, Request{Host: "h", URI: uri})
		if choice.Refusal != want || choice.Outcome != Refuses || choice.Server != nil {
			t.Errorf("%q: got %s, %v; want %v", uri, choice.Outcome, choice.Refusal, want)
		}
	}
}

// verdicts prints what became of each server, or of each location.
func verdicts(c Choice) (servers, locations []string) {
	for _, v := range c.Servers {
		line := fmt.Sprintf("%q %s", v.Server.Host, v.Verdict)
		if v.By != nil {
			line += fmt.Sprintf(" %q", v.By.Host)
		}
		servers = append(servers, line)
	}
	for _, v := range c.Locations {
		line := fmt.Sprintf("%s %s: %s", v.Location.Modifier, v.Location.Path, v.Verdict)
		if v.By != nil {
			line += fmt.Sprintf(" %s %s", v.By.Modifier, v.By.Path)
		}
		locations = append(locations, line)
	}
	return servers, locations
}

func TestVerdictsOnServers(t *testing.T) {
	t.Parallel()
	root := proxied(model.Prefix, "/")
	native := func(host string) *model.Server {
		s := server(host, root)
		s.Internal = []*model.Internal{model.MissOf(root)}
		return s
	}
	all := []*model.Server{server("", root), native("*.b.foo.com"), native("*.foo.com"), native("*.z.foo.com"), server("x.foo.com", root), server("other.com", root)}
	patterns := []*model.Server{server("", root), server("*.b.foo.com", root), server("*.foo.com", root), server("*.foo.com", root), server("x.foo.com", root)}
	for _, test := range []struct {
		servers []*model.Server
		host    string
		want    []string
	}{
		{all, "X.foo.com.:80", []string{`"" NameFirst "x.foo.com"`, `"*.foo.com" PreciseFirst "x.foo.com"`, `"x.foo.com" Wins`}},
		{all, "y.foo.com", []string{`"" NameFirst "*.foo.com"`, `"*.foo.com" Wins`}},
		{all, "a.b.foo.com", []string{`"" NameFirst "*.b.foo.com"`, `"*.b.foo.com" Wins`, `"*.foo.com" LongerFirst "*.b.foo.com"`}},
		{all, "a.z.foo.com", []string{`"" NameFirst "*.z.foo.com"`, `"*.foo.com" LongerFirst "*.z.foo.com"`, `"*.z.foo.com" Wins`}},
		{all, "a.c.foo.com", []string{`"" Wins`, `"*.foo.com" OneLabel`}},
		{all, "a.a.b.foo.com", []string{`"" Wins`, `"*.b.foo.com" OneLabel`, `"*.foo.com" OneLabel`}},
		{all, "foo.com", []string{`"" Wins`}},
		{patterns, "a.b.foo.com", []string{`"" NameFirst "*.b.foo.com"`, `"*.b.foo.com" Wins`, `"*.foo.com" OneLabel`, `"*.foo.com" OneLabel`}},
		{patterns, "y.foo.com", []string{`"" NameFirst "*.foo.com"`, `"*.foo.com" Wins`, `"*.foo.com" EarlierFirst "*.foo.com"`}},
		{patterns, "a.c.foo.com", []string{`"" Wins`, `"*.foo.com" OneLabel`, `"*.foo.com" OneLabel`}},
		{[]*model.Server{server("", root), server("*.foo.com", root), native("*.foo.com")}, "y.foo.com", []string{`"" NameFirst "*.foo.com"`, `"*.foo.com" WildcardFirst "*.foo.com"`, `"*.foo.com" Wins`}},
	} {
		got, _ := verdicts(Choose(test.servers, Request{Host: test.host, URI: "/"}))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.host, diff)
		}
	}
}

func TestVerdictsOnLocations(t *testing.T) {
	t.Parallel()
	locations := []*model.Location{
		proxied(model.Equal, "/a"), proxied(model.Equal, "/dir/"),
		proxied(model.Prefix, "/"), proxied(model.PrefixFirst, "/a/"), proxied(model.Prefix, "/s/"), proxied(model.Prefix, "/s/t"),
		proxied(model.Pattern, "^/[a-z]/[0-9]"), proxied(model.Pattern, "^/s/1"),
	}
	unknown := []*model.Location{proxied(model.Prefix, "/"), proxied(model.Pattern, "^/x"), proxied(model.Pattern, "^/(y"), proxied(model.Pattern, "^/y")}
	// What is not listed does not match.
	for _, test := range []struct {
		locations []*model.Location
		path      string
		outcome   Outcome
		want      []string
	}{
		{locations, "/a", Served, []string{"= /a: Wins", " /: ExactFirst = /a"}},
		{locations, "/a/1", Served, []string{" /: LongerFirst ^~ /a/", "^~ /a/: Wins", "~* ^/[a-z]/[0-9]: PrefixOnlyFirst ^~ /a/"}},
		{locations, "/s/1", Served, []string{" /: LongerFirst  /s/", " /s/: PatternFirst ~* ^/[a-z]/[0-9]", "~* ^/[a-z]/[0-9]: Wins", "~* ^/s/1: EarlierFirst ~* ^/[a-z]/[0-9]"}},
		{locations, "/s/t", Served, []string{" /: LongerFirst  /s/t", " /s/: LongerFirst  /s/t", " /s/t: Wins"}},
		{locations, "/s/t/", Served, []string{" /: LongerFirst  /s/t", " /s/: LongerFirst  /s/t", " /s/t: Wins"}},
		{locations, "/dir", Redirects, []string{"= /dir/: Wins", " /: SlashFirst = /dir/"}},
		{locations, "/other", Served, []string{" /: Wins"}},
		{locations[:2], "/other", Unmatched, nil},
		{unknown, "/x", Served, []string{" /: PatternFirst ~* ^/x", "~* ^/x: Wins", "~* ^/(y: EarlierFirst ~* ^/x"}},
		{unknown, "/y", Unknown, []string{" /: PatternFirst ~* ^/(y", "~* ^/(y: Undecided", "~* ^/y: EarlierFirst ~* ^/(y"}},
	} {
		choice := Choose([]*model.Server{server("", test.locations...)}, Request{Host: "h", URI: test.path})
		_, all := verdicts(choice)
		var got []string
		for _, line := range all {
			if !strings.HasSuffix(line, ": DoesNotMatch") {
				got = append(got, line)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || choice.Outcome != test.outcome || len(all) != len(test.locations) {
			t.Errorf("%s: %s of %d (-want +got):\n%s", test.path, choice.Outcome, len(all), diff)
		}
	}
}

// For a name that a wildcard does not mean, what the catch-all server does is told
// in its place.
func TestVerdictsOfAMiss(t *testing.T) {
	t.Parallel()
	catchAll := server("", proxied(model.PrefixFirst, "/"))
	wild := server("*.foo.com", proxied(model.Prefix, "/w"))
	wild.Internal = []*model.Internal{model.MissOf(proxied(model.Prefix, "/"))}
	choice := Choose([]*model.Server{catchAll, wild}, Request{Host: "a.b.foo.com", URI: "/w"})
	_, locations := verdicts(choice)
	if choice.Outcome != Missed || choice.Location != wild.Miss() || choice.Server != wild || !cmp.Equal(locations, []string{"^~ /: Wins"}) {
		t.Errorf("got %s and %v", choice.Outcome, locations)
	}
}

// nginx answers 404 to a client that asks for an internal location, whatever else
// could take the path.
func TestNoClientReachesAnInternalLocation(t *testing.T) {
	t.Parallel()
	path := model.InternalPrefix + "auth-1/shop/auth/80"
	s := server("", proxied(model.PrefixFirst, "/"), proxied(model.Pattern, "^/"))
	s.Internal = []*model.Internal{{Location: proxied(model.Equal, path)}, {Location: proxied(model.Named, "x")}}
	for asked, want := range map[string]Outcome{path: Unmatched, path + "/x": Served, "/%2esluice/auth-1/shop/auth/80?a": Unmatched, "/@x": Served} {
		choice := Choose([]*model.Server{s}, Request{Host: "a.example", URI: asked})
		_, locations := verdicts(choice)
		if choice.Outcome != want || (choice.Location == nil) != (want == Unmatched) {
			t.Errorf("%s: got %s and %v", asked, choice.Outcome, locations)
		}
	}
}

// Whatever the locations, just the one that answers wins, and what is said to
// come first is a location that matches.
func TestVerdictsAgreeWithTheAnswer(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	modifiers := []model.Modifier{model.Equal, model.PrefixFirst, model.Prefix, model.Pattern}
	paths := []string{"/", "/a", "/a/", "/a/b", "/a/b/", "/ab"}
	seen := map[Verdict]int{}
	for range 2000 {
		s := server("")
		for range random.IntN(8) {
			l := proxied(modifiers[random.IntN(4)], paths[random.IntN(len(paths))])
			if random.IntN(4) == 0 {
				l.Proxy, l.Return = nil, &model.Return{Code: 503}
			}
			s.Locations = append(s.Locations, l)
		}
		choice := Choose([]*model.Server{s}, Request{Host: "h", URI: paths[random.IntN(len(paths))]})
		winners := 0
		for _, v := range choice.Locations {
			seen[v.Verdict]++
			if v.Verdict == Wins {
				winners++
			}
			if (v.Verdict == Wins) != (v.Location == choice.Location) || (v.By == nil) != (v.Verdict == Wins || v.Verdict == DoesNotMatch) || v.By == v.Location {
				t.Fatalf("%+v of %+v", v, choice.Answer)
			}
		}
		if wanted := map[Outcome]int{Served: 1, Redirects: 1}; winners != wanted[choice.Outcome] {
			t.Fatalf("%s with %d winners", choice.Outcome, winners)
		}
	}
	for _, verdict := range []Verdict{Wins, DoesNotMatch, ExactFirst, SlashFirst, LongerFirst, PrefixOnlyFirst, PatternFirst, EarlierFirst} {
		if seen[verdict] == 0 {
			t.Errorf("%s was never given: the test asks for too little", verdict)
		}
	}
}
