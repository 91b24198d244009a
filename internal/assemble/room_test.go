package assemble

import (
	"math"
	"testing"
)

func TestFairShare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		uses []int64
		room int64
		want int64
	}{
		{nil, 10, math.MaxInt64}, {[]int64{4, 6}, 10, math.MaxInt64}, {[]int64{4, 7}, 10, 6}, {[]int64{9, 9}, 10, 5}, {[]int64{1, 100, 50}, 101, 50}, {[]int64{5}, 0, 0},
	} {
		if got := FairShare(test.uses, test.room); got != test.want {
			t.Errorf("%v in %d: got %d, want %d", test.uses, test.room, got, test.want)
		}
	}
}
