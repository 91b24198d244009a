package debugapi

// DecisionHeader is the header by which a client asks nginx for the Decision about its
// request, with a token as the value, and in which it gets it.
const DecisionHeader = "X-Sluice-Debug"

// Decision is what nginx decided about a request.
type Decision struct {
	// Host is that of the server in nginx.conf, "_" for the catch-all one.
	Host string `json:"host"`
	// Modifier and Location are those of the location, empty if the server redirects all
	// requests. Long paths are cut.
	Modifier string `json:"modifier"`
	Location string `json:"location"`
	// Object is the owner of the rule, such as "Ingress shop/cart", empty for Sluice itself.
	// Path is that of the rule.
	Object string `json:"object"`
	Path   string `json:"path"`
	// URI is the one for the backend, decoded, after rewriting. Backend is the key of the backend,
	// "namespace/service/port" and maybe a hash. Endpoint is the address of the endpoint, and
	// UpstreamStatus its status; if several were tried, all of them, separated by commas. They
	// are empty if no backend was asked, and the last two also if it had no endpoint.
	URI            string `json:"uri,omitempty"`
	Backend        string `json:"backend,omitempty"`
	Endpoint       string `json:"endpoint,omitempty"`
	UpstreamStatus string `json:"upstreamStatus,omitempty"`
	// Canary is the backend that got the request instead, "namespace-service-port".
	Canary string `json:"canary,omitempty"`
	// Status is that of the answer. Seconds are those since the first byte of the request.
	Status  int     `json:"status"`
	Seconds float64 `json:"seconds"`
}

// Live is the answer of LivePath: a Decision beside the computed explanation.
type Live struct {
	// Request is the request, such as "GET https://shop.example/cart".
	Request  string   `json:"request"`
	Decision Decision `json:"decision"`
	// Summary is that of the explanation. Differences are empty if both agree.
	Summary     string       `json:"summary"`
	Differences []Difference `json:"differences"`
	// Notes are reasons why something was not compared.
	Notes []string `json:"notes"`
}

// Difference is something that nginx decided in another way than was computed.
type Difference struct {
	// Of is server, location, object, path, uri, backend or status.
	Of       string `json:"of"`
	Decided  string `json:"decided"`
	Computed string `json:"computed"`
}

// LiveMethods are the methods of requests that are sent to nginx: they do not change anything at a
// backend.
var LiveMethods = []string{"GET", "HEAD", "OPTIONS"}
