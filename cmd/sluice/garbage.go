package main

import (
	"os"
	"runtime/debug"
)

// garbagePercent is GOGC. With Go's default of 100, a controller of 5,000 Ingresses needs
// 20 MB more.
const garbagePercent = 50

// spareMemory sets GOGC, unless the environment has it. Call it after reading the objects:
// that makes far more garbage than live data, and collecting it so often would cost a fifth
// of the CPU time of the start. It also returns free memory to the system, because nginx
// soon needs room for two configurations.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
		go debug.FreeOSMemory()
	}
}
