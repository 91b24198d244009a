package health

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// state is ready, and healthy, or says why not.
type state struct{ ready, healthy error }

func (s state) Ready() error { return s.ready }

func (s state) Healthy(context.Context) error { return s.healthy }

func TestEachCheckFailsForItsOwnReason(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		state       state
		both        bool
		live, ready int
	}{
		"all is well":           {state{}, true, 200, 200},
		"not ready":             {state{ready: broken}, false, 200, 503},
		"not ready, one check":  {state{ready: broken}, true, 503, 503},
		"no worker answers":     {state{healthy: broken}, false, 503, 200},
		"neither, nor answered": {state{broken, broken}, true, 503, 503},
	} {
		handler := Checks{Path: "/alive", Both: test.both}.Handler(test.state)
		for path, want := range map[string]int{"/alive": test.live, "/readyz": test.ready, "/healthz": 404} {
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			if answer.Code != want {
				t.Errorf("%s: %s answers %d, want %d", name, path, answer.Code, want)
			}
		}
	}
}
