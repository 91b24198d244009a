package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outline prints the directives of a text as the lexer sees them.
func outline(text string) string {
	var out strings.Builder
	directives([]byte(text), func(d directive) {
		kind := ";"
		if d.opens {
			kind = "{"
		}
		fmt.Fprintf(&out, "%s%q %q%s\n", strings.Repeat(" ", d.depth), d.name, d.arg, kind)
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
		var lex lexer
		refused := false
		for i := range len(text) {
			refused = refused || lex.step(text[i])&wrong != 0
		}
		if !refused {
			t.Errorf("%s is taken", text)
		}
	}
}

// FuzzLexer holds that no text makes the readers of tokens panic, and that
// tokens printed anew, quoted, are read as the same tokens.
func FuzzLexer(f *testing.F) {
	for _, seed := range []string{"", "a b;", `a "b\"" 'c';`, "a{b;}", "}", "a}", "${", "$", "\\", "a\\", "\"", "# x", "a \"b\"c", "a \"b\")c;", "map $a $b { default x; ~y z; }"} {
		f.Add(seed)
	}
	grammar := newNode("")
	grammar.leaf("a", counts{0, 3})
	grammar.block("map", counts{2, 2}).value(counts{1, 1})
	f.Fuzz(func(t *testing.T, text string) {
		_ = checkText(grammar, []byte(text))
		_ = checkBlock(grammar, []byte(text))
		measureMaps([]byte(text))
		tokens, one := tokensOf(text)
		if !one || len(tokens) == 0 {
			return
		}
		var again strings.Builder
		for _, token := range tokens {
			quoted, err := quote(token)
			if err != nil {
				return // Longer than a token may be, or with control characters.
			}
			again.WriteString(quoted + " ")
		}
		got, one := tokensOf(again.String() + ";")
		if diff := cmp.Diff(tokens, got); diff != "" || !one {
			t.Fatalf("%q read again: %s", text, diff)
		}
	})
}
