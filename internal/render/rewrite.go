package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/tokens"
)

// rewriteView is a rewrite. Composed is set if the target has variables, Captures if the
// prefix has, Whole if nothing follows the rewrite, and Matched if the location has matched
// the pattern.
type rewriteView struct {
	model.Rewrite
	Pattern                            tokens.Limited
	Composed, Captures, Whole, Matched bool
}

func (s *serverRendering) rewriteView(l *model.Location) *rewriteView {
	r, matchLimit := l.Rewrite, s.global.Patterns.MatchLimit
	v := &rewriteView{Rewrite: *r, Pattern: tokens.LimitPattern(r.Pattern, matchLimit), Composed: strings.Contains(r.Target, "$"), Captures: strings.Contains(r.Prefix, "$")}
	v.Whole = !v.Composed && r.Prefix == ""
	if v.Matched = s.matched(l); v.Matched {
		_, v.Target = s.capturing(l)
	}
	return v
}

// numbered is a capture in a target.
var numbered = regexp.MustCompile(`\$[1-9]`)

// capturing returns the pattern of a location and the target of its rewrite. If the
// location has matched the pattern of the rewrite, its groups have the names that the
// target uses: nginx keeps named captures, and no second pattern has to be compiled.
func (s *serverRendering) capturing(l *model.Location) (path, target string) {
	if !s.matched(l) {
		return l.Path, ""
	}
	var which []int
	for _, capture := range numbered.FindAllString(l.Rewrite.Target, -1) {
		which = append(which, int(capture[1]-'0'))
	}
	path, groups := pcre.NameGroups(l.Path, which)
	target = numbered.ReplaceAllStringFunc(l.Rewrite.Target, func(capture string) string {
		if number, _ := strconv.Atoi(capture[1:]); number > groups {
			return ""
		}
		return "${" + pcre.GroupName(capture[1:]) + "}"
	})
	return path, target
}

// matched reports whether the pattern of a rewrite finds in a URI exactly what that of its
// location has found. Both find it at the beginning if that of the location finds nothing
// elsewhere. A snippet may have changed the URI in between, and nginx escapes numbered
// captures in parameters, but not named ones. A snippet may need the captures of the location,
// which the pattern that always matches would take.
func (s *serverRendering) matched(l *model.Location) bool {
	r, ends := l.Rewrite, func(b model.Block) bool { return b.Ends }
	if r == nil || s.reads.captures || s.everywhere.locations != nil || l.Modifier != model.Pattern || "(?i)"+strings.TrimPrefix(l.Path, "^") != r.Pattern ||
		strings.Contains(r.Prefix, "$") || !strings.HasPrefix(r.Target, "/") || strings.Contains(r.Target, "?") ||
		strings.Contains(strings.ReplaceAll(l.Path, "(?:", ""), "(?") || slices.ContainsFunc(l.Blocks, ends) {
		return false
	}
	shape, err := pcre.ShapeOf(l.Path)
	return err == nil && shape.Anchored
}
