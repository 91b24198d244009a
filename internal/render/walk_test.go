package render

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"sluice/templates"
)

// withTemplate returns the built-in templates and one more file.
func withTemplate(t *testing.T, name, text string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(templates.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(templates.Files, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files[name] = &fstest.MapFile{Data: []byte(text)}
	return files
}

func TestGuardTakes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`allow {{ .A }};`,
		`allow {{ .A | str }};`,
		`a{{ if .A }} {{ .A }}{{ end }};`,
		`a {{ range .A }}{{ . }} {{ end }};`,
		`a{{ range .A }} {{ . }}{{ end }};`,
		`a {{ if .A }}on{{ else }}off{{ end }};`,
		`a {{ if .A }}{{ .A | variable }}{{ else }}{{ .B | str }}{{ end }} always;`,
		`a rate={{ .A }}r/s;`,
		`a $x{{ .A }};`,
		`{{ $x := .A }}a {{ $x }};`,
		`if ( {{ .A | variable }} ) { return 204; }`,
		`# a comment
a;`,
		`{{ .A | raw }}a; {{ .B | raw }}`,
		`if ($a) { {{ .A | raw }}b; }`,
		`{{ range .A }}a {{ . }};
{{ else }}b;
{{ end }}`,
	} {
		if _, err := Load(withTemplate(t, "x.tmpl", `{{ define "x/location" }}`+text+`{{ end }}`)); err != nil {
			t.Errorf("%s\nis refused: %v", text, err)
		}
	}
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`a "{{ .A }}";`, "x.tmpl:1:31: a value is printed in \"...\""},
		{`a '{{ .A | str }}';`, "printed in '...'"},
		{"# {{ .A }}\n", "printed in a comment"},
		{`{{ .A }} b;`, "the name of a directive is printed"},
		{`a{{ .A }} b;`, "a part of the name of a directive is printed"},
		{`a b{{ .A | str }};`, "str prints whole tokens"},
		{`a ${{ .A }};`, `directly behind a backslash or a $`},
		{`a \{{ .A }};`, `directly behind a backslash or a $`},
		{`a {{ .A | str }}{{ .B }};`, "printed behind a token in quotes"},
		{`a {{ .A | str }}b;`, `'b' stands directly behind`},
		{`a {{ .A | raw }};`, "raw between tokens of the directive \"a\" in the block location: want it where a directive can start"},
		{`a {{ .A | raw | upper }}{{ .A | raw }};`, "raw in a word of the directive"},
		{`a "{{ .A | raw }}";`, "want it where a directive can start"},
		{"# {{ .A | raw }}\n", "want it where a directive can start"},
		{"a \"\x00\";", "NUL"},
		{`a {{ if .A }}"b{{ end }};`, "end in different places"},
		{`a {{ if .A }}b;{{ end }}`, "end in different places"},
		{`{{ if .A }}a{{ else }}b{{ end }} c;`, "end in different places"},
		{`{{ range .A }}a {{ end }};`, "end in different places"},
		{`{{ range .A }}a;{{ break }}{{ end }}`, "break and continue are not supported"},
		{`a {{ .A }}`, "ends in a word"},
		{`if ($a) { `, "ends between tokens in the block if"},
		{`}`, "closes a block that the template did not open"},
		{`a }`, "} within the directive"},
		{`;`, "without a directive"},
		{"a \"b\nc\";", "a line ends within quotes"},
		{`# no line end`, "ends in a comment"},
		{`{{ template "nothing" . }}`, `there is no template "nothing"`},
		{`{{ template "x/location" . }}`, `calls itself`},
		{`set $route b;`, "set sets $route: want a variable that begins with $x_"},
		{`set $xroute b;`, "set sets $xroute"},
		{`auth_request_set $upstream $b;`, "auth_request_set sets $upstream"},
		{`set "$route" b;`, "set sets"},
		{`set ${route} b;`, "set sets"},
		{`set {{ if .A }}$x_a{{ else }}$route{{ end }} b;`, "end in different places"},
		{`map $host $host_is { a b; }`, "map sets $host_is"},
		{`geo $office { a b; }`, "geo sets $office"},
		{`geo $remote_addr $office { a b; }`, "geo sets $office"},
		{`split_clients $host $half { a b; }`, "split_clients sets $half"},
		{`a {{ insert .A }};`, "want it where a directive can start"},
		{`a {{ .A | nope }};`, `function "nope" not defined`},
		{`a {{ env "HOME" }};`, `function "env" not defined`},
		{`a {{ now }};`, `function "now" not defined`},
	} {
		_, err := Load(withTemplate(t, "x.tmpl", `{{ define "x/location" }}`+c.text+`{{ end }}`))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot %v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestServersHaveSnippetsInBlocksOnly: render keeps subrequests from those.
func TestServersHaveSnippetsInBlocksOnly(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"server.tmpl", "servertls.tmpl"} {
		text, err := fs.ReadFile(templates.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), "{{ insert .Blocks -}}", "{{ .Name | raw }}{{ insert .Blocks -}}", 1)
		if file == "servertls.tmpl" {
			changed = strings.Replace(changed, `{{ define "server-tls" }}`, `{{ define "server-tls" }}{{ .A | raw }}`, 1)
		}
		if _, err := Load(withTemplate(t, file, changed)); changed == string(text) || err == nil || !strings.Contains(err.Error(), "raw in a server") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestLoadRefusesFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"x.tmpl", "text", "text outside of {{ define }}"},
		{"x.tmpl", `{{ define "server" }}a;{{ end }}`, `template "server" is defined twice`},
		{"x.tmpl", `{{ define "cors/loction" }}a;{{ end }}`, `template "cors/loction" is used nowhere`},
		{"x.tmpl", `{{ define "x/location" }}{{ if }}{{ end }}`, "x.tmpl:1"},
		{"server.tmpl", `{{ define "server" }}server { listen 80; }{{ end }}`, "is missing"},
		{"location.tmpl", strings.ReplaceAll(readTemplate(t, "location.tmpl"), ".Upstream", ".Upstraem"), "templates cannot be executed"},
	} {
		_, err := Load(withTemplate(t, c.name, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s\ngot %v\nwant %s", c.name, c.text, err, c.want)
		}
	}
}

func readTemplate(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(templates.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A value without a printer gets word, and part within a word.
func TestGuardAppendsPrinters(t *testing.T) {
	t.Parallel()
	loaded, err := Load(withTemplate(t, "x.tmpl", `{{ define "x/location" }}a {{ .Token }} b{{ .Part }};{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	type data struct{ Token, Part string }
	for _, c := range []struct {
		data data
		want string
	}{
		{data{"a=b", "c"}, "a a=b bc;"},
		{data{"a b", "c"}, ""},
		{data{"a", "=c"}, ""},
		{data{"a", "c;d"}, ""},
	} {
		p := &page{}
		err := p.execute(loaded.behaviours["x"].contexts["location"], c.data)
		if (err == nil) != (c.want != "") || err == nil && p.String() != c.want {
			t.Errorf("%+v: got %q, %v; want %q", c.data, p.String(), err, c.want)
		}
	}
}
