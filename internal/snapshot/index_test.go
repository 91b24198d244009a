package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An index says what a map says after the same changes, and those before stay as they
// were.
func TestIndexIsAMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	want := map[Name]int{}
	x := indexOf(map[Name]int{})
	type version struct {
		index *index[int]
		want  map[Name]int
	}
	var versions []version
	settled := 0
	for step := range 2_000 {
		changes := map[Name]entry[int]{}
		for range random.IntN(4) {
			name := Name{"team", fmt.Sprint(random.IntN(200))}
			if random.IntN(3) == 0 {
				changes[name] = entry[int]{}
				delete(want, name)
			} else {
				changes[name] = entry[int]{step, true}
				want[name] = step
			}
		}
		x = x.with(changes)
		if len(x.recent) == 0 {
			settled++
		}
		if step%50 == 0 {
			versions = append(versions, version{x, maps.Clone(want)})
		}
	}
	if settled < 5 {
		t.Errorf("settled %d times", settled)
	}
	for at, v := range versions {
		if diff := cmp.Diff(v.want, maps.Collect(v.index.all())); diff != "" {
			t.Errorf("version %d (-want +got):\n%s", at, diff)
		}
		if v.index.len() != len(v.want) {
			t.Errorf("version %d: length %d, want %d", at, v.index.len(), len(v.want))
		}
		for i := range 200 {
			name := Name{"team", fmt.Sprint(i)}
			got, there := v.index.find(name)
			if value, ok := v.want[name]; got != value || there != ok {
				t.Errorf("version %d, %s: %d, %t, want %d, %t", at, name, got, there, value, ok)
			}
		}
	}
}

// An index without entries, and none at all, are the same.
func TestIndexOfNothing(t *testing.T) {
	t.Parallel()
	var none *index[*int]
	if none.get(Name{}) != nil || none.len() != 0 || len(maps.Collect(none.all())) != 0 {
		t.Error("an index that is not there has entries")
	}
	if !sameIndex(none, indexOf(map[Name]*int{}), identical) {
		t.Error("it differs from an empty one")
	}
	one := none.with(map[Name]entry[*int]{{"a", "b"}: {new(1), true}})
	if one.len() != 1 || sameIndex(none, one, identical) {
		t.Error("it cannot be added to")
	}
}
