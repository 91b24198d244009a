package random

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/docs"
	"sluice/internal/explain"
	"sluice/internal/migrate"
	"sluice/internal/model"
	"sluice/test/recorded"
)

// cause explains differences by a row of docs/differences.md.
type cause struct {
	// row is the first cell of the row, or begins it.
	row string
	// holds says whether what differs at a place of an answer comes of it.
	holds func(a *asked, place string) bool
}

// explained has the rows of the causes that explained a difference.
var explained sync.Map

// unseen are rows that no world showed when the check was written: each needs a world, or has to go.
var unseen = map[string]bool{
	"`custom-http-errors` with 401, 403, 500 or 503 on":  true,
	"`auth-tls-secret` over plain HTTP":                  true,
	"the text of the 403 of `auth-tls-match-cn`":         true,
	"headers of a `configuration-snippet` on a 404":      true,
	"a Service without endpoints with `default-backend`": true,
	"headers and HTTP version of requests to the error":  true,
}

// wantEachCause wants a difference for each cause once all worlds were asked; -run can choose some.
func wantEachCause(t *testing.T) {
	t.Helper()
	if chosen := flag.Lookup("test.run").Value.String(); strings.Contains(chosen, "/") {
		return
	}
	t.Cleanup(func() {
		for _, c := range causes {
			if _, explains := explained.Load(c.row); !explains && !unseen[c.row] && !t.Failed() {
				t.Errorf("no answer differs any more because of the row %q", c.row)
			}
		}
	})
}

// causes are all of them.
var causes = slices.Concat(hostCauses, refusedCauses, servedCauses)

// hostCauses are about what decides for a host, and about paths that nobody serves.
var hostCauses = []cause{
	{"redirects and errors over HTTPS that no backend answers", func(a *asked, place string) bool {
		return place == "/headers/Strict-Transport-Security" && a.https() && a.want.Headers["Strict-Transport-Security"] == ""
	}},
	{"a path that nobody serves, on a host whose", func(a *asked, place string) bool {
		asks := a.want.Status == 401 || a.want.Status == 403 || a.want.Status == 500 || a.want.Status == 302
		added := strings.HasPrefix(place, "/headers/Access-Control-") || strings.HasPrefix(place, "/hits/") && asksFirst(a.want.Hits)
		return a.unserved() && a.got.Status == 404 && len(a.got.Hits) == 0 && (asks && place == "/status" || a.want.Status == 404 && added)
	}},
	{"a missing or empty Service on a path with protection", func(a *asked, place string) bool {
		refused := a.got.Status == 401 || a.got.Status == 403 || a.got.Status == 302 || a.got.Status == 500
		missing := a.want.Status == 503 || a.intercepts("503") && (a.want.Status == 404 || a.want.Status == 500)
		return place == "/status" && missing && refused && a.explained().Answer.Status == 503 && a.says("Service ")
	}},
	{"`auth-tls-secret` that is missing, broken or of", func(a *asked, place string) bool {
		broken := a.says("auth-tls-secret: Secret ", "auth-tls-secret: want the name of a Secret", "asks for certificates of clients, which cannot be verified")
		return place == "/status" && a.want.Status == 403 && a.got.Status == 503 && broken
	}},
	{"`auth-tls-secret` in a rule without a host", func(a *asked, place string) bool {
		return place == "/status" && a.got.Status == 503 && a.says("auth-tls-secret: want a host", "asks for certificates of clients, which cannot be verified")
	}},
	{"`X-Original-Forwarded-For` in the questions of", func(a *asked, place string) bool {
		header := strings.HasSuffix(place, "/headers/X-Original-Forwarded-For")
		return header && slices.ContainsFunc(a.got.Hits, func(h recorded.Hit) bool {
			return h.By == "auth-0" && place == a.placeOf(h, "X-Original-Forwarded-For")
		})
	}},
	{"an Exact path `/` on a host whose paths are patterns", func(a *asked, _ string) bool {
		winner := a.explained().Winner
		return winner != nil && winner.PathType == "Exact" && winner.Path == "/" &&
			slices.ContainsFunc(a.explained().Locations, func(l explain.Location) bool { return l.Modifier == model.Pattern && l.Path == `^/\z` })
	}},
}

// asksFirst says whether the first request to a backend is a question of auth-url.
func asksFirst(hits []recorded.Hit) bool { return len(hits) > 0 && hits[0].By == "auth-0" }

// placeOf is where a header of a request to a backend stands.
func (a *asked) placeOf(h recorded.Hit, header string) string {
	at := slices.IndexFunc(a.got.Hits, func(other recorded.Hit) bool { return other.By == h.By })
	return fmt.Sprintf("/hits/%d/headers/%s", at, header)
}

// unserved says whether no rule takes the request, so that the host's own 404 answers.
func (a *asked) unserved() bool {
	e := a.explained()
	return e.Winner != nil && e.Winner.Kind == explain.FromFallback && e.Answer.Status == 404
}

// says reports whether explain gives one of the reasons for its answer.
func (a *asked) says(reasons ...string) bool {
	return slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(a.explained().Outcome, reason) })
}

// TestCausesAreRows: each cause is one row of the page.
func TestCausesAreRows(t *testing.T) {
	t.Parallel()
	page := migrate.Page(docs.Differences)
	for _, c := range causes {
		found := 0
		for _, d := range page {
			if strings.HasPrefix(d.What, strings.ReplaceAll(c.row, "`", "")) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%q begins %d rows of docs/differences.md", c.row, found)
		}
	}
}
