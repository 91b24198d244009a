package metrics

import (
	"strings"

	"sluice/internal/debug"
	"sluice/internal/model"
)

// orphan is an Ingress with a Service that answers nothing.
type orphan struct {
	ingress model.ObjectRef
	// kind is noService or noEndpoint.
	kind string
}

// The kinds, as in ingress-nginx.
const (
	noService  = "no-service"
	noEndpoint = "no-endpoint"
)

// orphansOf returns the Ingresses with a path whose Service is missing, and those with one whose
// Service has no endpoints.
func orphansOf(s *debug.State) map[orphan]bool {
	found := map[orphan]bool{}
	for _, p := range s.Problems {
		if p.Object.Kind == "Ingress" && p.Reason == model.NotFound && strings.Contains(p.Field, ".service") {
			found[orphan{p.Object, noService}] = true
		}
	}
	if s.Confirmed == nil {
		return found
	}
	empty := map[string]bool{}
	for _, b := range s.Told.Backends {
		empty[b.Key] = len(b.Endpoints) == 0 && b.Split == nil
	}
	for _, server := range s.Confirmed.Config.Static.Servers {
		for _, l := range server.Locations {
			if l.Proxy != nil && l.Rule.Object.Kind == "Ingress" && empty[l.Proxy.Backend] && !found[orphan{l.Rule.Object, noService}] {
				found[orphan{l.Rule.Object, noEndpoint}] = true
			}
		}
	}
	return found
}
