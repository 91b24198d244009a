package main

import (
	"bufio"
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// TestLinesOfTheAccessLogStayWhole: while nobody reads, more is logged than there is
// room for. Lines are lost then, and no part of one is passed on without the rest.
func TestLinesOfTheAccessLogStayWhole(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	log, err := piped(writer, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	line := func(n int) string { return fmt.Sprintf("first %d %s last %d\n", n, strings.Repeat("x", 1000), n) }
	write := func(from, to int) {
		var lines strings.Builder
		for n := from; n < to; n++ {
			lines.WriteString(line(n))
		}
		if _, err := log.file.WriteString(lines.String()); err != nil {
			t.Error(err)
		}
	}
	const most = 2 * logRoom / 1000
	write(0, most)
	go func() {
		write(most, most+1000)
		log.flush(20 * time.Second)
		writer.Close()
	}()
	count := 0
	for lines := bufio.NewScanner(reader); lines.Scan(); count++ {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "first %d ", &n); err != nil || !bytes.Equal(append(lines.Bytes(), '\n'), []byte(line(n))) {
			t.Fatalf("line %d is %.60q ... of %d bytes", count, lines.Text(), len(lines.Text()))
		}
	}
	if count < most/4 || count >= most {
		t.Errorf("%d of %d lines arrived", count, most+1000)
	}
}
