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

// hold acquires or renews the Lease if this replica holds it or the Lease is free. It
// reports whether this replica holds it; without an error, the answer is certain.
func (e *Elector) hold(ctx context.Context) (bool, error) {
	if e.lease != nil && e.IsLeader() {
		// No other replica should have written it, so there is no need to read it
		// first.
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

// lost reports no error if another replica was faster, and err otherwise. The next
// turn reads who that was.
func (e *Elector) lost(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return fmt.Errorf("write the Lease: %w", err)
}

// observe stores the Lease as read. Its age counts from when its renewal was first
// seen, because the times in it are from another clock.
func (e *Elector) observe(lease *coordinationv1.Lease) {
	if e.lease == nil || !sameTerm(&e.lease.Spec, &lease.Spec) {
		e.seen = time.Now()
	}
	e.lease = lease
}

// sameTerm reports whether two versions of a Lease have the same renewal.
func sameTerm(a, b *coordinationv1.LeaseSpec) bool {
	return ptr.Deref(a.HolderIdentity, "") == ptr.Deref(b.HolderIdentity, "") && a.RenewTime.Equal(b.RenewTime) &&
		ptr.Deref(a.LeaseTransitions, 0) == ptr.Deref(b.LeaseTransitions, 0)
}

// free reports whether this replica can take the Lease: it holds it already, nobody
// holds it, or the holder has not renewed it in time.
func (e *Elector) free() bool {
	holder := e.holderNow()
	ttl := time.Duration(ptr.Deref(e.lease.Spec.LeaseDurationSeconds, 0)) * time.Second
	return holder == "" || holder == e.Identity || time.Since(e.seen) >= ttl
}

// holderNow is the holder of the Lease as last read or written.
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

// write makes this replica the holder, if the Lease has not changed since it was
// read.
func (e *Elector) write(ctx context.Context) error {
	lease := e.lease.DeepCopy()
	lease.Spec = e.term(lease.Spec)
	if err := e.Client.Update(ctx, kube.Leases, lease); err != nil {
		return err
	}
	e.observe(lease)
	return nil
}

// term returns the content of the Lease for this replica as the holder, based on its
// previous content.
func (e *Elector) term(spec coordinationv1.LeaseSpec) coordinationv1.LeaseSpec {
	now := metav1.NowMicro()
	if spec.HolderIdentity != nil && *spec.HolderIdentity != e.Identity {
		spec.LeaseTransitions = new(ptr.Deref(spec.LeaseTransitions, 0) + 1)
	}
	if ptr.Deref(spec.HolderIdentity, "") != e.Identity || spec.AcquireTime == nil {
		spec.AcquireTime = new(now)
	}
	// The answer is decoded into the targets of these pointers, so each gets its own
	// copy.
	spec.HolderIdentity, spec.RenewTime = new(e.Identity), new(now)
	// Other replicas must not wait less than the TTL.
	spec.LeaseDurationSeconds = new(int32((e.TTL + time.Second - 1) / time.Second))
	return spec
}

// release stops leading and then clears the holder of the Lease. If that fails, the
// Lease expires.
func (e *Elector) release() {
	led := e.IsLeader()
	e.lead(time.Time{})
	if !led || e.lease == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	err := e.clear(ctx)
	if apierrors.IsConflict(err) {
		// A renewal that was under way has reached the API server, and its answer never came.
		lease := &coordinationv1.Lease{}
		if err = e.Client.Get(ctx, kube.Leases, e.Lease, lease); err == nil && ptr.Deref(lease.Spec.HolderIdentity, "") == e.Identity {
			e.lease = lease
			err = e.clear(ctx)
		}
	}
	if err != nil {
		e.Log.Warn("the Lease is not released; another replica leads when it ends", "lease", e.Lease.String(), "error", err)
	}
}

// clear clears the holder of the Lease, if it has not changed since it was read.
func (e *Elector) clear(ctx context.Context) error {
	lease := e.lease.DeepCopy()
	now := metav1.NowMicro()
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = new(""), new(int32(1))
	lease.Spec.RenewTime, lease.Spec.AcquireTime = new(now), new(now)
	return e.Client.Update(ctx, kube.Leases, lease)
}
