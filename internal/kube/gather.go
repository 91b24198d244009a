package kube

import (
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"
)

// gather is how long a connection of watches is left alone after all was read that had
// come. While thousands of objects change, each event would wake this process up
// several times, which costs more than what is then done with the event. An event that
// comes after that time is read at once.
const gather = 20 * time.Millisecond

// flood is what a read gives of a list rather than of single events, in bytes: more of it is
// on the way, and is read at once.
const flood = 4096

// forWatches is config with connections of its own, which gather what they are told.
func forWatches(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	connect := config.Dial
	if connect == nil { // as client-go has it
		connect = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := connect(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &gatheredConn{Conn: c}, nil
	}
	return config
}

// gatheredConn reads what comes within a moment together. One goroutine reads.
type gatheredConn struct {
	net.Conn
	// emptied is when all was read that had come; zero if there may be more.
	emptied time.Time
}

// Read is that of a net.Conn.
func (c *gatheredConn) Read(p []byte) (int, error) {
	if !c.emptied.IsZero() {
		time.Sleep(gather - time.Since(c.emptied))
	}
	n, err := c.Conn.Read(p)
	c.emptied = time.Time{}
	if n < len(p) && n < flood {
		c.emptied = time.Now()
	}
	return n, err
}
