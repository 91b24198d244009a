package annotations

import (
	"cmp"
	"regexp"

	"sluice/internal/model"
)

// Hash sends requests with the same key to the same endpoint.
type Hash struct {
	By     string `key:"upstream-hash-by" risk:"high" validate:"max=1024,hash_key" instead:"the key has no effect" costs:"all" doc:"Key of a request, of text and variables such as $request_uri. Requests with the same key go to the same endpoint. affinity takes precedence."`
	Subset bool   `key:"upstream-hash-by-subset" default:"false" off:"false f 0" risk:"low" needs:"upstream-hash-by" doc:"Whether several endpoints share the requests with a key. Each request goes to one of them by chance."`
	Size   int    `key:"upstream-hash-by-subset-size" default:"3" risk:"low" validate:"min=0,max=100" needs:"upstream-hash-by" doc:"Number of these endpoints. 0 means 3."`
}

var hashVariable = regexp.MustCompile(`\$(?:([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)\})`)

// alternating splits a text with variables into a text, the name of a variable, a text and
// so on.
func alternating(text string) []string {
	var parts []string
	end := 0
	for _, at := range hashVariable.FindAllStringSubmatchIndex(text, -1) {
		name := max(at[2], at[4])
		parts = append(parts, text[end:at[0]], text[name:max(at[3], at[5])])
		end = at[1]
	}
	if end < len(text) {
		parts = append(parts, text[end:])
	}
	return parts
}

// usualSubset is the size of a subset that is 0.
const usualSubset = 3

// Key returns the key of a request, nil for none.
func (h *Hash) Key() *model.Hash {
	if h.By == "" {
		return nil
	}
	key := &model.Hash{By: alternating(h.By)}
	if h.Subset {
		key.Subset = cmp.Or(h.Size, usualSubset)
	}
	return key
}

// LoadBalance chooses endpoints by their work.
type LoadBalance struct {
	Algorithm string `key:"load-balance" from:"load-balance" risk:"low" validate:"oneof=round_robin ewma least_conn" doc:"Way to choose an endpoint: in turn (round_robin), the faster of two (ewma), or the one with the fewest requests (least_conn). affinity and upstream-hash-by take precedence."`
}

// Work returns the algorithm, empty for picking in turn.
func (l *LoadBalance) Work() model.Algorithm {
	if l.Algorithm == "round_robin" {
		return ""
	}
	return model.Algorithm(l.Algorithm)
}

// ServiceUpstream sends requests to the Service itself.
type ServiceUpstream struct {
	Enabled bool `key:"service-upstream" from:"service-upstream" risk:"low" doc:"Whether nginx sends requests to the cluster address of the Service instead of its endpoints. A Service without one, such as a headless Service, keeps its endpoints."`
}

// Ejection leaves out endpoints that fail.
type Ejection struct {
	MaxFails int `key:"max-fails" own:"true" default:"0" off:"0" risk:"low" validate:"min=0,max=1000" doc:"Number of failures within fail-timeout after which an endpoint gets no new requests for that time. What counts as a failure is set by proxy-next-upstream. 0 means never. Each worker of nginx counts for itself."`
	Timeout  int `key:"fail-timeout" own:"true" default:"10" risk:"low" validate:"min=1,max=86400" needs:"max-fails" unit:"seconds" doc:"Seconds in which failures count, and for which an endpoint gets no new requests."`
}

// Limits returns nil if no endpoint is left out.
func (e *Ejection) Limits() *model.Ejection {
	if e.MaxFails == 0 {
		return nil
	}
	return &model.Ejection{MaxFails: e.MaxFails, Timeout: e.Timeout}
}

// SlowStart gives new endpoints few requests at first.
type SlowStart struct {
	Seconds int `key:"slow-start" own:"true" default:"0" off:"0" risk:"low" validate:"min=0,max=3600" unit:"seconds" doc:"Seconds in which the share of a new endpoint grows to that of the others. It has no effect with upstream-hash-by, and none on clients whose cookie names an endpoint. 0 means that it gets its share at once."`
}
