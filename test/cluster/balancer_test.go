package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/test/kit"
)

// How the balancer finds out who is ready, as a cloud's load balancer or a
// kubelet's readiness probe is set up, only ten times as fast.
const (
	probeEvery     = 100 * time.Millisecond
	probeThreshold = 2 // failures in a row
)

// probeGrace is the --shutdown-grace-period in seconds: several times as long as the
// balancer takes to notice, because a busy machine is slower.
const probeGrace = "3"

// balancer stands in front of sluices. It hands each new connection to the next
// of those that are ready, and never another one: that there is nobody behind
// it is a failed request, as with kube-proxy. Connections that are open go on,
// whatever the probes say.
type balancer struct {
	http, https string // addresses
	targets     []*target
	turn        atomic.Int64
	open        sync.WaitGroup
}

type target struct {
	sluice *Sluice
	ready  atomic.Bool
	// taken counts the connections that it was given.
	taken atomic.Int64
}

// balance runs a balancer until the end of the test.
func balance(t testing.TB, sluices ...*Sluice) *balancer {
	t.Helper()
	b := &balancer{}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		b.open.Wait()
	})
	for _, s := range sluices {
		one := &target{sluice: s}
		b.targets = append(b.targets, one)
		b.open.Go(func() { one.probe(ctx) })
	}
	b.http = b.listen(ctx, t, func(s *Sluice) int { return s.HTTP })
	b.https = b.listen(ctx, t, func(s *Sluice) int { return s.HTTPS })
	return b
}

// listen takes connections for one of the ports of the sluices, until ctx ends.
func (b *balancer) listen(ctx context.Context, t testing.TB, port func(*Sluice) int) (address string) {
	t.Helper()
	address = fmt.Sprintf("127.0.0.1:%d", kit.Port(t))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	context.AfterFunc(ctx, func() { listener.Close() })
	b.open.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			b.open.Go(func() { b.carry(ctx, client.(*net.TCPConn), port) })
		}
	})
	return address
}

// probe asks for readiness until ctx ends.
func (o *target) probe(ctx context.Context) {
	client := &http.Client{Timeout: kit.RequestPatience, Transport: &http.Transport{DisableKeepAlives: true}}
	url := fmt.Sprintf("http://127.0.0.1:%d/readyz", o.sluice.Healthz)
	ticks := time.NewTicker(probeEvery)
	defer ticks.Stop()
	for failed := 0; ; {
		response, err := client.Get(url)
		if err == nil {
			response.Body.Close()
		}
		if err == nil && response.StatusCode == http.StatusOK {
			failed = 0
			o.ready.Store(true)
		} else if failed++; failed >= probeThreshold {
			o.ready.Store(false)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// carry hands a connection on, until both sides have ended it or ctx ends.
func (b *balancer) carry(ctx context.Context, client *net.TCPConn, port func(*Sluice) int) {
	defer client.Close()
	next := b.next()
	if next == nil {
		return
	}
	next.taken.Add(1)
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port(next.sluice)))
	if err != nil {
		return
	}
	join(ctx, client, connection.(*net.TCPConn))
}

// join copies what two connections say to each other, until both have ended or
// ctx ends.
func join(ctx context.Context, a, b *net.TCPConn) {
	defer context.AfterFunc(ctx, func() { a.Close(); b.Close() })()
	defer a.Close()
	defer b.Close()
	var both sync.WaitGroup
	for _, way := range [][2]*net.TCPConn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[1], way[0])
			_ = way[1].CloseWrite()
		})
	}
	both.Wait()
}

// next gives the next target in turn that is ready, nil if none is.
func (b *balancer) next() *target {
	turn := int(b.turn.Add(1))
	for i := range b.targets {
		if one := b.targets[(turn+i)%len(b.targets)]; one.ready.Load() {
			return one
		}
	}
	return nil
}

// await waits until the balancer takes a sluice for ready, or no longer does.
func (b *balancer) await(t testing.TB, s *Sluice, ready bool) {
	t.Helper()
	kit.Await(t, fmt.Sprintf("ready=%t at the balancer", ready), func() bool {
		for _, one := range b.targets {
			if one.sluice == s {
				return one.ready.Load() == ready
			}
		}
		return false
	})
}
