package model

import "slices"

// The sockets of the controller in the folder of nginx's sockets: it reads the spans of
// workers, and what they count for metrics.
const (
	TracesSocket  = "traces.sock"
	MetricsSocket = "metrics.sock"
)

// IsOurSocket reports whether a socket in that folder is the controller's and not nginx's.
func IsOurSocket(name string) bool {
	return slices.Contains([]string{TracesSocket, MetricsSocket}, name)
}
