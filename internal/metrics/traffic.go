package metrics

import (
	"time"

	"sluice/internal/debugapi"
)

// Counts reports whether requests are counted.
func (m *Metrics) Counts() bool { return m.requests != nil }

// Traffic returns the requests of each Ingress so far.
func (m *Metrics) Traffic() debugapi.Traffic {
	bounds, totals := m.requests.Totals()
	t := debugapi.Traffic{At: time.Now().UTC(), Bounds: bounds, Ingresses: make([]debugapi.IngressTraffic, len(totals))}
	for i, of := range totals {
		t.Ingresses[i] = debugapi.IngressTraffic{
			Namespace: of.Namespace, Ingress: of.Name, Requests: of.Requests,
			ClientErrors: of.ClientErrors, ServerErrors: of.ServerErrors, Cut: of.Cut, Times: of.Times,
		}
	}
	return t
}
