package dynamic_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"sluice/internal/dynamic"
)

// TestConnectionThatNoWorkerWasWokenFor asks an nginx whose workers accept a connection
// only when the next one comes. This happens if the worker that the kernel woke for it
// has just stopped accepting.
func TestConnectionThatNoWorkerWasWokenFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	check(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		first, err := l.Accept()
		if err != nil {
			return
		}
		defer first.Close()
		second, err := l.Accept()
		if err != nil {
			return
		}
		defer second.Close()
		if _, err := http.ReadRequest(bufio.NewReader(first)); err == nil {
			body := `{"boot":"b","load":1,"expected":1,"version":7}`
			fmt.Fprintf(first, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	status, err := dynamic.New(path).Status(ctx)
	if err != nil || status.Boot != "b" {
		t.Fatalf("got %+v, %v; want the answer", status, err)
	}
}
