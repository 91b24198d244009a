// Package giveway lets other goroutines run within the long loops of the core.
//
// Go itself interrupts a goroutine only after 10 ms, and a review of the admission webhook, for which a client waits, should
// not wait so long for a sync. A review gives way too, before its first step: without that, syncs beside many reviews take
// more than twice as long.
package giveway

import "runtime"

// uninterrupted is the number of steps between which other goroutines do not get the processor.
const uninterrupted = 8

// Sometimes gives way before some steps of a loop, each for an Ingress or a host. The first step is 0.
func Sometimes(step int) {
	if step%uninterrupted == 0 {
		Now()
	}
}

// Now gives way, for loops with longer steps.
func Now() { runtime.Gosched() }
