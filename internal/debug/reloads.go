package debug

import (
	"fmt"
	"net/http"
	"strings"

	"sluice/internal/debugapi"
)

// reloads answers with the last attempts to load an nginx.conf.
func (q *question) reloads() (body, error) {
	if q.state.Snapshot == nil {
		return nil, refusal{http.StatusServiceUnavailable, fmt.Sprintf("the objects were not read yet: %v", missing(q.Ready()))}
	}
	all := make([]debugapi.Reload, len(q.state.Reloads))
	for i, r := range q.state.Reloads {
		r.At, r.Error = r.At.UTC(), shown(strings.ReplaceAll(r.Error, "\n", "; "))
		changed := make([]debugapi.Changed, len(r.Changed))
		for j, c := range r.Changed {
			changed[j] = debugapi.Changed{Kind: c.Kind, Count: c.Count, Names: shownAll(c.Names)}
		}
		r.Changed = changed
		all[i] = r
	}
	return list(all)
}
