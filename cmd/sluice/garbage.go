package main

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage may come upon what is in use before it is
// collected. Go's own 100 has a controller of 5,000 Ingresses hold 20 MB more.
const garbagePercent = 50

// spareMemory has garbage collected sooner from now on, unless the environment says
// how much of it there may be. It is for after the objects were read: that makes
// many times as much garbage as stays in use, so that to collect it as soon would
// cost the start a fifth of its processor time. What reading has left is given back
// to the system beside the first plan: nginx needs room for two configurations soon.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
		go debug.FreeOSMemory()
	}
}
