package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

// watchFormats are the formats of --watch.
var watchFormats = []string{asTable, asWide, asJSON}

// The controller answers after watchWait seconds if nothing changes. watchSlack is the time
// for the answer itself. After a failure, it is looked for again after watchPause.
const (
	watchWait  = 25
	watchSlack = 15 * time.Second
	watchPause = time.Second
)

// watchProblems prints Problems as they come and go, until ctx ends. Only the first question
// has to succeed.
func (s *session) watchProblems(ctx context.Context, v *view, q question) error {
	w := problemWatch{output: v.output(v.chosen)}
	c, err := s.controller(ctx, v.pods)
	failing := false
	for ctx.Err() == nil {
		var body []byte
		if err == nil {
			body, err = w.ask(ctx, c, q)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			if failing {
				s.note("pod %s/%s answers", c.pod.Namespace, c.pod.Name)
			}
			failing = false
			if err := w.take(body); err != nil {
				return err
			}
			continue
		case w.sum == "":
			return err
		case !failing:
			s.note("the controller does not answer any more; looking for one again (%v)", err)
			failing = true
		}
		select {
		case <-ctx.Done():
		case <-time.After(watchPause):
			c, err = v.pods.first(ctx, s)
		}
	}
	return nil
}

// first returns the controller as pick does, without a note.
func (f *podFlags) first(ctx context.Context, s *session) (*controller, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, watchSlack)
	defer cancel()
	pods, err := f.find(ctx, c)
	if err != nil {
		return nil, err
	}
	return f.at(c, &pods[0])
}

// problemWatch prints the differences between answers.
type problemWatch struct {
	output
	// sum is that of the last answer, whose Problems are known by their text.
	sum    string
	known  map[string]bool
	widths []int
}

// ask waits for an answer that differs from the last one, and returns any.
func (w *problemWatch) ask(ctx context.Context, c *controller, q question) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, watchWait*time.Second+watchSlack)
	defer cancel()
	query := maps.Clone(q.query)
	if w.sum != "" {
		query.Set(debugapi.SinceParam, w.sum)
		query.Set(debugapi.WaitParam, strconv.Itoa(watchWait))
	}
	return c.get(ctx, q.path, query)
}

// problemEvent is a line of JSON.
type problemEvent struct {
	// Event is ADDED or REMOVED.
	Event   string          `json:"event"`
	Problem json.RawMessage `json:"problem"`
}

const (
	added   = "ADDED"
	removed = "REMOVED"
)

// take prints how an answer differs from the last one: first the Problems that went, then
// those that came.
func (w *problemWatch) take(body []byte) error {
	sum := sha256.Sum256(body)
	before := w.sum
	if w.sum = hex.EncodeToString(sum[:]); w.sum == before {
		return nil
	}
	now, err := decode[[]json.RawMessage](body)
	if err != nil {
		return err
	}
	known, came := make(map[string]bool, len(now)), []problemEvent{}
	for _, problem := range now {
		var line bytes.Buffer
		if err := json.Compact(&line, problem); err != nil {
			return err
		}
		text := line.String()
		if !w.known[text] && !known[text] {
			came = append(came, problemEvent{added, json.RawMessage(text)})
		}
		known[text] = true
	}
	went := []problemEvent{}
	for _, text := range slices.Sorted(maps.Keys(w.known)) {
		if !known[text] {
			went = append(went, problemEvent{removed, json.RawMessage(text)})
		}
	}
	first := w.known == nil
	w.known = known
	return w.print(append(went, came...), first)
}

func (w *problemWatch) print(events []problemEvent, first bool) error {
	if w.format == asJSON {
		encoder := json.NewEncoder(w.output)
		encoder.SetEscapeHTML(false)
		for _, e := range events {
			if err := encoder.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := table{heading: []string{"EVENT", "OBJECT", "REASON", "FIELD", "TEXT"}, continues: !first, widths: w.widths}
	for _, e := range events {
		p, err := decode[model.Problem](e.Problem)
		if err != nil {
			return err
		}
		event := cell{e.Event, yellow}
		if e.Event == removed {
			event.colour = green
		}
		t.rows = append(t.rows, append([]cell{event}, problemRow(p)...))
	}
	var err error
	w.widths, err = w.rows(t)
	return err
}
