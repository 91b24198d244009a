package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

// sharing renders a location for each value, with templates that print it.
func sharing(t *testing.T, templates string, values ...string) (*File, string) {
	t.Helper()
	loaded, err := Load(withTemplate(t, "x.tmpl", templates))
	if err != nil {
		t.Fatal(err)
	}
	static := shopStatic(len(values))
	for i, a := range values {
		location := static.Servers[i+1].Locations[0]
		location.Blocks = []model.Block{{Name: "x", Data: struct{ A string }{a}, Source: location.Rule.Object}}
	}
	file, problems := loaded.Render(static, testEnvironment(), nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return file, string(file.Bytes())
}

// Equal shared texts are printed once.
func TestSharedBlocks(t *testing.T) {
	t.Parallel()
	_, text := sharing(t, `{{ define "x/shared" }}map $a $x_{{ .A }} { {{ .A | mapkey }} 1; }{{ end }}`, "one", "two", "one")
	for want, times := range map[string]int{
		"map $a $x_one {\n\t\"one\" 1;\n}\n": 1, "map $a $x_two {\n\t\"two\" 1;\n}\n": 1, "$x_": 2,
	} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%s: %d times, want %d", want, got, times)
		}
	}
}

// Blocks with one head become one. It has each line once, with its origin.
func TestSharedBlocksAreMerged(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 100)
	file, text := sharing(t, `{{ define "x/shared" }}
map $a $x_a {
    default "";
    {{ .A | mapkey }} 1;
}
map $b $x_b { {{ .A | mapkey }} "}"; }
{{ end }}`, "one", "two", "one", long)
	want := "map $a $x_a {\n\tdefault \"\";\n\t\"one\" 1;\n\t\"two\" 1;\n\t\"" + long + "\" 1;\n}\n" +
		"map $b $x_b {\n\t\"one\" \"}\";\n\t\"two\" \"}\";\n\t\"" + long + "\" \"}\";\n}\n"
	if !strings.Contains(text, want) || strings.Count(text, "$x_") != 2 {
		t.Errorf("want\n%s\nin\n%s", want, text)
	}
	if !strings.Contains(text, "map_hash_bucket_size 128;") {
		t.Error("the longest key does not fit its bucket")
	}
	wrote := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		if origin, _ := file.Origin(i + 1); strings.HasSuffix(line, "1;") && origin.Behaviour == "x" {
			wrote[strings.Fields(line)[0]] = origin.Object.Name
		}
	}
	if diff := cmp.Diff(map[string]string{`"one"`: "web-00000", `"two"`: "web-00001", `"` + long + `"`: "web-00003"}, wrote); diff != "" {
		t.Error(diff)
	}
}

// Nested blocks are not split, and a line outside of blocks is printed once.
func TestSharedTextIsWhole(t *testing.T) {
	t.Parallel()
	nested := "server {\n\tlocation / {\n\t\treturn 404;\n\t}\n}\n"
	m := merger{texts: map[string]bool{}, parts: map[sharedPart]bool{}, blocks: map[string]*mergedBlock{}}
	for _, text := range []string{nested, nested, "a 1;\n", "b 1; a 1;\n"} {
		m.add(sharedText{text: text, parts: partsOf(text)})
	}
	var got []string
	for _, line := range m.blocks[""].lines {
		got = append(got, line.text)
	}
	if diff := cmp.Diff([]string{strings.TrimSuffix(nested, "\n"), "a 1;", "b 1;"}, got); diff != "" || len(m.order) != 1 {
		t.Error(diff)
	}
}
