package model

import "testing"

// TestLines: characters that a terminal would interpret are escaped as in OneLine, but
// lines and tabs stay.
func TestLines(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[2Jb\x07c\u202ed\u009be\x00\u00a0\ufffd\U000e0001\xff"
	const shown = `a\x1b[2Jb\ac\u202ed\u009be\x00\u00a0` + "\ufffd" + `\U000e0001\xff`
	for text, want := range map[string]string{
		"":                  "",
		"fine ünï\n\ttab\n": "fine ünï\n\ttab\n",
		hostile:             shown,
		"\t" + hostile + "\t" + hostile + "\r\n\n": "\t" + shown + "\t" + shown + "\\r\n\n",
	} {
		if got := Lines(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := OneLine(hostile, 1000); got != shown {
		t.Errorf("in one line it is %q, want %q", got, shown)
	}
}
