package render

import (
	"bytes"
	"hash/maphash"
)

// LinesSince returns how many lines a file has that another one lacks, and the other way
// round, wherever they are. It reads only the parts in which the two differ.
func (f *File) LinesSince(before *File) (added, removed int) {
	was, is := before.chunks, f.chunks
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	c := counter{seed: maphash.MakeSeed(), near: map[uint64]int32{}, more: map[uint64]int32{}, shared: sharedBy(was, is)}
	for i := range max(len(was), len(is)) {
		c.count(is, i, 1)
		c.count(was, i, -1)
		c.settle()
	}
	for _, n := range c.more {
		added += int(max(n, 0))
		removed += int(max(-n, 0))
	}
	return added, removed
}

// sharedBy returns the chunks that both lists have.
func sharedBy(was, is []*chunk) map[*chunk]bool {
	of := make(map[*chunk]bool, len(was))
	for _, c := range was {
		of[c] = false
	}
	for _, c := range is {
		if _, both := of[c]; both {
			of[c] = true
		}
	}
	return of
}

// counter counts lines, by their hashes. Most lines of a part are also in the part at its
// place in the other file: near has the lines of those two parts, and more the lines that
// were left over, so that it stays small.
type counter struct {
	seed       maphash.Seed
	near, more map[uint64]int32
	shared     map[*chunk]bool
}

func (c *counter) count(chunks []*chunk, at int, by int32) {
	if at >= len(chunks) || c.shared[chunks[at]] {
		return
	}
	for line := range bytes.Lines(chunks[at].text) {
		c.near[maphash.Bytes(c.seed, line)] += by
	}
}

func (c *counter) settle() {
	for line, n := range c.near {
		if n != 0 {
			c.more[line] += n
		}
	}
	clear(c.near)
}
