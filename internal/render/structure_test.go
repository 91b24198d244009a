package render

import (
	"errors"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/tokens"
)

func TestStructureTakesWhatTemplatesWrite(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	for _, text := range []string{
		`location "/a" { set $route a/b/c/80; proxy_pass http://sluice; }`,
		`location ^~ "/a;}{" { return 503; }`,
		`location = "/a" { allow 10.0.0.0/8; deny all; }`,
		`location @miss { return 404; }`,
	} {
		if err := checkBlock(loaded.hosts.At(inServer...), []byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestStructureRefuses(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	for _, c := range []struct{ text, want string }{
		{`location "/" { content_by_lua_file /x; }`, `directive "content_by_lua_file" with 1 arguments in location`},
		{`location "/" { alias /etc/; }`, `directive "alias"`},
		{`location "/" { "ali\as" /etc/; }`, `directive "ali\\as"`},
		{`location "/" { return 200 "hello" x; }`, `directive "return" with 3 arguments`},
		{`location "/" { location "/a" { return 503; } }`, `block "location"`},
		{`location "/" { return 503; } location "/b" { return 503; }`, "2 blocks and 0 directives"},
		{`location "/" { return 503; } root /;`, `directive "root"`},
		{`location "/" a b { return 503; }`, `block "location" with 3 arguments`},
		{`location "/" { return 503; `, "within a directive or block"},
		{`location "/" { return 503; } }`, "closes nothing"},
		{`location "/" { return "503; }`, "within a directive or block"},
		{`location "/" { return "503"x; }`, "behind a closing quote"},
		{`location "/" { ; }`, "separator without a directive"},
		{``, "0 blocks"},
	} {
		err := checkBlock(loaded.hosts.At(inServer...), []byte(c.text))
		var refused *StructureError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot %v\nwant %s", c.text, err, c.want)
		}
	}
}

// The structure check accepts the whole file.
func TestStructureOfTheWholeFile(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	file, _ := loaded.Render(model.Static{Servers: []*model.Server{{}}}, testEnvironment(), nil)
	if err := checkText(loaded.grammar, file.Bytes()); err != nil {
		t.Error(err)
	}
}

// FuzzStructure checks that no text makes the readers of tokens panic.
func FuzzStructure(f *testing.F) {
	for _, seed := range []string{"", "a b;", `a "b\"" 'c';`, "a{b;}", "}", "a}", "${", "$", "\\", "a\\", "\"", "# x", "a \"b\"c", "a \"b\")c;", "map $a $b { default x; ~y z; }"} {
		f.Add(seed)
	}
	grammar := tokens.NewNode("")
	grammar.Leaf("a", tokens.Counts{Min: 0, Max: 3})
	grammar.Block("map", tokens.Counts{Min: 2, Max: 2}).Value(tokens.Counts{Min: 1, Max: 1})
	f.Fuzz(func(t *testing.T, text string) {
		_ = checkText(grammar, []byte(text))
		_ = checkBlock(grammar, []byte(text))
		measureMaps([]byte(text))
	})
}
