package route

import (
	"strings"
	"testing"
)

func TestQuick(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		`^api[0-9]+\.example\.net$`, `.`, `^(www\.|api\.)?example\.com$`, `^([a-z0-9-]+\.)+example\.com$`, `^(?:\w+\.){2}example\.com$`, `^(?:[^.]+\.)*example\.com$`,
		`^a.*b.*c$`, `a.*b`, `^(.+\.)?(de|en|fr|it|nl|pl)\.example\.com$`, `^[(+*]{1,3}\.x$`, `a{x}b+`, `^(a)(b)(c)+$`, `^\(a+\)+$`, `^[a-z]{2}\.[0-9]+$`, `^(?:(?:a|b)c)?$`, `^(a??)??$`, `[]+(]*`,
	} {
		if err := Quick(pattern); err != nil {
			t.Errorf("%s is refused: %v", pattern, err)
		}
	}
	for pattern, want := range map[string]string{
		`(*LIMIT_MATCH=0).*`: "error parsing", `x(?R)`: "error parsing", `(a|(?1))b`: "error parsing", `a\g{-1}`: "error parsing", `[a`: "error parsing", `[z-a]`: "error parsing", `a)`: "error parsing",
		`(?!a)b`: "error parsing", `(?i)a`: "(? is not taken", `[[:alpha:]]`: "[: is not taken", `\pN`: `\p is not taken`, `^*a`: "^* is not taken",
		`(a+)+`: "may hold no", `((a+))*x`: "may hold no", `(?:.+\.)+x`: "may hold no", `(a|a)+`: "may hold no", `(a?)+`: "may hold no", `(a?){20}`: "may hold no",
		`((a|b)c)+`: "may hold no", `(a{1,3})+`: "may hold no", `([a-z.]+\.)+`: "may hold no", `(\[a+)+`: "may hold no", `(?:a+?)*?`: "may hold no",
		`.*.*.*.*.*`: "take nginx long", `^a.*b.*c.*d$`: "take nginx long", `.*.*[?]`: "take nginx long", `^a|b.*c.*d`: "take nginx long", strings.Repeat("a?", 40): "take nginx long", strings.Repeat("(a|a)", 40): "take nginx long", `a{1,99}b{1,99}c{1,99}d{2,99}e{0,99}`: "take nginx long",
	} {
		if err := Quick(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", pattern, err, want)
		}
	}
}
