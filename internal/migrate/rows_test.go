package migrate

import (
	"testing"

	"sluice/docs"
)

// TestRowsAreThoseOfThePage: each row of docs/differences.md is recognised, or says why it
// cannot be.
func TestRowsAreThoseOfThePage(t *testing.T) {
	t.Parallel()
	page := Page(docs.Differences)
	if len(page) < 200 {
		t.Fatalf("the page has %d rows", len(page))
	}
	known, ids := map[int]string{}, map[string]bool{}
	for _, r := range rows {
		at := find(page, r.what)
		switch {
		case at < 0:
			t.Errorf("%s: %q begins no row of docs/differences.md, or several", r.id, r.what)
		case known[at] != "":
			t.Errorf("%s and %s are the same row", known[at], r.id)
		}
		known[at] = r.id
		if ids[r.id] {
			t.Errorf("%s: the id is there twice", r.id)
		}
		ids[r.id] = true
		if !r.isComplete() {
			t.Errorf("%s: want one way to recognise it, or the reason why there is none", r.id)
		}
	}
	for at, d := range page {
		if known[at] == "" {
			t.Errorf("docs/differences.md has the row %q: want a line for it in rows_*.go of internal/migrate, which recognises it or says why nothing can", d.What)
		}
	}
}

// isComplete reports whether a row has one kind of condition.
func (r row) isComplete() bool {
	kinds := 0
	for _, has := range []bool{r.finding, r.quiet != nil || r.controller != nil, r.everywhere, r.untold != ""} {
		if has {
			kinds++
		}
	}
	return kinds == 1 && (!r.finding || len(r.fields)+len(r.says) > 0 || r.reason != "")
}
