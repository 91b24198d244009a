package annotations

import (
	"maps"
	"slices"

	"sluice/internal/keys"
)

// IsRead reports whether a behaviour reads an annotation. name is without the prefix.
func IsRead(name string) bool { return behaviourOf[name] != nil }

// unread reports annotations with our prefix that no behaviour reads, and those with a
// near miss of it.
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
	v := r.catalog.Judge(name, r.lookup)
	switch v.Fate {
	case keys.Denied:
		r.general.protects = append(r.general.protects, v.Meant)
	case keys.Withheld:
		v.Text = r.withhold(v.Text)
	}
	r.report(name, v.Reason, v.Text, v.Fate == keys.Denied)
}
