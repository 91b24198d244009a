package tokens

import (
	"strings"
	"testing"
)

// Every pattern of a user has a limit.
func TestLimitPattern(t *testing.T) {
	t.Parallel()
	const limit = "(*LIMIT_MATCH=20000)"
	for pattern, want := range map[string]string{
		`^/a(/|$)(.*)`: `"` + limit + `^/a(/|$)(.*)"`,
		`^/y|/z`:       `"` + limit + `^(?s:.*?)(?:^/y|/z)"`,
		`^/y|^/z`:      `"` + limit + `^/y|^/z"`,
		`(?i)/a`:       `"` + limit + `^(?s:.*?)(?:(?i)/a)"`,
		// The added text must not make a pattern valid that nginx refuses.
		`^/a)|(/b`:   `"` + limit + `^/a)|(/b"`,
		`^/\X)|(/b`:  `"` + limit + `^/\\X)|(/b"`,
		`^/\X|/b`:    `"` + limit + `^(?s:.*?)(?:^/\\X|/b)"`,
		`^/[)]\X|/b`: `"` + limit + `^(?s:.*?)(?:^/[)]\\X|/b)"`,
		// PCRE copies a counted group for each count.
		`^/([0-9]{4}-){3}`:                 `"` + limit + `^/([0-9]{4}-){3}"`,
		`^/(?:(?:\w\d){20}-){20}`:          `"` + "(*NO_JIT)(*LIMIT_HEAP=8192)" + limit + `^/(?:(?:\\w\\d){20}-){20}"`,
		`^/(?:\X-){20}`:                    `"` + "(*NO_JIT)(*LIMIT_HEAP=8192)" + limit + `^(?s:.*?)(?:^/(?:\\X-){20})"`,
		`^/(a)` + strings.Repeat(`\1`, 16): `"(*LIMIT_MATCH=6666)^/(a)` + strings.Repeat(`\\1`, 16) + `"`,
	} {
		if got, err := printRegex(LimitPattern(pattern, 20_000)); got != want || err != nil {
			t.Errorf("%s: got %s, want %s (%v)", pattern, got, want, err)
		}
		if got := WithoutLimits(limit + pattern); got != pattern {
			t.Errorf("%s without limits is %s", pattern, got)
		}
	}
}

// The largest pattern with its limits fits nginx's buffer.
func TestLimitsFitNginxsBuffer(t *testing.T) {
	t.Parallel()
	const buffer = 4096 // NGX_CONF_BUFFER
	pattern := "^/" + strings.Repeat("(?:a?){9}", 400) + "|/b"
	pattern += strings.Repeat("b", TokenLimit-2-len(pattern))
	got, err := printLiteral(LimitPattern(pattern, 10_000_000))
	if err != nil || len(got) >= buffer {
		t.Errorf("%d bytes: %v", len(got), err)
	}
}
