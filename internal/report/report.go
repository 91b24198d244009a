// Package report logs the results of a sync. It takes Problems and figures, and
// writes one line for each sync, one for each new Problem, and one for each Problem
// that is fixed.
package report

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Reporter remembers what it has logged, so that it logs nothing twice.
type Reporter struct {
	log      *slog.Logger
	problems []model.Problem
	// source holds the texts logged about the source; true marks an error.
	source   map[string]bool
	troubles map[string]string
}

// New returns a Reporter that writes to log.
func New(log *slog.Logger) *Reporter {
	return &Reporter{log: log, source: map[string]bool{}, troubles: map[string]string{}}
}

// Problems logs the Problems that are new and those that are gone. The list is the
// complete current one and must not change afterwards. A list that model.Joined
// returns again costs nothing.
func (r *Reporter) Problems(problems []model.Problem) {
	if model.SameProblems(r.problems, problems) {
		return
	}
	if !strictlySorted(problems) {
		problems = model.SortProblems(slices.Clone(problems))
	}
	came, went := model.Differing(r.problems, problems)
	for _, p := range came {
		r.log.Warn("problem", "object", p.Object.String(), "field", p.Field, "reason", string(p.Reason), "text", p.Text, "denies", p.Denies)
	}
	for _, p := range went {
		r.log.Info("problem mended", "object", p.Object.String(), "field", p.Field, "reason", string(p.Reason))
	}
	r.problems = problems
}

// strictlySorted reports whether a list is sorted as by model.SortProblems.
func strictlySorted(problems []model.Problem) bool {
	for i := 1; i < len(problems); i++ {
		if problems[i-1].Compare(problems[i]) >= 0 {
			return false
		}
	}
	return true
}

// Source logs the notes and errors of the source that are new. Both lists are the
// complete current ones.
func (r *Reporter) Source(notes []snapshot.Note, errs []error) {
	now := make(map[string]bool, len(notes)+len(errs))
	for _, err := range errs {
		now[err.Error()] = true
		if !r.source[err.Error()] {
			r.log.Error("cannot be read; the last state is kept", "error", err)
		}
	}
	for text, failed := range r.source {
		if failed && !now[text] {
			r.log.Info("read again", "was", text)
		}
	}
	for _, note := range notes {
		line := note.String()
		if _, logged := r.source[line]; !logged {
			r.log.Info("note", "text", line)
		}
		now[line] = false
	}
	r.source = now
}

// Trouble logs the first error of an operation that is retried, and the end of the
// trouble. err is the latest result, nil for success. It reports whether there is
// trouble.
func (r *Reporter) Trouble(what string, err error) bool {
	was := r.troubles[what]
	switch {
	case err == nil && was != "":
		delete(r.troubles, what)
		r.log.Info("mended: " + what)
	case err != nil && err.Error() != was:
		r.troubles[what] = err.Error()
		r.log.Error(what, "error", err)
	}
	return err != nil
}

// SyncLine is the content of the log line of one sync. Stages that did not run have a
// zero duration.
type SyncLine struct {
	Took, Load, Decide, Push time.Duration
	Test, Live, Settled      time.Duration
	Ingresses, Servers       int
	Changed, Bytes           int
	Reload                   bool
	// Cause is the cause of the reload, or of the attempt if Err is set; "" without one.
	Cause string
	Err   error
	What  []Changes
}

// Changes are the changed things of one kind.
type Changes struct {
	Kind  string // such as "hosts"
	Names []string
}

// mostNames is the maximum number of names of one kind in a log line.
const mostNames = 5

// list returns the first names and the number of the others.
func (c Changes) list() []string {
	if len(c.Names) <= mostNames {
		return c.Names
	}
	return append(slices.Clone(c.Names[:mostNames]), fmt.Sprintf("+%d", len(c.Names)-mostNames))
}

// Sync writes the line of one sync.
func (r *Reporter) Sync(s SyncLine) {
	attributes := []any{
		"took", round(s.Took), "reload", s.Reload, "changed", s.Changed, "problems", len(r.problems),
		"ingresses", s.Ingresses, "servers", s.Servers,
		"load", round(s.Load), "decide", round(s.Decide), "push", round(s.Push),
	}
	for _, changes := range s.What {
		if len(changes.Names) > 0 {
			attributes = append(attributes, changes.Kind, changes.list())
		}
	}
	if s.Bytes > 0 {
		attributes = append(attributes, "bytes", s.Bytes, "test", round(s.Test), "live", round(s.Live), "settled", round(s.Settled))
	}
	if s.Err != nil {
		r.log.Error("sync failed; nginx keeps its configuration", append(attributes, "error", s.Err)...)
		return
	}
	r.log.Info("sync", attributes...)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
