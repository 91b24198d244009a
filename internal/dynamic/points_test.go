package dynamic

import (
	"strings"
	"testing"

	"sluice/internal/model"
)

// nginx learns the limit of a ring.
func TestLimitOfARingIsSent(t *testing.T) {
	t.Parallel()
	for points, want := range map[int]bool{0: false, 40: true} {
		text, err := encodeBackend(&model.Backend{Key: "shop/web/80~0a1b", Balancing: &model.Balancing{Affinity: model.Balanced}, RingPoints: points})
		if err != nil || strings.Contains(string(text), `"points":40`) != want {
			t.Errorf("%d points: %s, %v", points, text, err)
		}
	}
}
