package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outline prints the directives of a text as the lexer sees them.
func outline(text string) string {
	var out strings.Builder
	Directives([]byte(text), func(d Directive) {
		kind := ";"
		if d.Opens {
			kind = "{"
		}
		fmt.Fprintf(&out, "%s%q %q%s\n", strings.Repeat(" ", d.Depth), d.Name, d.Arg, kind)
	})
	return out.String()
}

func TestLexer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`a b;`, "\"a\" \"b\";\n"},
		{`a "b;c";`, "\"a\" \"b;c\";\n"},
		{`a 'b"c';`, "\"a\" \"b\\\"c\";\n"},
		{`a "b\"c\\d";`, "\"a\" \"b\\\"c\\\\d\";\n"},
		{`a b\;c;`, "\"a\" \"b\\\\;c\";\n"},
		{`a ${b}c;`, "\"a\" \"${b}c\";\n"},
		{`a b{c;}`, "\"a\" \"b\"{\n \"c\" \"\";\n"},
		{"# a;\nb;", "\"b\" \"\";\n"},
		{`a b#c;`, "\"a\" \"b#c\";\n"},
		{`a "b"{"" c;}`, "\"a\" \"b\"{\n \"\" \"c\";\n"},
		{`if ($a ~ "b"){c;}`, "\"if\" \"($a\"{\n \"c\" \"\";\n"},
		{`"a" "\t\r\n\x";`, "\"a\" \"\\t\\r\\n\\\\x\";\n"},
	} {
		if diff := cmp.Diff(c.want, outline(c.text)); diff != "" {
			t.Errorf("%s:\n%s", c.text, diff)
		}
	}
}

func TestLexerRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`a "b"c;`, `a "b"};`, `a 'b'"c";`} {
		var lex Lexer
		refused := false
		for i := range len(text) {
			refused = refused || lex.Step(text[i])&Wrong != 0
		}
		if !refused {
			t.Errorf("%s is taken", text)
		}
	}
}
