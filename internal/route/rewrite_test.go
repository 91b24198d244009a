package route

import (
	"testing"

	"sluice/internal/model"
)

func TestRewritten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, target, path, want string
		ok                          bool
	}{
		{"(?i)/something(/|$)(.*)", "/$2", "/something/new", "/new", true},
		{"(?i)/something(/|$)(.*)", "/$2", "/SOMETHING", "/", true},
		{"(?i)/something(/|$)(.*)", "/$2", "/other", "/other", true}, // it does not match
		{"(?i)/foo/(.*)", "/$1", "/x/foo/y", "/y", true},             // nor is it anchored
		{"(?i)/(a)(b)?(c)", "/$3$2$1$4", "/ac", "/ca", true},         // groups without part, and that are not there
		{"(?i)/(.)", "/$10", "/x", "/x0", true},                      // one digit
		{"(?i)/(?<p_id>[0-9]+)", "/item/$p_id/${p_id}x", "/7", "/item/7/7x", true},
		{"(?i)/(.*)", "/$host/$1$arg_x", "/a", "/$host/a$arg_x", true}, // other variables
		{"(?i)/(.*)", "/$$1$", "/a", "/$a$", true},                     // nginx would refuse it
		{"(?i)/(.*)", "/x?path=$1", "/a/b-c", "/x?path=a/b-c", true},   // arguments
		{"(?i)/(.*)", "/$1?", "/a b", "/a b", true},                    // without those of the request
		{"(?i)/(.*)", "/x?path=$1", "/a b", "", false},                 // escaped if the request was
		{"(?i)/(.*)", "https://new.example/$1", "/a/b", "https://new.example/a/b", true},
		{"(?i)/(.*)", "https://new.example/$1", "/\xc3\xa9", "", false},
		{"(?i)/(.*)", "$scheme://x/%41$1", "/a", "$scheme://x/%41a", false},
		{"(?i)/(a(?1)?b)", "/", "/ab", "", false}, // calls itself
		{"(?i)/(a+)+$", "/", "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "", false},
		{"(?i)/(?!api)(.*)", "/v2/$1", "/x/y", "/v2/x/y", true},
	} {
		got, ok := Rewritten(&model.Rewrite{Pattern: test.pattern, Target: test.target}, test.path)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%s to %s on %q: got %q, %v; want %q, %v", test.pattern, test.target, test.path, got, ok, test.want, test.ok)
		}
	}
}
