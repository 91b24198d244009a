package lint

import (
	"fmt"
	"testing"

	"sluice/internal/model"
)

// Patterns that take long to compare end the comparing, and that is said: 20 kB of
// them took two minutes.
func TestComparingEnds(t *testing.T) {
	t.Parallel()
	server := &model.Server{Host: "a.example"}
	for i := range 150 {
		path := fmt.Sprintf("/(?:[a-z]*%c[a-z]{%d}|[b-y]*%c)+x[a-z]*", 'a'+i%26, 8+i%9, 'a'+i*7%26)
		server.Locations = append(server.Locations, &model.Location{Modifier: model.Pattern, Path: "^" + path, Rule: model.Rule{Path: path, Field: fmt.Sprint(i)}})
	}
	problems := overtaken([]*model.Server{server}, nil)
	if len(problems) == 0 || problems[len(problems)-1].Reason != Uncompared || SeverityOf(problems[len(problems)-1]) != Note {
		t.Errorf("got %v, want that it cannot be told", problems)
	}
}
