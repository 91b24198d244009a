package keys

// Unsupported is a key that ingress-nginx knows and Sluice does not read.
type Unsupported struct {
	Key  string
	Fate Fate
	// Off are the values by which nothing is asked for: the key is then only
	// reported, whatever its fate.
	Off []string
}

// Fate is what becomes of an object with an unsupported key.
type Fate string

// The fates. Each comes with a Problem.
const (
	Reported Fate = "reported" // nothing else happens
	Idle     Fate = "idle"     // it has no effect in ingress-nginx either
	Denied   Fate = "denied"   // its paths answer 503
	Withheld Fate = "withheld" // the Ingress is left out
)
