package settings

import (
	"strconv"
	"strings"

	"sluice/internal/keys"
)

// Workers configures the processes of nginx. ShutdownTimeout is at least a second, so that
// the runtime state of older workers can be dropped.
type Workers struct {
	Processes       keys.Auto     `key:"worker-processes" default:"auto" doc:"Number of nginx worker processes. auto means the number of CPUs, limited by the CPU quota of the container."`
	ShutdownTimeout keys.Duration `key:"worker-shutdown-timeout" default:"240s" validate:"min=1" doc:"Time in which a worker of an older configuration must finish its connections."`
	// If OpenFiles or Connections is 0, render computes it from the limits of the machine.
	OpenFiles        int        `key:"max-worker-open-files" default:"0" validate:"min=0,max=1073741816" doc:"Maximum number of files and connections of one worker, at least 256. 0 means the hard limit of the process minus 1024. The machine can allow less."`
	Connections      int        `key:"max-worker-connections" default:"16384" validate:"min=0,max=1048576" doc:"Maximum number of connections of one worker, at least 16. 0 means three quarters of max-worker-open-files."`
	MultiAccept      bool       `key:"enable-multi-accept" default:"true" empty:"zero" doc:"Whether a worker accepts all waiting connections at once."`
	Affinity         string     `key:"worker-cpu-affinity" empty:"zero" validate:"max=2000,cpu_masks" doc:"CPUs of the workers: auto, or a mask such as 0101 for each worker."`
	DebugConnections keys.CIDRs `key:"debug-connections" empty:"zero" doc:"Addresses of clients whose requests nginx logs at level debug, if it was built with debug support."`
}

// nginx needs some files and connections itself, and rejects fewer connections than it
// has listening sockets. Fewer than these leave none for clients.
const (
	leastOpenFiles   = 256
	leastConnections = 16
)

// AffinityMasks returns the words of Affinity.
func (w Workers) AffinityMasks() []string { return strings.Fields(w.Affinity) }

// mend reports numbers that are too small, and sets them to their defaults.
func (w *Workers) mend() []keys.Fault {
	var faults []keys.Fault
	for _, c := range []struct {
		key         string
		value       *int
		least, most int
		usual       int
	}{
		{"max-worker-open-files", &w.OpenFiles, leastOpenFiles, 1073741816, 0},
		{"max-worker-connections", &w.Connections, leastConnections, 1048576, 16384},
	} {
		if *c.value > 0 && *c.value < c.least {
			want := "0 or a whole number from " + strconv.Itoa(c.least) + " to " + strconv.Itoa(c.most)
			faults = append(faults, keys.Fault{Key: c.key, Value: strconv.Itoa(*c.value), Want: want})
			*c.value = c.usual
		}
	}
	return faults
}
