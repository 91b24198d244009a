package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

func TestParse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", model.LongestToken)
	for text, want := range map[string][]string{
		"":                                         nil,
		"# a comment without an end":               nil,
		"a;":                                       {"1 a"},
		"a b; # c; }\nd \"e;}\" 'f{';":             {"1 a|b", `2 d|e;}|f{`},
		"if ($x ~ \"}\") {\r\n\tb;\r\n}\r\n":       {"1 if|($x|~|}|)", "2 b"},
		"a {}\n\nb\nc;":                            {"1 a", "3 b|c"},
		"\"content_by_lua\" 'ngx.say(\"{\")';":     {`1 content_by_lua|ngx.say("{")`},
		"a \"two\nlines\";\nb;":                    {"1 a|two\nlines", "3 b"},
		"a ${b}; c é\u2028;":                       {"1 a|${b}", "1 c|é\u2028"},
		long[:model.LongestToken-2] + ";":          {"1 " + long[:model.LongestToken-2]},
		"a;#" + strings.Repeat("#", 3000) + "\nb;": {"1 a", "2 b"},
	} {
		all, err := Parse([]byte(text))
		var got []string
		for _, s := range all {
			got = append(got, fmt.Sprintf("%d %s", s.Line, strings.Join(s.Tokens, "|")))
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%.80q: %v\n%s", text, err, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", model.LongestToken)
	for text, want := range map[string]string{
		"a":                          `line 1: the directive "a" lacks its ";"`,
		"\n\na b":                    `line 3: the directive "a" lacks its ";"`,
		"a \"b\"":                    `line 1: the directive "a" lacks its ";"`,
		"a b; }":                     `line 1: a "}" that closes nothing`,
		"}\nlocation /x {":           `line 1: a "}" that closes nothing`,
		"if ($x) {\n a; }\n} {":      `line 3: a "}" that closes nothing`,
		"if ($x) {\nb;":              `line 1: no "}" closes the block "if"`,
		"if ($x) { a }":              `line 1: a "}" in the directive "a", which lacks its ";"`,
		"a \"b;\n}":                  `line 2: a quote that nothing closes`,
		"a 'b;":                      `line 1: a quote that nothing closes`,
		"a \"b\\\";":                 `line 1: a quote that nothing closes`,
		"a \"b\"c;":                  `line 1: "c" directly behind a closing quote`,
		"a;;":                        `line 1: a ';' without a directive`,
		"{}":                         `line 1: a '{' without a directive`,
		"a b\\;":                     `line 1: the directive "a" lacks its ";"`,
		"a;\x00b;":                   `line 1: the control character "\x00"`,
		"# a\rb;":                    `line 1: the control character "\r"`,
		"a\v;":                       `line 1: the control character "\v"`,
		"a;\r":                       `line 1: the control character "\r"`,
		"a \xff;":                    `line 1: text that is not UTF-8`,
		"content_by_lua_block { } }": `line 1: a block of Lua, whose end nginx finds by other rules`,
		"\"access_by_lua_block\" {":  `line 1: a block of Lua, whose end nginx finds by other rules`,
		"a " + long + "b;":           `line 1: a token or comment of more than 4000 bytes`,
		"#" + long + "\n":            `line 1: a token or comment of more than 4000 bytes`,
		"a \"" + long + "\n;":        `line 1: a token or comment of more than 4000 bytes`,
	} {
		if _, err := Parse([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.80q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzParse holds that a snippet which is taken leaves the lexer where it was: what
// follows it is read as if it were not there.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "a b;", "a {b;}", "}", "a \"b;", "# a", "a;\n#", "a ${b};", "a b)c;", "a \"b\")c;", "\\", "$", "a {", "x_by_lua_block { } }"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse([]byte(text)); err != nil {
			return
		}
		depth := -1
		Directives([]byte("around {\n"+text+"\nmarker;\n}"), func(d Directive) {
			if d.Name == "marker" && d.Start == len("around {\n"+text+"\n") {
				depth = d.Depth
			}
		})
		if depth != 1 {
			t.Fatalf("%q: what follows is at depth %d", text, depth)
		}
	})
}
