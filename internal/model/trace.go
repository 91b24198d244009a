package model

// TracesSocket is the socket in the folder of nginx's sockets on which the controller reads
// the spans of workers.
const TracesSocket = "traces.sock"

// Trace says how the requests of a location belong to traces (W3C Trace Context).
type Trace struct {
	// Trusts is set if the trace of a client goes on. ParentBased is set if the client
	// then decides whether it has spans.
	Trusts      bool `json:"trusts,omitempty"`
	ParentBased bool `json:"parentBased,omitempty"`
	// Share is the share of the other traces that have spans, a number from 0 to 1.
	Share string `json:"share"`
	// Records is set if spans have a destination.
	Records bool `json:"records,omitempty"`
	// Name is the name of the spans, which may contain variables; empty for that of the
	// method and the path of the rule.
	Name string `json:"name,omitempty"`
}
