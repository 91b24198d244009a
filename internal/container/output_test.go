package container

import (
	"bytes"
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
	if kept*len(line) < room/2 || kept*len(line) > room {
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
