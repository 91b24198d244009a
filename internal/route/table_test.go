package route

import (
	"fmt"
	"testing"
	"time"

	"sluice/internal/model"
)

// TestTableOfManyPaths: the table of a host with n paths takes time by n, not by its square, which
// took 0.6 s for 8,000.
func TestTableOfManyPaths(t *testing.T) {
	took := func(n int) time.Duration {
		server := &model.Server{Host: "shop.example"}
		for i := range n {
			rule := model.Rule{Path: fmt.Sprintf("/p%06d", i), PathType: "Prefix"}
			server.Locations = append(server.Locations, &model.Location{Modifier: model.Equal, Path: rule.Path, Rule: rule}, &model.Location{Modifier: model.PrefixFirst, Path: rule.Path + "/", Rule: rule})
		}
		fastest := time.Hour
		for range 3 {
			began := time.Now()
			rows := Table([]*model.Server{server})
			fastest = min(fastest, time.Since(began))
			if len(rows) != n || rows[0].Match != "prefix" {
				t.Fatalf("%d rows, the first of which is %q: want %d of prefixes", len(rows), rows[0].Match, n)
			}
		}
		return fastest
	}
	few, many := took(1000), took(8000)
	t.Logf("%v for 1000, %v for 8000", few, many)
	if many > 24*few {
		t.Errorf("8 times the paths took %d times as long, want less than 24", many/few)
	}
}
