package kube

import (
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// feed is a connection on which pieces come.
type feed struct {
	net.Conn
	pieces chan []byte
	rest   []byte
}

func (f *feed) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		f.rest = <-f.pieces
	}
	for len(f.pieces) > 0 {
		f.rest = append(f.rest, <-f.pieces...)
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// During the start, data is read as it comes. Later, what comes after a rest is read at
// once, what comes soon after that is read together, and a stream that fills each read
// never waits.
func TestWatchesAreReadTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &feed{pieces: make(chan []byte, 1000)}
		var gathering atomic.Bool
		c, began, p := &gatheredConn{Conn: f, gathering: &gathering}, time.Now(), make([]byte, 100)
		read := func(want int, at time.Duration) {
			t.Helper()
			n, err := c.Read(p)
			if n != want || err != nil || time.Since(began) != at {
				t.Errorf("read %d bytes after %v (%v), want %d after %v", n, time.Since(began), err, want, at)
			}
		}
		go func() {
			for range 3 {
				f.pieces <- make([]byte, 7)
				time.Sleep(2 * time.Millisecond)
			}
			time.Sleep(time.Second - 6*time.Millisecond)
			for range 10 {
				f.pieces <- make([]byte, 7)
				time.Sleep(2 * time.Millisecond)
			}
			time.Sleep(time.Second)
			f.pieces <- make([]byte, 7)
			time.Sleep(time.Second)
			f.pieces <- make([]byte, 250)
		}()
		for i := range 3 {
			read(7, time.Duration(i)*2*time.Millisecond)
		}
		gathering.Store(true)
		read(7, time.Second)
		read(9*7, time.Second+gather)
		read(7, 2*time.Second+gather)
		read(100, 3*time.Second+gather)
		read(100, 3*time.Second+gather)
		read(50, 3*time.Second+gather)
	})
}
