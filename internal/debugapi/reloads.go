package debugapi

import "time"

// MostReloads is the number of attempts that ReloadsPath answers with at most.
const MostReloads = 50

// Reload is an attempt to load an nginx.conf.
type Reload struct {
	// At is its end.
	At time.Time `json:"at"`
	// Cause is start, restart (of nginx), templates, settings, streams, passthrough, hosts, or
	// other: the first that holds.
	Cause string `json:"cause"`
	// Changed are the changes since the configuration that was loaded before.
	Changed []Changed `json:"changed"`
	// Bytes and Lines are the size of nginx.conf; BytesMore is how much larger it is than the one
	// before. LinesAdded and LinesRemoved differ, wherever they are.
	Bytes        int `json:"bytes"`
	BytesMore    int `json:"bytesMore"`
	Lines        int `json:"lines"`
	LinesAdded   int `json:"linesAdded"`
	LinesRemoved int `json:"linesRemoved"`
	// Seconds are the durations of the stages.
	Seconds Stages `json:"seconds"`
	// Error is empty if nginx loaded it.
	Error string `json:"error,omitempty"`
	// Repeated is the number of further attempts that ended with the same error.
	Repeated int `json:"repeated,omitempty"`
}

// Changed are the changed things of one kind: "ingresses" and "secrets", which are objects;
// "hosts", "streams", "passedThrough", "services" and "certificates", of which nginx serves
// others; or "everywhere", with templates or settings. With "Gone" at the end of the kind they
// are those that are no longer served.
type Changed struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	// Names are the first ones.
	Names []string `json:"names"`
}

// Stages are durations in seconds, 0 for a stage that did not run.
type Stages struct {
	// All is from the reading of the objects to the end. Load reads objects, Decide makes
	// nginx.conf, and Push sends endpoints and certificates.
	All    float64 `json:"all"`
	Load   float64 `json:"load"`
	Decide float64 `json:"decide"`
	Push   float64 `json:"push"`
	// Test is nginx's test. Live is until all new workers had registered, and Settled until no
	// older one accepted connections.
	Test    float64 `json:"test"`
	Live    float64 `json:"live"`
	Settled float64 `json:"settled"`
}
