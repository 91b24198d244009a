package election

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"sluice/internal/kube"
)

// hold writes into the Lease that this replica holds it, if that is so or if it
// is free. Without an error the answer is sure.
func (e *Elector) hold(ctx context.Context) (bool, error) {
	if e.lease != nil && e.IsLeader() {
		// As nobody else should have written it, it need not be read again.
		if e.write(ctx) == nil {
			return true, nil
		}
	}
	lease := &coordinationv1.Lease{}
	err := e.Client.Get(ctx, kube.Leases, e.Lease, lease)
	if apierrors.IsNotFound(err) {
		return e.create(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("read the Lease: %w", err)
	}
	e.observe(lease)
	if !e.free() {
		return false, nil
	}
	if err := e.write(ctx); err != nil {
		return false, e.lost(err)
	}
	return true, nil
}

// lost tells that another was faster from other errors. Who it was is read at
// the next turn.
func (e *Elector) lost(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return fmt.Errorf("write the Lease: %w", err)
}

// observe takes over the Lease as it was read. Its age counts from when a
// renewal is first seen, as the times in it are of another clock.
func (e *Elector) observe(lease *coordinationv1.Lease) {
	if e.lease == nil || !sameTerm(&e.lease.Spec, &lease.Spec) {
		e.seen = time.Now()
	}
	e.lease = lease
}

// sameTerm reports whether two forms of a Lease are of one renewal.
func sameTerm(a, b *coordinationv1.LeaseSpec) bool {
	return ptr.Deref(a.HolderIdentity, "") == ptr.Deref(b.HolderIdentity, "") && a.RenewTime.Equal(b.RenewTime) &&
		ptr.Deref(a.LeaseTransitions, 0) == ptr.Deref(b.LeaseTransitions, 0)
}

// free reports whether this replica may write that it holds the Lease: it does
// already, nobody does, or who does has not renewed it in time.
func (e *Elector) free() bool {
	holder := e.holderNow()
	ttl := time.Duration(ptr.Deref(e.lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	return holder == "" || holder == e.Identity || time.Since(e.seen) >= ttl
}

// holderNow is who holds the Lease as it was last read or written.
func (e *Elector) holderNow() string {
	if e.lease == nil {
		return ""
	}
	return ptr.Deref(e.lease.Spec.HolderIdentity, "")
}

func (e *Elector) create(ctx context.Context) (bool, error) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: e.Lease.Namespace, Name: e.Lease.Name}}
	lease.Spec = e.term(lease.Spec)
	e.lease = nil
	if err := e.Client.Create(ctx, kube.Leases, lease); err != nil {
		return false, e.lost(err)
	}
	e.observe(lease)
	return true, nil
}

// write has this replica hold the Lease, if it is still as it was read.
func (e *Elector) write(ctx context.Context) error {
	lease := e.lease.DeepCopy()
	lease.Spec = e.term(lease.Spec)
	if err := e.Client.Update(ctx, kube.Leases, lease); err != nil {
		return err
	}
	e.observe(lease)
	return nil
}

// term is what the Lease says while this replica holds it, after what it said.
func (e *Elector) term(spec coordinationv1.LeaseSpec) coordinationv1.LeaseSpec {
	now := metav1.NowMicro()
	if spec.HolderIdentity != nil && *spec.HolderIdentity != e.Identity {
		spec.LeaseTransitions = new(ptr.Deref(spec.LeaseTransitions, 0) + 1)
	}
	if ptr.Deref(spec.HolderIdentity, "") != e.Identity || spec.AcquireTime == nil {
		spec.AcquireTime = new(now)
	}
	// The answer is read into what these point at, so that each is a copy.
	spec.HolderIdentity, spec.RenewTime = new(e.Identity), new(now)
	// Others must not count less than the TTL.
	spec.LeaseDurationSeconds = new(int32((e.TTL + time.Second - 1) / time.Second))
	return spec
}

// release stops leading and then says so in the Lease. If that fails the Lease
// ends by itself.
func (e *Elector) release() {
	led := e.IsLeader()
	e.lead(time.Time{})
	if !led || e.lease == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	lease := e.lease.DeepCopy()
	now := metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = new(""), new(int32(1))
	lease.Spec.RenewTime, lease.Spec.AcquireTime = new(now), new(now)
	if err := e.Client.Update(ctx, kube.Leases, lease); err != nil {
		e.Log.Warn("the Lease is not released; another replica leads when it ends", "lease", e.Lease.String(), "error", err)
	}
}
