package plugin

import (
	"context"
	"strings"
	"sync"
	"time"
)

// kept is a section as it was read last.
type kept struct {
	section
	source uiSource
	// life is the context of the command, which outlives requests.
	life context.Context

	mu sync.Mutex
	found
	tried   time.Time
	hash    string
	reading chan struct{} // closed at the end of the reading; nil if there is none
}

// found is the result of a reading. table stays that of the last success after a failure.
type found struct {
	table
	// lower has the cells of each row in lower case.
	lower []string
	// at is the time of the table, zero if there is none yet.
	at  time.Time
	err error
}

// staleFor is how long a request waits for a new reading if there is an older one. A failure is
// tried again after retryAfter.
const (
	staleFor   = 1500 * time.Millisecond
	retryAfter = 2 * time.Second
)

// look returns the section, and begins a new reading if it is time. hash is that of the
// present nginx.conf, empty if it is not known.
func (k *kept) look(ctx context.Context, hash string) found {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reading == nil && k.due(hash) {
		done := make(chan struct{})
		k.reading = done
		go k.read(done, hash)
	}
	wait := patience
	if !k.at.IsZero() {
		wait = staleFor
	}
	if reading := k.reading; reading != nil && (k.changed(hash) || time.Since(k.at) > k.fresh) {
		k.mu.Unlock()
		late := time.NewTimer(wait)
		select {
		case <-reading:
		case <-ctx.Done():
		case <-late.C:
		}
		late.Stop()
		k.mu.Lock()
	}
	return k.found
}

// due reports whether it is time to read.
func (k *kept) due(hash string) bool {
	age := time.Since(k.tried)
	if k.err != nil {
		return age >= retryAfter
	}
	return k.changed(hash) || age >= k.fresh
}

// changed reports whether nginx.conf is another one than at the last reading, if that counts.
func (k *kept) changed(hash string) bool { return k.follows && hash != "" && hash != k.hash }

func (k *kept) read(done chan struct{}, hash string) {
	ctx, cancel := context.WithTimeout(k.life, patience)
	defer cancel()
	t, err := k.section.read(ctx, k.source)
	lower := make([]string, len(t.rows))
	for i, row := range t.rows {
		lower[i] = lowered(row)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err, k.tried = err, time.Now()
	if err == nil || len(t.rows) > 0 {
		k.table, k.lower, k.at, k.hash = t, lower, k.tried, hash
	}
	k.reading = nil
	close(done)
}

func lowered(row []cell) string {
	var text strings.Builder
	for _, c := range row {
		text.WriteString(c.text)
		text.WriteByte('\n')
	}
	return strings.ToLower(text.String())
}

// page returns the numbers of some rows that have all words of a search, in any case, and the
// number of all such rows.
func (f *found) page(search string, offset, limit int) (rows []int, matched int) {
	words := strings.Fields(strings.ToLower(search))
	for i, text := range f.lower {
		if !hasAll(text, words) {
			continue
		}
		if matched++; matched > offset && len(rows) < limit {
			rows = append(rows, i)
		}
	}
	return rows, matched
}

func hasAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
