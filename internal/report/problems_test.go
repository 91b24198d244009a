package report

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// reporter gives a Reporter and what it has logged.
func reporter() (*Reporter, *bytes.Buffer) {
	var log bytes.Buffer
	return New(slog.New(slog.NewTextHandler(&log, nil))), &log
}

func TestProblemIsSaidOnceAndSoIsItsEnd(t *testing.T) {
	t.Parallel()
	r, log := reporter()
	problem := model.Problem{Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}, Field: "limit-rps", Reason: model.InvalidValue, Text: "want a number"}
	for range 3 {
		r.Problems([]model.Problem{problem, problem})
	}
	if n := strings.Count(log.String(), "want a number"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log)
	}
	r.Problems(nil)
	r.Problems(nil)
	if n := strings.Count(log.String(), "problem mended"); n != 1 {
		t.Errorf("its end was said %d times:\n%s", n, log)
	}
}

func TestSourceErrorIsSaidAgainAfterItsEndWas(t *testing.T) {
	t.Parallel()
	r, log := reporter()
	broken := []error{errors.New("a.yaml: document 1: want YAML")}
	notes := []snapshot.Note{{File: "b.yaml", Document: 2, Text: "passed over: kind Deployment"}}
	r.Source(notes, broken)
	r.Source(notes, broken)
	r.Source(nil, nil)
	r.Source(notes, broken)
	for text, want := range map[string]int{`error="a.yaml`: 2, `"read again" was="a.yaml`: 1, "b.yaml": 2, "read again": 1} {
		if n := strings.Count(log.String(), text); n != want {
			t.Errorf("%s was said %d times, want %d:\n%s", text, n, want, log)
		}
	}
}
