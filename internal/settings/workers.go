package settings

import (
	"strconv"
	"strings"

	"sluice/internal/keys"
)

// Workers is how nginx's processes work.
//
// Without a time to finish, what workers of an older configuration need could
// never be dropped.
type Workers struct {
	// Processes is 0 for as many as there are CPUs.
	Processes       keys.Auto     `key:"worker-processes" default:"auto" doc:"Number of nginx worker processes; auto is the number of CPUs, and no more than the quota of the container allows."`
	ShutdownTimeout keys.Duration `key:"worker-shutdown-timeout" default:"240s" validate:"min=1" doc:"Time that a worker of an older configuration has to finish its connections."`
	// OpenFiles and Connections are 0 where they follow from what the machine
	// allows; render computes them.
	OpenFiles        int        `key:"max-worker-open-files" default:"0" validate:"min=0,max=1073741816" doc:"Files and connections that one worker may have open: at least 256, or 0 for the hard limit of the process less 1024, and no more than the machine allows."`
	Connections      int        `key:"max-worker-connections" default:"16384" validate:"min=0,max=1048576" doc:"Connections that one worker may have open: at least 16, or 0 for three quarters of max-worker-open-files."`
	MultiAccept      bool       `key:"enable-multi-accept" default:"true" empty:"zero" doc:"Whether a worker accepts all waiting connections at once."`
	Affinity         string     `key:"worker-cpu-affinity" empty:"zero" validate:"max=2000,cpu_masks" doc:"CPUs that the workers run on: auto, or for each worker a mask such as 0101."`
	DebugConnections keys.CIDRs `key:"debug-connections" empty:"zero" doc:"Addresses of clients whose requests are written to the error log at level debug, if nginx was built to do so."`
}

// What fewer files and connections than these leave nothing for clients: nginx
// needs some itself, and refuses fewer connections than it has sockets to listen.
const (
	leastOpenFiles   = 256
	leastConnections = 16
)

// AffinityMasks are the words of Affinity.
func (w Workers) AffinityMasks() []string { return strings.Fields(w.Affinity) }

// mend gives the numbers that are too small to work, and puts the defaults in
// their place.
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
