package random

import (
	"slices"
	"strings"
	"testing"

	"sluice/docs"
	"sluice/internal/explain"
	"sluice/internal/migrate"
	"sluice/internal/model"
)

// cause explains differences by a row of docs/differences.md.
type cause struct {
	// row is the first cell of the row, or begins it.
	row string
	// holds says whether what differs at a place of an answer comes of it.
	holds func(a *asked, place string) bool
}

var causes = []cause{
	{"redirects and errors over HTTPS that no backend answers", func(a *asked, place string) bool {
		return place == "/headers/Strict-Transport-Security" && a.https() && a.want.Headers["Strict-Transport-Security"] == ""
	}},
	{"an Exact path `/` on a host whose paths are patterns", func(a *asked, _ string) bool {
		winner := a.explained().Winner
		return winner != nil && winner.PathType == "Exact" && winner.Path == "/" &&
			slices.ContainsFunc(a.explained().Locations, func(l explain.Location) bool { return l.Modifier == model.Pattern && l.Path == `^/\z` })
	}},
}

// TestCausesAreRows: each cause is one row of the page.
func TestCausesAreRows(t *testing.T) {
	t.Parallel()
	page := migrate.Page(docs.Differences)
	for _, c := range causes {
		found := 0
		for _, d := range page {
			if strings.HasPrefix(d.What, strings.ReplaceAll(c.row, "`", "")) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%q begins %d rows of docs/differences.md", c.row, found)
		}
	}
}
