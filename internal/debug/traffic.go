package debug

import (
	"slices"

	"sluice/internal/debugapi"
)

// traffic answers with the requests of each Ingress so far.
func (q *question) traffic() (body, error) {
	if q.Traffic == nil {
		return nil, notFound("%s: requests are not counted: want --enable-metrics of the controller, which is controller.metrics.enabled of the chart", debugapi.TrafficPath)
	}
	namespace, ofNamespace, err := q.values.namespace()
	if err != nil {
		return nil, err
	}
	t := q.Traffic()
	t.Bounds, t.Ingresses = filled(t.Bounds), filled(t.Ingresses)
	if ofNamespace {
		t.Ingresses = slices.DeleteFunc(t.Ingresses, func(i debugapi.IngressTraffic) bool { return i.Namespace != namespace })
	}
	for i := range t.Ingresses {
		t.Ingresses[i].Times = filled(t.Ingresses[i].Times)
	}
	return jsonBody{t}, nil
}
