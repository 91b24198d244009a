package render

import (
	"math/bits"
	"strings"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/syntax"
)

// hashView is the sizes of nginx's hash tables.
type hashView struct {
	ServerNamesMaxSize, ServerNamesBucketSize int
	VariablesMaxSize, VariablesBucketSize     int
	MapMaxSize, MapBucketSize                 int
}

// hashSizes makes the tables large enough for the hosts and for the maps in the texts. A
// name that does not fit its bucket stops nginx. If a table is too small, each start of
// nginx searches for a size.
// Source: https://nginx.org/en/docs/hash.html
func hashSizes(s settings.Hash, servers []*model.Server, texts ...[]byte) hashView {
	names, count := 0, len(servers)
	for _, server := range servers {
		names = max(names, len(server.Host))
		for _, alias := range server.Aliases {
			names = max(names, len(alias))
			count++
		}
	}
	view := hashView{
		ServerNamesMaxSize:    max(s.ServerNamesMaxSize, 512, powerOfTwo(count)),
		ServerNamesBucketSize: max(s.ServerNamesBucketSize, bucketSize(names), sharedBucket(count, 512, names)),
		VariablesMaxSize:      s.VariablesMaxSize, VariablesBucketSize: s.VariablesBucketSize,
		MapMaxSize: 2048, MapBucketSize: s.MapBucketSize,
	}
	for _, text := range texts {
		maps, keys, longest := measureMaps(text)
		view.VariablesMaxSize = max(view.VariablesMaxSize, powerOfTwo(2*maps))
		view.MapMaxSize = max(view.MapMaxSize, powerOfTwo(2*keys))
		view.MapBucketSize = max(view.MapBucketSize, bucketSize(longest), sharedBucket(keys, 64, longest))
	}
	return view
}

// bucketSize is the size of a bucket for one key: a pointer, the length and the key,
// aligned to pointers, and the pointer that ends the bucket.
// Source: NGX_HASH_ELT_SIZE in nginx's src/core/ngx_hash.c.
func bucketSize(length int) int { return max(64, powerOfTwo(elementSize(length)+8)) }

func elementSize(length int) int { return 8 + (length+2+7)/8*8 }

// sharedBucket is the size of a bucket if there are many names: with room for eight, nginx
// finds a size of the table at once.
func sharedBucket(names, many, length int) int {
	if names < many {
		return 64
	}
	return powerOfTwo(8*elementSize(length) + 8)
}

// measureMaps returns the number of maps, the number of keys of the largest map, and the
// length of the longest key.
func measureMaps(text []byte) (maps, keys, longest int) {
	entries := 0
	syntax.Directives(text, func(d syntax.Directive) {
		if d.Opens && d.Name == "map" {
			maps++
			entries = 0
		}
		if d.Block == "map" && !strings.HasPrefix(d.Name, "~") {
			entries++
			keys = max(keys, entries)
			longest = max(longest, len(d.Name))
		}
	})
	return maps, keys, longest
}

// powerOfTwo is the least power of two from n on.
func powerOfTwo(n int) int {
	if n < 2 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
