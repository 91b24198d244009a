package healthcheck

import "container/heap"

// ordered is a heap whose elements know their index, so that any of them can be removed.
type ordered[T any] struct {
	items []T
	less  func(a, b T) bool
	// at returns where an element keeps its index, absent if it is not in the heap.
	at func(T) *int
}

const absent = -1

func (o *ordered[T]) first() T { return o.items[0] }

func (o *ordered[T]) add(item T) { heap.Push(o, item) }

// remove removes an element if it is there.
func (o *ordered[T]) remove(item T) {
	if at := *o.at(item); at != absent {
		heap.Remove(o, at)
	}
}

// Len implements heap.Interface, as the following methods do.
func (o *ordered[T]) Len() int           { return len(o.items) }
func (o *ordered[T]) Less(i, j int) bool { return o.less(o.items[i], o.items[j]) }

func (o *ordered[T]) Swap(i, j int) {
	o.items[i], o.items[j] = o.items[j], o.items[i]
	*o.at(o.items[i]), *o.at(o.items[j]) = i, j
}

// Push adds a T at the end.
func (o *ordered[T]) Push(x any) {
	*o.at(x.(T)) = len(o.items)
	o.items = append(o.items, x.(T))
}

// Pop removes the last element.
func (o *ordered[T]) Pop() any {
	last := len(o.items) - 1
	item := o.items[last]
	clear(o.items[last:])
	o.items = o.items[:last]
	*o.at(item) = absent
	return item
}
