// Package report tells people what became of their objects. What goes in are
// Problems and figures; what comes out is one log line a sync, one for each new
// Problem and one for each that was mended.
package report

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Reporter remembers what it has said, so that nothing is said twice.
type Reporter struct {
	log      *slog.Logger
	problems []model.Problem
	// source has what was said of the source; true stands for an error.
	source   map[string]bool
	troubles map[string]string
}

// New gives a Reporter that writes to log.
func New(log *slog.Logger) *Reporter {
	return &Reporter{log: log, source: map[string]bool{}, troubles: map[string]string{}}
}

// Problems takes the problems as they are now; the list must not be changed after
// that. One that model.Joined gave again costs nothing.
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

// strictlySorted reports whether a list is as model.SortProblems makes it.
func strictlySorted(problems []model.Problem) bool {
	for i := 1; i < len(problems); i++ {
		if problems[i-1].Compare(problems[i]) >= 0 {
			return false
		}
	}
	return true
}

// Source takes what the source passed over and could not read, as it is now.
func (r *Reporter) Source(notes []snapshot.Note, errs []error) {
	now := make(map[string]bool, len(notes)+len(errs))
	for _, err := range errs {
		now[err.Error()] = true
		if !r.source[err.Error()] {
			r.log.Error("not read; what it gave before is kept", "error", err)
		}
	}
	for text, failed := range r.source {
		if failed && !now[text] {
			r.log.Info("read again", "was", text)
		}
	}
	for _, note := range notes {
		line := note.String()
		if _, said := r.source[line]; !said {
			r.log.Info("note", "text", line)
		}
		now[line] = false
	}
	r.source = now
}

// Trouble takes how something of our own goes, which is tried again and again:
// an error is logged once, and its end too. It reports whether there is one.
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

// SyncLine is what is said of one sync. Durations of stages that did not happen
// are zero.
type SyncLine struct {
	Took, Load, Decide, Push time.Duration
	Test, Live, Settled      time.Duration
	Ingresses, Servers       int
	Changed, Bytes           int
	Reload                   bool
	Err                      error
	What                     []Changes
}

// Changes are the things of one kind that changed.
type Changes struct {
	Kind  string // such as "hosts"
	Names []string
}

// mostNames bounds how many things of a kind a line names.
const mostNames = 5

// list gives the first names, and how many more there are.
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
		r.log.Error("sync failed; what ran before goes on", append(attributes, "error", s.Err)...)
		return
	}
	r.log.Info("sync", attributes...)
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
