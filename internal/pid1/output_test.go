package pid1

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// TestOutputNeverWaits: while nobody reads, lines are taken, those for which there
// is no room are lost, and their number is told, once, when somebody reads again.
func TestOutputNeverWaits(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	const room = 1 << 20
	o := NewOutput(writer, room)
	o.TellIn(slog.New(slog.NewTextHandler(o, nil)))
	line := strings.Repeat("x", 1023) + "\n"
	for range 2 * room / len(line) {
		if n, err := io.WriteString(o, line); n != len(line) || err != nil {
			t.Fatalf("%d bytes taken, error %v", n, err)
		}
	}
	o.Flush(10 * time.Millisecond) // does not wait for ever
	var read bytes.Buffer
	buffer := make([]byte, 64<<10)
	for !strings.Contains(read.String(), "lines are lost") {
		n, err := reader.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		read.Write(buffer[:n])
	}
	kept := strings.Count(read.String(), line)
	if kept*len(line) < room/2 || kept*len(line) > room+64<<10 { // the pipe itself has room, too
		t.Errorf("%d lines of %d bytes were kept", kept, len(line))
	}
	if want := fmt.Sprintf("lines=%d\n", 2*room/len(line)-kept); !strings.HasSuffix(read.String(), want) {
		t.Errorf("the end is %.200q, want %q", read.String()[read.Len()-200:], want)
	}
}

// TestOutputKeepsOrder and loses nothing while somebody reads.
func TestOutputKeepsOrder(t *testing.T) {
	t.Parallel()
	var got, want bytes.Buffer
	o := NewOutput(&got, 1<<20)
	for n := range 10_000 {
		line := fmt.Sprintf("line %d\n", n)
		want.WriteString(line)
		_, _ = io.WriteString(o, line)
	}
	o.Flush(20 * time.Second)
	if got.String() != want.String() {
		t.Errorf("%d bytes of %d", got.Len(), want.Len())
	}
}

// scarce is a writer with room for some bytes; then it fails.
type scarce struct {
	got  bytes.Buffer
	room int
}

func (s *scarce) Write(text []byte) (int, error) {
	n := min(len(text), s.room)
	s.room -= n
	s.got.Write(text[:n])
	if n < len(text) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

// TestOutputTellsOfLinesThatCannotBeWritten: they count as lost, and the line in which
// a write ended is closed before the next one.
func TestOutputTellsOfLinesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	to := &scarce{room: len("line 0\nlin")}
	o := NewOutput(to, 1<<20)
	o.TellIn(slog.New(slog.NewTextHandler(o, nil)))
	_, _ = io.WriteString(o, "line 0\nline 1\nline 2\n")
	o.Flush(20 * time.Second)
	_, _ = io.WriteString(o, "line 3\nline 4\n")
	o.Flush(20 * time.Second)
	if got, want := to.got.String(), "line 0\nlin"; got != want {
		t.Fatalf("without room: %q, want %q", got, want)
	}
	to.room = 1 << 20
	_, _ = io.WriteString(o, "line 5\n")
	o.Flush(20 * time.Second)
	if got := to.got.String(); !strings.HasPrefix(got, "line 0\nlin\nline 5\n") || !strings.HasSuffix(got, "lines=4\n") {
		t.Errorf("got %q", got)
	}
}

// TestFlushWaitsForTheNumberOfLostLines, which is told after the lines before them.
func TestFlushWaitsForTheNumberOfLostLines(t *testing.T) {
	t.Parallel()
	to := &scarce{room: 1 << 20}
	o := NewOutput(to, 16)
	o.tell = func(lost int) {
		time.Sleep(50 * time.Millisecond)
		fmt.Fprintf(o, "lost %d\n", lost)
	}
	o.lost = 2
	_, _ = io.WriteString(o, "line 0\n")
	o.Flush(20 * time.Second)
	if got := to.got.String(); got != "line 0\nlost 2\n" {
		t.Errorf("got %q", got)
	}
}

// TestOutputGivesTheMemoryOfAStallBack, once all is written.
func TestOutputGivesTheMemoryOfAStallBack(t *testing.T) {
	t.Parallel()
	o := NewOutput(io.Discard, 8<<20)
	for range 3 {
		_, _ = o.Write(make([]byte, 4<<20))
		o.Flush(20 * time.Second)
	}
	for range 3 {
		_, _ = io.WriteString(o, "line\n")
		o.Flush(20 * time.Second)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if held := cap(o.pending); held > 1<<20 {
		t.Errorf("%d bytes are held for the next lines", held)
	}
}
