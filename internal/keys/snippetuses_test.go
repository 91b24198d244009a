package keys

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnippetUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]SnippetUses{
		"a":                              {{Name: "a"}},
		" a b=c \n\n d.e-f g=\"h i\" \n": {{"a", []SnippetArgument{{"b", "c"}}}, {"d.e-f", []SnippetArgument{{"g", "h i"}}}},
		`a b="; c" d=;e`:                 {{"a", []SnippetArgument{{"b", "; c"}, {"d", ""}}}, {Name: "e"}},
		`a b="\"\u0024" c==`:             {{"a", []SnippetArgument{{"b", `"$`}, {"c", "="}}}},
		"A":                              nil,
		"a b":                            nil,
		`a b="c`:                         nil,
		`a b="c"d`:                       nil,
		`a b=c"d"`:                       nil,
		"a b=c b=d":                      nil,
		"a B=c":                          nil,
		"a b=\x01":                       nil,
		"; a":                            nil,
		strings.Repeat("a;", 17):         nil,
	} {
		var got SnippetUses
		err := got.UnmarshalText([]byte(text))
		if (err == nil) != (want != nil) || !cmp.Equal(got, want) {
			t.Errorf("%q: got %v, error %v", text, got, err)
		}
	}
}

func TestPortsOfStreamSnippets(t *testing.T) {
	t.Parallel()
	for text, wrong := range map[string]bool{
		"server { listen 1; return x; }":                              false,
		"server { listen [::]:65535 udp; return x; }":                 false,
		"server { listen *:80; return x; }":                           false,
		"server { listen 0; return x; }":                              true,
		"server { listen 65536; return x; }":                          true,
		"server { listen UNIX:80; return x; }":                        true,
		"server { listen; }":                                          true,
		"server { listen example; return x; }":                        true,
		"upstream a { server 192.0.2.1:1; } server { proxy_pass b; }": true,
		"upstream a { server 192.0.2.1:1; } server { proxy_pass a; }": false,
		"server { proxy_pass 192.0.2.1:80; }":                         false,
		"split_clients $remote_addr $handed_to { * x; }":              true,
	} {
		var got StreamSnippet
		if err := got.UnmarshalText([]byte(text)); (err != nil) != wrong {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestLocationsOfServerSnippets(t *testing.T) {
	t.Parallel()
	snippet := ServerSnippet(`location /a { location /a/b { return 200; } } location =/c { return 200; } location ~* "x y" { return 200; } location ^~ /d { return 200; } location ~^/e { return 200; } location @f { return 200; }`)
	want := []SnippetLocation{{"", "/a"}, {"=", "/c"}, {"~*", "x y"}, {"^~", "/d"}, {"~", "^/e"}, {"", "@f"}}
	if diff := cmp.Diff(want, snippet.Locations()); diff != "" {
		t.Error(diff)
	}
}
