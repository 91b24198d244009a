package kube

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// gather is how long a connection of watches is not read after a read that emptied it.
// While thousands of objects change, each event would wake this process several times,
// which costs more than the processing of the event. After that time, the next event is
// read at once.
const gather = 20 * time.Millisecond

// forWatches returns config with its own connections, which combine reads while gathering
// is set.
func forWatches(config *rest.Config, gathering *atomic.Bool) *rest.Config {
	config = rest.CopyConfig(config)
	connect := config.Dial
	if connect == nil { // the default of client-go
		connect = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := connect(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &gatheredConn{Conn: c, gathering: gathering}, nil
	}
	return config
}

// gatheredConn reads data that arrives within a moment together. Only one goroutine may
// read from it.
type gatheredConn struct {
	net.Conn
	gathering *atomic.Bool
	// emptied is the time of a read that left no data; zero if there can be more.
	emptied time.Time
}

// Read implements net.Conn.
func (c *gatheredConn) Read(p []byte) (int, error) {
	if !c.emptied.IsZero() {
		time.Sleep(gather - time.Since(c.emptied))
	}
	n, err := c.Conn.Read(p)
	c.emptied = time.Time{}
	if n < len(p) && c.gathering.Load() {
		c.emptied = time.Now()
	}
	return n, err
}
