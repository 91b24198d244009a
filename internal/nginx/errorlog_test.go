package nginx

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErrorLogPassesAllOn(t *testing.T) {
	t.Parallel()
	text := "2026/01/02 03:04:05 [notice] 7#7: hello\n" +
		"2026/01/02 03:04:05 [error] 8#8: a worker's\n" +
		strings.Repeat("x", 200_000) + "\n" +
		"2026/01/02 03:04:05 [emerg] 7#7: bad\n" +
		"nginx: [alert] early\n" +
		"2026/01/02 03:04:05 [error] 7#7: *5 the master's\n" +
		"without an end"
	out := &recorder{}
	l := &errorLog{out: out, master: 7}
	l.follow(io.NopCloser(strings.NewReader(text)))
	if out.String() != text {
		t.Errorf("%d bytes passed on, want %d", len(out.String()), len(text))
	}
	want := []severeLine{{"emerg", 7, "bad"}, {"alert", 0, "early"}, {"error", 7, "the master's"}}
	if diff := cmp.Diff(want, l.since(0)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], l.since(1)); diff != "" {
		t.Error(diff)
	}
}

func TestErrorLogKeepsTheLast(t *testing.T) {
	t.Parallel()
	l := &errorLog{out: io.Discard}
	for i := range 3 * keptLines {
		l.note(fmt.Appendf(nil, "nginx: [emerg] %d\n", i))
	}
	got := l.since(0)
	if len(got) != keptLines || got[keptLines-1].Text != fmt.Sprint(3*keptLines-1) {
		t.Errorf("%d lines, the last is %v", len(got), got[len(got)-1])
	}
	if got := l.since(l.mark()); len(got) != 0 {
		t.Errorf("after the last: %v", got)
	}
}

// writes keeps each write separately.
type writes []string

func (w *writes) Write(text []byte) (int, error) {
	*w = append(*w, string(text))
	return len(text), nil
}

// TestLongLinesOfTheLogArePassedWhole, because a reader may lose one write and get the
// next. Longer lines are left out.
func TestLongLinesOfTheLogArePassedWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000) + "\n"
	var got writes
	Pass(io.NopCloser(strings.NewReader("one\n"+long+"two\n"+strings.Repeat(long[:100_000], 20)+"\nthree\nwithout an end")), &got)
	if diff := cmp.Diff(writes{"one\n", long, "two\n", "three\n", "without an end"}, got); diff != "" {
		t.Errorf("%.2000s", diff)
	}
}
