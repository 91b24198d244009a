package model

// Unplaced is a path of an object that has no location of its own on a host, where no
// Problem says so.
type Unplaced struct {
	Object ObjectRef
	Host   string
	Field  string // of the path
	Cause  Cause
	// Text is the cause in words, about the path.
	Text string
}

// Cause is why a path has no location.
type Cause string

// The causes.
const (
	SaidBefore Cause = "Repeated"   // its object has the same path before
	SharesPath Cause = "SharesPath" // it is a canary, which gets requests of another object's location
	PathsFirst Cause = "PathsFirst" // it is a default backend, and a path of the host takes all requests
)
