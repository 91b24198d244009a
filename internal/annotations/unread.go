package annotations

import (
	"maps"
	"slices"

	"sluice/internal/keys"
)

// readNames are the names, aliases included, that some behaviour reads.
var readNames = namesOf(docsOf(behaviours))

// IsRead is true for an annotation, without its prefix, that some behaviour reads.
func IsRead(name string) bool {
	_, read := slices.BinarySearch(readNames, name)
	return read
}

func namesOf(docs []keys.Doc) []string {
	var names []string
	for _, doc := range docs {
		names = append(append(names, doc.Key), doc.Aliases...)
	}
	slices.Sort(names)
	return names
}

// unread reports the annotations that no behaviour reads: those with our prefix,
// and those with one that may have been meant to be it.
func (r *reader) unread() {
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		if !IsRead(name) {
			r.reportUnread(name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.astray)) {
		r.reportAstray(key)
	}
}

func (r *reader) reportUnread(name string) {
	v := r.catalog.Judge(name, r.lookup, r.settings.Value)
	switch v.Fate {
	case keys.Denied:
		r.general.protects = append(r.general.protects, v.Meant)
	case keys.Withheld:
		v.Text = r.withhold(v.Text)
	}
	r.report(name, v.Reason, v.Text, v.Fate == keys.Denied)
}
