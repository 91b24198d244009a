package render

import (
	"strings"
	"testing"
)

func TestHeadersOfMoreAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		`more_set_headers "X-A: 1" 'X-B:2'; add_header X-C 1;`:               {"x-a x-b", "x-a x-b"},
		`more_clear_headers X-A "X-B: ";`:                                    {"x-a x-b", "x-a x-b"},
		`more_set_headers -s 404 "X-A: 1"; more_set_headers -t text/html X;`: {"x x-a", ""},
		`if ($a) { more_set_headers "X-A: 1"; } more_clear_headers X-B;`:     {"x-a x-b", "x-b"},
		`more_set_headers "Set-Cookie: a"; more_set_input_headers "X-D: 1";`: {"", ""},
	} {
		got := moreIn([]byte(text))
		if headers, always := strings.Join(got.headers, " "), strings.Join(got.always, " "); headers != want[0] || always != want[1] {
			t.Errorf("%s: headers %q, always %q", text, headers, always)
		}
	}
}

func TestAddHeaderBesideMore(t *testing.T) {
	t.Parallel()
	r := &rendering{global: newGlobal(nil), more: more{headers: []string{"content-*", "set-*", "x-a", "x-b", "x-star-*"}, always: []string{"x-b", "x-star-*"}}}
	for text, want := range map[string]string{
		`add_header X-A "one \" two" always;`: `add_header X-A "" always;` + "\n" + `more_set_headers "X-A: one \" two";`,
		`add_header X-A 1 always;`:            `add_header X-A "" always;` + "\n" + `more_set_headers "X-A: 1";`,
		`add_header X-A "a $b" always;`:       `add_header X-A "" always;` + "\n" + `more_set_headers "X-A: a $b";`,
		`add_header X-B "1" always;`:          `add_header X-B "" always;`,
		`add_header X-B $b always;`:           `add_header X-B "" always;`,
		`add_header X-A "$b" always;`:         `add_header X-A "$b" always;`,
		`add_header X-A "" always;`:           `add_header X-A "" always;`,
		`add_header X-A "1";`:                 `add_header X-A "1";`,
		`add_header X-C "1" always;`:          `add_header X-C "1" always;`,
		// what the block hides of the backend's answer would not be lost by an empty value
		"proxy_hide_header X-A;\nadd_header X-A $b always;":                      "proxy_hide_header X-A;\nadd_header X-A \"\" always;\nmore_set_headers \"X-A: $b\";",
		"grpc_hide_header X-A;\nadd_header X-A $b always;":                       "grpc_hide_header X-A;\nadd_header X-A \"\" always;\nmore_set_headers \"X-A: $b\";",
		"proxy_hide_header Content-Type;\nadd_header Content-Type $type always;": "proxy_hide_header Content-Type;\nadd_header Content-Type $type always;",
		// names with a star
		`add_header X-Star-Of $b always;`: `add_header X-Star-Of "" always;`,
		`add_header X-Star 1 always;`:     `add_header X-Star 1 always;`,
		`add_header Set-Cookie a always;`: `add_header Set-Cookie a always;`,
		// as people write them in the http-snippet
		`add_header   X-A   1   always;`:            `add_header X-A "" always;` + "\n" + `more_set_headers "X-A: 1";`,
		"add_header X-A\n\t\"one two\"\n\talways ;": `add_header X-A "" always;` + "\n" + `more_set_headers "X-A: one two";`,
		`add_header 'X-A' 'a "b" \c' always;`:       `add_header X-A "" always;` + "\n" + `more_set_headers "X-A: a \"b\" \\c";`,
		`add_header X-A '$b' always;`:               `add_header X-A '$b' always;`,
	} {
		if got := string(r.asMore([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
