package assemble

import "slices"

// inOrder is a sorted list that calls extend instead of sorting it again, because most
// elements stay from one call to the next.
type inOrder[T any] struct {
	list    []T
	compare func(a, b T) int
	placeOf func(T) *place
}

// place is the state of an element in an inOrder.
type place struct {
	listed bool
	// found is the last call that found the element.
	found uint64
}

// next returns the elements that a call found, sorted, each once. The result must not
// be changed. No two elements compare as equal.
func (o *inOrder[T]) next(call uint64, found []T) []T {
	var came []T
	for _, element := range found {
		p := o.placeOf(element)
		if p.found = call; !p.listed {
			p.listed = true
			came = append(came, element)
		}
	}
	if len(came) == 0 && len(found) == len(o.list) {
		return o.list
	}
	slices.SortFunc(came, o.compare)
	merged := make([]T, 0, len(found))
	for _, element := range o.list {
		if p := o.placeOf(element); p.found != call {
			p.listed = false
			continue
		}
		for len(came) > 0 && o.compare(came[0], element) < 0 {
			merged, came = append(merged, came[0]), came[1:]
		}
		merged = append(merged, element)
	}
	o.list = append(merged, came...)
	return o.list
}
