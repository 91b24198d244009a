package assemble

import (
	"math"
	"slices"
)

// SharedDicts is the setting with the sizes of nginx's dictionaries.
const SharedDicts = "lua-shared-dicts"

// Room is the part of a dictionary that may be used. The rest is for replacing entries
// that workers still need.
func Room(size int64) int64 { return size / 10 * 9 }

// EntryCost is the size of an entry in a dictionary, in bytes. nginx allocates powers
// of two up to half a page, and then whole pages.
// Source: ngx_slab_alloc_locked in
// https://github.com/nginx/nginx/blob/master/src/core/ngx_slab.c
func EntryCost(key, value int) int64 {
	const head, page = 68, 4096
	size := int64(head + key + value)
	if size > page/2 {
		return (size + page - 1) / page * page
	}
	cost := int64(128)
	for cost < size {
		cost *= 2
	}
	return cost
}

// FairShare is the most that each user of the room may have: those who use less get all
// of it, and the others equal parts of the rest. It is unlimited if everything fits.
func FairShare(uses []int64, room int64) int64 {
	uses = slices.Sorted(slices.Values(uses))
	for i, used := range uses {
		share := max(room, 0) / int64(len(uses)-i)
		if used > share {
			return share
		}
		room -= used
	}
	return math.MaxInt64
}
