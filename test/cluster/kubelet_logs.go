package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"
)

// logbook has the lines of a file with the moment each was read, as a container
// runtime keeps those that a container prints.
type logbook struct {
	done context.CancelFunc

	mu    sync.Mutex
	lines []logLine
	grown chan struct{} // closed, and replaced, when lines are added
}

type logLine struct {
	at   time.Time
	text []byte // with its end
}

// newLogbook reads a file as it grows; it need not be there yet.
func newLogbook(path string) *logbook {
	ctx, cancel := context.WithCancel(context.Background())
	b := &logbook{done: cancel, grown: make(chan struct{})}
	go b.follow(ctx, path)
	return b
}

// close reads no further.
func (b *logbook) close() { b.done() }

func (b *logbook) follow(ctx context.Context, path string) {
	var file *os.File
	err := poll(ctx, func(context.Context) (err error) {
		file, err = os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil // with no file if it cannot be read
	})
	if err != nil || file == nil {
		return
	}
	defer file.Close()
	var rest []byte
	for ctx.Err() == nil {
		added, err := io.ReadAll(file)
		if err != nil {
			return
		}
		rest = b.add(append(rest, added...))
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

// add takes the whole lines of a text, and gives what is left of it.
func (b *logbook) add(text []byte) (rest []byte) {
	end := bytes.LastIndexByte(text, '\n') + 1
	if end == 0 {
		return text
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for line := range bytes.Lines(text[:end]) {
		b.lines = append(b.lines, logLine{now, bytes.Clone(line)})
	}
	close(b.grown)
	b.grown = make(chan struct{})
	return bytes.Clone(text[end:])
}

// from gives the lines from an index on, and a channel that is closed when there
// are more.
func (b *logbook) from(index int) ([]logLine, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines[index:], b.grown
}

// logOptions are those of pods/log.
type logOptions struct {
	Follow, Timestamps, Previous bool
	Tail, Limit                  int64 // -1 for all
	Since                        time.Time
}

// readLogOptions takes what the API server has checked already.
func readLogOptions(query url.Values) (logOptions, error) {
	o := logOptions{Follow: query.Get("follow") == "true", Timestamps: query.Get("timestamps") == "true", Previous: query.Get("previous") == "true"}
	seconds := int64(-1)
	for name, into := range map[string]*int64{"tailLines": &o.Tail, "limitBytes": &o.Limit, "sinceSeconds": &seconds} {
		*into = -1
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return o, err
			}
			*into = value
		}
	}
	if seconds >= 0 {
		o.Since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		var err error
		if o.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return o, err
		}
	}
	return o, nil
}

// write sends lines until there are no more or, if they are followed, until the
// client goes.
func (b *logbook) write(ctx context.Context, w http.ResponseWriter, o logOptions) {
	next := 0
	if all, _ := b.from(0); o.Tail >= 0 {
		next = max(0, len(all)-int(o.Tail))
	}
	left := o.Limit
	for {
		lines, grown := b.from(next)
		next += len(lines)
		for _, line := range lines {
			text := line.print(o)
			if left >= 0 {
				text = text[:min(int64(len(text)), left)]
				left -= int64(len(text))
			}
			if _, err := w.Write(text); err != nil {
				return
			}
		}
		_ = http.NewResponseController(w).Flush()
		if !o.Follow || left == 0 {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

// print gives a line as it is asked for, nothing if it is too old.
func (l logLine) print(o logOptions) []byte {
	if l.at.Before(o.Since) {
		return nil
	}
	if !o.Timestamps {
		return l.text
	}
	const fixed = "2006-01-02T15:04:05.000000000Z07:00" // as a kubelet's, with all its digits
	return append(l.at.UTC().AppendFormat(nil, fixed+" "), l.text...)
}
