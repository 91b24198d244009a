package tracing

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"time"

	"sluice/internal/datagram"
	"sluice/internal/metrics/requests"
)

// record is a span of a worker: a request, or a question to a server that authenticates.
type record struct {
	// Context is the value of $opentelemetry: see trace.lua.
	Context  string `json:"context"`
	Question bool   `json:"question"`
	// From and To are seconds since 1970.
	From float64 `json:"from"`
	To   float64 `json:"to"`

	Method   string `json:"method"`
	Scheme   string `json:"scheme"`
	Host     string `json:"host"`
	URI      string `json:"uri"`
	Protocol string `json:"protocol"`
	Status   string `json:"status"`
	Client   string `json:"client"`
	Agent    string `json:"agent"`
	// Route is "<namespace>/<ingress>/<service>/<port>".
	Route string `json:"route"`
	// Canary is the name of the backend of a canary that got the request.
	Canary string `json:"canary"`
	State  string `json:"state"`
	// Addresses, Statuses and Times are nginx's variables of the tries at backends.
	Addresses string `json:"addresses"`
	Statuses  string `json:"statuses"`
	Times     string `json:"times"`

	context spanContext
}

// spanContext is a decoded Context.
type spanContext struct {
	trace, seed  []byte // 16 and 8 bytes; the last digit of the seed says which span it is
	parent       []byte // nil for none
	path, name   string
	seedHighBits byte
}

// decode returns the valid records of a datagram, and the number of those that the worker
// has dropped.
func decode(text []byte) (records []*record, dropped int) {
	lost, rest, ok := datagram.Cut(text)
	if !ok {
		return nil, 0
	}
	for line := range bytes.SplitSeq(rest, []byte("\n")) {
		r := &record{}
		if len(line) == 0 || json.Unmarshal(line, r) != nil {
			continue
		}
		if c, ok := decodeContext(r.Context); ok {
			r.context = c
			records = append(records, r)
		}
	}
	return records, int(min(lost, math.MaxInt32))
}

// The parts of a Context: "00-<trace>-<span>-01", then the parent.
const (
	traceAt, traceEnd = 3, 35
	spanAt, spanEnd   = 36, 52
	contextEnd        = 55
	parentEnd         = contextEnd + 16
)

func decodeContext(text string) (spanContext, bool) {
	var c spanContext
	if len(text) < parentEnd {
		return c, false
	}
	var err [3]error
	c.trace, err[0] = hex.DecodeString(text[traceAt:traceEnd])
	c.seed, err[1] = hex.DecodeString(text[spanAt:spanEnd])
	c.parent, err[2] = hex.DecodeString(text[contextEnd:parentEnd])
	if err != [3]error{} || isZero(c.trace) {
		return c, false
	}
	if isZero(c.parent) {
		c.parent = nil
	}
	c.seedHighBits = c.seed[7] & 0xf0
	c.path, c.name, _ = strings.Cut(text[parentEnd:], "\n")
	return c, true
}

func (r *record) request() requests.Traced {
	of := requests.Traced{Host: r.Host, Method: r.Method, Status: r.Status, Canary: r.Canary, Path: r.context.path, Trace: hex.EncodeToString(r.context.trace)}
	if parts := strings.Split(r.Route, "/"); len(parts) == 4 {
		of.Namespace, of.Ingress, of.Service = parts[0], parts[1], parts[2]
	}
	of.Seconds, of.Ended = float64(r.end()-r.start())/float64(time.Second), time.Unix(0, int64(r.end()))
	return of
}

func isZero(id []byte) bool { return len(bytes.Trim(id, "\x00")) == 0 }

// The last digits of the spans of a request. The tries at backends have firstTry and the
// following ones: the last try before each internal redirect of nginx.
const (
	ofRequest  = 0x0
	firstTry   = 0x1
	lastTry    = 0xe
	ofQuestion = 0xf
)

// span returns the ID of a span of the request.
func (c spanContext) span(digit byte) []byte {
	id := bytes.Clone(c.seed)
	id[7] = c.seedHighBits | digit
	return id
}
