package debugapi

import "time"

// Traffic are counts of requests since the controller began. A client asks twice and takes
// the difference. nginx's workers send their counts each half second.
type Traffic struct {
	At time.Time `json:"at"`
	// Bounds are the upper bounds of the buckets of Times in seconds.
	Bounds []float64 `json:"bounds"`
	// Ingresses are sorted by namespace and name. The first one may be of requests that no
	// Ingress takes, without a name.
	Ingresses []IngressTraffic `json:"ingresses"`
}

// IngressTraffic are the requests of one Ingress.
type IngressTraffic struct {
	Namespace string `json:"namespace"`
	Ingress   string `json:"ingress"`
	Requests  uint64 `json:"requests"`
	// ClientErrors have a status from 400 to 499, ServerErrors one from 500.
	ClientErrors uint64 `json:"clientErrors"`
	ServerErrors uint64 `json:"serverErrors"`
	// Cut are further requests, of which nothing else is known, because the Ingress has too many
	// series.
	Cut uint64 `json:"cut"`
	// Times are the numbers of requests by the bucket of their duration, and of those above the
	// last bound; empty if durations are not counted.
	Times []uint64 `json:"times"`
}
