package settings

import "testing"

// TestCovers: a path that reaches more than what lies below a prefix is not covered by it.
func TestCovers(t *testing.T) {
	t.Parallel()
	const acme = "/.well-known/acme-challenge"
	for _, test := range []struct {
		path, target string
		want         bool
	}{
		{acme, "", true},
		{acme + "/", "", true},
		{acme + "/token-1", "", true},
		{acme + "/a_b.c~d%20e", "", true},
		{acme + "/(.*)", "", true},
		{acme + "/(a|b)", "", true},
		{acme + "(/|$)(.*)", "", true},
		{acme + "/(.*)", acme + "/x/$1", true},
		{acme + "/(.*)", "/$1", false},
		{acme + "/token", "/secret", false},
		{acme + "|/", "", false},
		{acme + "/x|/", "", false},
		{acme + "/(x)|/(y)", "", false},
		{acme + "?/", "", false},
		{acme + "*", "", false},
		{acme + "{0,1}", "", false},
		{acme + `/\Q|/`, "", false},
		{acme + "/(?|a|b)|/", "", false},
		{acme + "/[|]", "", true},
		{"/other", "", false},
		{"/", "", false},
		{"/x" + acme, "", false},
	} {
		if got := Covers([]string{"", acme}, test.path, test.target); got != test.want {
			t.Errorf("%s -> %q: %t, want %t", test.path, test.target, got, test.want)
		}
	}
	for _, path := range []string{"/a|/b", "/", "/x?"} {
		if !Covers([]string{"/"}, path, "/y") {
			t.Errorf(`%s does not begin with "/"`, path)
		}
	}
	if Covers(nil, acme, "") {
		t.Error("no prefix covers a path")
	}
}
