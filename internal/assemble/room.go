package assemble

import (
	"math"
	"slices"
)

// SharedDicts is the setting that says how much nginx can hold.
const SharedDicts = "lua-shared-dicts"

// Room is how much of a dictionary is given out. The rest is for what replaces
// something that workers still need.
func Room(size int64) int64 { return size / 10 * 9 }

// EntryCost is how many bytes of a dictionary an entry takes. nginx gives out
// powers of two up to half a page, and then whole pages.
// Source: ngx_slab_alloc_locked in https://github.com/nginx/nginx/blob/master/src/core/ngx_slab.c
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

// FairShare is the most that one of several may use of the room, so that who
// uses less gets all of it and the others equal parts of what is left; without
// limit if there is room for all.
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
