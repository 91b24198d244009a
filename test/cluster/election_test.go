package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
	"sluice/internal/report/election"
	"sluice/internal/snapshot"
)

// wire is a way to the API server that can be cut.
type wire struct {
	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isCut {
		return nil, errors.New("cut")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		w.conns = append(w.conns, conn)
	}
	return conn, err
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for _, conn := range w.conns {
		conn.Close()
	}
}

// elector runs one that asks for a Lease of the test, until stop.
func (c *Cluster) elector(t *testing.T, lease snapshot.Name, identity string, ttl time.Duration) (e *election.Elector, w *wire, stop func()) {
	t.Helper()
	w = &wire{}
	client, err := kube.Connect(kube.Options{Kubeconfig: c.Kubeconfig(t, identity, "system:masters"), QPS: 50, Burst: 50, UserAgent: identity, Dial: w.dial})
	if err != nil {
		t.Fatal(err)
	}
	e = election.New(election.Options{Client: client, Lease: lease, Identity: identity, TTL: ttl, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { e.Run(ctx); close(ended) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return e, w, stop
}

// awaitLeader waits until one of some electors leads. It looks at all of them
// each time: never may two lead.
func awaitLeader(t *testing.T, want *election.Elector, all ...*election.Elector) (took time.Duration) {
	t.Helper()
	began := time.Now()
	Eventually(t, "another leader", func(context.Context) error {
		leaders := slices.DeleteFunc(slices.Clone(all), func(e *election.Elector) bool { return !e.IsLeader() })
		switch {
		case len(leaders) > 1:
			t.Fatal("two lead at the same time")
		case len(leaders) == 1 && leaders[0] == want:
			return nil
		}
		return errors.New("it is not yet so")
	})
	return time.Since(began)
}

// TestElectionOnTheAPIServer: three replicas, one Lease; the leader ends in good
// order, and the next is cut off.
func TestElectionOnTheAPIServer(t *testing.T) {
	t.Parallel()
	const ttl = leaseTTL
	c := Shared(t)
	c.Apply(t, Namespace("elected"))
	lease := snapshot.Name{Namespace: "elected", Name: "leader"}
	t.Cleanup(func() {
		c.Delete(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: lease.Namespace, Name: lease.Name}})
	})
	a, _, stopA := c.elector(t, lease, "a", ttl)
	awaitLeader(t, a, a)
	b, wireOfB, _ := c.elector(t, lease, "b", ttl)
	awaitLeader(t, a, a, b)
	stopA()
	if holder := *c.leaseSpec(t, lease).HolderIdentity; holder == "a" {
		t.Error("after an orderly exit, a still holds the Lease: nobody leads until it ends")
	}
	awaitLeader(t, b, a, b)
	e, _, _ := c.elector(t, lease, "e", ttl)
	Eventually(t, "e to hear of b", func(context.Context) error {
		if e.LeaderIdentity() != "b" {
			return errors.New("it has not")
		}
		return nil
	})
	awaitLeader(t, b, a, b, e)
	wireOfB.cut()
	if took := awaitLeader(t, e, a, b, e); took < ttl/2 {
		t.Errorf("to lead after the leader was cut off took %s, but it could have led for longer", took)
	}
	spec := c.leaseSpec(t, lease)
	if *spec.HolderIdentity != "e" || *spec.LeaseTransitions != 2 || *spec.LeaseDurationSeconds != int32(ttl.Seconds()) {
		t.Errorf("the Lease says %v", spec)
	}
}

// leaseSpec returns the Lease as the API server has it.
func (c *Cluster) leaseSpec(t *testing.T, lease snapshot.Name) coordinationv1.LeaseSpec {
	t.Helper()
	l, err := c.clients.CoordinationV1().Leases(lease.Namespace).Get(t.Context(), lease.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return l.Spec
}
