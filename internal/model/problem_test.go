package model

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		`want "x" (got 'é \n 漢')`:   `want "x" (got 'é \n 漢')`,
		"a\nb\r\x00\x1b[31m\x7f\t":  `a\nb\r\x00\x1b[31m\x7f\t`,
		"\u0085\u2028\u202e\u200b":  `\u0085\u2028\u202e\u200b`,
		"a\xffb\xc3(":               `a\xffb\xc3(`,
		"\ufffd":                    "\ufffd",
		strings.Repeat("a", 40):     strings.Repeat("a", 40),
		strings.Repeat("a", 41):     strings.Repeat("a", 37) + "...",
		strings.Repeat("é", 21):     strings.Repeat("é", 18) + "...",
		strings.Repeat("\xff", 11):  strings.Repeat(`\xff`, 9) + "...",
		strings.Repeat("\n", 9<<20): strings.Repeat(`\n`, 18) + "...",
	} {
		got := OneLine(text, 40)
		if got != want {
			t.Errorf("%.60q becomes %q, want %q", text, got, want)
		}
		if again := OneLine(got, 40); again != got {
			t.Errorf("%q becomes %q when it is done again", got, again)
		}
	}
}

// A clause behind a question is a sentence.
func TestCostBehindAQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"want a": "want a; its paths answer 503 until this is mended",
		`no annotation has this name; did you mean "auth-url"?`: `no annotation has this name; did you mean "auth-url"? Its paths answer 503 until this is mended`,
	} {
		if got := (Problem{Text: text, Denies: true}).Message(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// All texts of a Problem are printed as short printable lines.
func TestProblemsAreFitToBeShown(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{"a\nb", "\xff\xfe", "\u2028", strings.Repeat("a", 100_000), strings.Repeat("\x00", 100_000)} {
		p := Problem{Object: ObjectRef{Kind: "Ingress", Namespace: hostile, Name: hostile}, Field: hostile, Reason: InvalidValue, Text: hostile, Denies: true}
		shown := SortProblems([]Problem{p, p})
		if len(shown) != 1 {
			t.Fatalf("%d problems became of one that is there twice", len(shown))
		}
		s := shown[0]
		for _, text := range []string{p.String(), s.String(), s.Object.String(), s.Field, s.Text} {
			if len(text) > 2600 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("it is shown as %.200q, %d bytes", text, len(text))
			}
		}
		if !strings.HasSuffix(s.String(), "; its paths answer 503 until this is mended") || s.Reason != InvalidValue || !s.Denies {
			t.Errorf("%.20q...%q does not say what it did", s.String(), s.Reason)
		}
		if !slices.Equal(SortProblems(slices.Clone(shown)), shown) {
			t.Errorf("it changes when it is sorted again: %.200q", shown)
		}
	}
}

// A ConfigMap has no paths: its Problems name those that its settings apply to.
func TestMessagesSayWhichPathsAnswer503(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Ingress":   "bad; its paths answer 503 until this is mended",
		"ConfigMap": "bad; every path that these settings apply to answers 503 until this is mended",
	} {
		p := Problem{Object: ObjectRef{Kind: kind, Namespace: "a", Name: "b"}, Text: "bad", Denies: true}
		if got := p.Message(); got != want {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}

func TestProblemsThatAreFineStayAsTheyAre(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	longest := strings.Join([]string{label, label, label, label[:61]}, ".")
	p := Problem{Object: ObjectRef{Kind: "IngressClass", Namespace: label, Name: longest}, Field: longest + "/" + label, Reason: Conflict, Text: `want "é" (got "\n")`}
	if got := SortProblems([]Problem{p})[0]; got != p {
		t.Errorf("it became %v", got)
	}
	if want := "IngressClass " + label + "/" + longest + ": " + longest + "/" + label + `: want "é" (got "\n")`; p.String() != want {
		t.Errorf("it says %s", p)
	}
}
