package snapshot

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
)

// indexed are the objects of one kind by name, from one snapshot to the next.
type indexed[T any, P object[T]] struct {
	objects  []P
	names    map[Name]P
	problems []model.Problem
}

// replacement is an object that took the place of another of its name.
type replacement[P any] struct{ was, by P }

// change is what differs from the objects before.
type change[P metav1.Object] struct {
	any bool
	// replaced is all that differs, if alone is set.
	replaced []replacement[P]
	alone    bool
}

// known says whether replaced is all that differs.
func (c change[P]) known() bool { return !c.any || c.alone }

// names are those of what was replaced.
func (c change[P]) names() []Name {
	names := make([]Name, 0, len(c.replaced))
	for _, r := range c.replaced {
		names = append(names, nameOf(r.by))
	}
	return names
}

// mostReplaced bounds what is put in place one by one; beyond, an index is made
// anew.
const mostReplaced = 64

// take indexes objects. Where a few were replaced by others of the same name,
// as edits do, a copy of the index is mended.
func (x *indexed[T, P]) take(kind string, objects []P) change[P] {
	if x.names != nil && slices.Equal(x.objects, objects) {
		return change[P]{}
	}
	c := change[P]{any: true}
	c.replaced, c.alone = x.compare(objects)
	x.objects = slices.Clone(objects)
	if c.alone {
		x.names = maps.Clone(x.names)
		for _, r := range c.replaced {
			x.names[nameOf(r.by)] = r.by
		}
		return c
	}
	x.problems = nil
	x.names = index(kind, objects, &x.problems)
	return c
}

// compare finds what was replaced, and says whether that is all.
func (x *indexed[T, P]) compare(objects []P) (replaced []replacement[P], alone bool) {
	if x.names == nil || len(objects) != len(x.objects) || len(x.problems) > 0 {
		return nil, false
	}
	for i, o := range objects {
		was := x.objects[i]
		if was == o {
			continue
		}
		if nameOf(was) != nameOf(o) || len(replaced) == mostReplaced {
			return nil, false
		}
		replaced = append(replaced, replacement[P]{was: was, by: o})
	}
	return replaced, true
}

// onlyReplaced says whether nothing but objects that are alike was replaced.
func (c change[P]) onlyReplaced(alike func(a, b P) bool) bool {
	return c.any && c.alone && !slices.ContainsFunc(c.replaced, func(r replacement[P]) bool { return !alike(r.was, r.by) })
}
