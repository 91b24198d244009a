package snapshot

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
)

// indexed holds the objects of one kind by name, for the next snapshot.
type indexed[T any, P Object[T]] struct {
	objects  []P
	names    *index[P]
	problems []model.Problem
}

// replacement is an object that replaced another one of the same name.
type replacement[P any] struct{ was, by P }

// change is the difference from the previous objects.
type change[P metav1.Object] struct {
	any bool
	// If alone is set, replaced, came and gone are the whole difference.
	replaced   []replacement[P]
	came, gone []P
	alone      bool
}

// known reports whether the whole difference is known.
func (c change[P]) known() bool { return !c.any || c.alone }

// changed returns the names of the changed objects.
func (c change[P]) changed() []Name {
	names := make([]Name, 0, len(c.replaced)+len(c.came)+len(c.gone))
	for _, r := range c.replaced {
		names = append(names, NameOf(r.by))
	}
	for _, o := range slices.Concat(c.came, c.gone) {
		names = append(names, NameOf(o))
	}
	return names
}

// apart returns the removed and the added objects; a replacement counts as both.
func (c change[P]) apart() (gone, came []P) {
	gone, came = slices.Clone(c.gone), slices.Clone(c.came)
	for _, r := range c.replaced {
		gone, came = append(gone, r.was), append(came, r.by)
	}
	return gone, came
}

// mostMended is the maximum number of changes that are applied one by one. After more, an
// index is built anew.
const mostMended = 256

// take indexes objects. If few of them changed, it processes only these.
func (x *indexed[T, P]) take(kind string, objects []P) change[P] {
	if x.names != nil && slices.Equal(x.objects, objects) {
		return change[P]{}
	}
	c := x.compare(objects)
	x.objects = objects
	if !c.alone {
		x.problems = nil
		x.names = indexOf(firstNames(kind, objects, &x.problems))
		return c
	}
	gone, came := c.apart()
	changes := make(map[Name]entry[P], len(gone)+len(came))
	for _, o := range gone {
		changes[NameOf(o)] = entry[P]{}
	}
	for _, o := range came {
		changes[NameOf(o)] = entry[P]{o, true}
	}
	x.names = x.names.with(changes)
	return c
}

// compare finds the difference. It leaves alone unset if the difference is large or if
// names are not unique.
func (x *indexed[T, P]) compare(objects []P) change[P] {
	both := min(len(objects), len(x.objects))
	if x.names == nil || len(x.problems) > 0 || len(objects)+len(x.objects)-2*both > mostMended {
		return change[P]{any: true}
	}
	c := change[P]{any: true, alone: true}
	var was, is []P // the objects at the positions that differ
	for i, o := range objects[:both] {
		switch before := x.objects[i]; {
		case before == o:
			continue
		case NameOf(before) == NameOf(o):
			c.replaced = append(c.replaced, replacement[P]{was: before, by: o})
		default:
			was, is = append(was, before), append(is, o)
		}
		if len(c.replaced)+len(is) > mostMended {
			return change[P]{any: true}
		}
	}
	was, is = append(was, x.objects[both:]...), append(is, objects[both:]...)
	if !x.match(&c, was, is) {
		return change[P]{any: true}
	}
	return c
}

// match finds which objects at differing positions are added, removed or replaced, and
// not just moved. It fails if a name is not unique.
func (x *indexed[T, P]) match(c *change[P], was, is []P) bool {
	left, seen := make(map[Name]P, len(was)), make(map[Name]bool, len(is))
	for _, o := range was {
		left[NameOf(o)] = o
	}
	for _, o := range is {
		name := NameOf(o)
		before, moved := left[name]
		switch {
		case seen[name], !moved && x.names.get(name) != nil:
			return false
		case !moved:
			c.came = append(c.came, o)
		case before != o:
			c.replaced = append(c.replaced, replacement[P]{was: before, by: o})
		}
		seen[name] = true
	}
	for _, o := range was {
		if !seen[NameOf(o)] {
			c.gone = append(c.gone, o)
		}
	}
	return true
}
