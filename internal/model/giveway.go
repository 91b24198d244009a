package model

import "runtime"

// uninterrupted is the number of steps between which other goroutines do not get the processor.
const uninterrupted = 8

// GiveWay lets other goroutines run before some steps of a long loop, of which the first is 0. Go
// itself interrupts a goroutine only after 10 ms, and a review of the admission webhook, for which a
// client waits, should not wait so long for a sync. A step is an Ingress or a host. A review gives
// way too, before its first step: without that, syncs beside many reviews take more than twice as
// long.
func GiveWay(step int) {
	if step%uninterrupted == 0 {
		runtime.Gosched()
	}
}
