package render

import (
	"cmp"

	"sluice/internal/model"
)

// Metrics says which requests the workers count for the metrics of the controller.
type Metrics struct {
	// Requests has them counted. UndefinedHosts includes those for hosts that no object
	// names, which then have a series for each host that clients ask for.
	Requests, UndefinedHosts bool
	// WithoutConnect, WithoutHeader and WithoutResponse leave out the times that a backend
	// took to accept the connection, and to send its header and its response.
	WithoutConnect, WithoutHeader, WithoutResponse bool
}

// metricsView has the parts of $request_metrics that can be missing, and the Lua file that
// counts it.
type metricsView struct {
	Connect, Header, Response bool
	Script                    string
}

func (e *Environment) metrics() *metricsView {
	m := e.Metrics
	if !m.Requests {
		return nil
	}
	return &metricsView{!m.WithoutConnect, !m.WithoutHeader, !m.WithoutResponse, e.entry("log_metrics")}
}

// CatchallHost is the host of the catch-all server in metrics, as in nginx.conf.
const CatchallHost = "_"

// count sets what $metric_labels is in a location: a text, or $host for undefined hosts.
// metrics.lua and package metrics/requests read it.
func (s *serverRendering) count(view *locationView, l *model.Location) {
	switch {
	case !s.env.Metrics.Requests, handedOver(l), isSubrequest(l), len(l.Dispatch) > 0:
		return
	case l.Rule.Kind == model.RuleHealth, l.Rule.Kind == model.RuleStatus:
		view.Uncounted = s.countsServer() != nil
		return
	case l.Rule.Object == (model.ObjectRef{}) && catchall(s.server):
		view.CountsHost = s.env.Metrics.UndefinedHosts
		return
	}
	view.MetricLabels = s.hostLabel()
	if of := l.Rule.Object; of != (model.ObjectRef{}) {
		route := of.Namespace + "/" + of.Name + "//"
		if l.Proxy != nil {
			route = of.Namespace + "/" + of.Name + "/" + l.Proxy.Service.Name + "/" + l.Proxy.Service.Port
		}
		view.MetricLabels += " " + route
		view.SetsPath = true
	}
}

// hostLabel returns the label host of the server's requests.
func (s *serverRendering) hostLabel() string {
	if s.server.AliasesOnly {
		return s.server.Host
	}
	return cmp.Or(s.server.Host, CatchallHost)
}

// countsView has the labels of requests that nginx answers before it comes to a location. Once is set
// if nginx may obey the server again for the same request, which then keeps its labels.
type countsView struct {
	Labels string
	Once   bool
}

// countsServer returns the labels of the server, nil if its requests are not counted.
func (s *serverRendering) countsServer() *countsView {
	if !s.env.Metrics.Requests || catchall(s.server) {
		return nil
	}
	return &countsView{s.serverLabels(), s.server.RedirectToHTTPS != nil || len(s.subrequests()) > 0}
}

// serverLabels is $metric_labels for what no location answers, such as the redirect of a whole
// server. They have the Ingress if all paths are of one.
func (s *serverRendering) serverLabels() string {
	var owner model.ObjectRef
	for _, l := range s.server.Locations {
		switch of := l.Rule.Object; {
		case of == (model.ObjectRef{}) || of == owner:
		case owner == (model.ObjectRef{}):
			owner = of
		default:
			return s.hostLabel()
		}
	}
	if owner == (model.ObjectRef{}) {
		return s.hostLabel()
	}
	return s.hostLabel() + " " + owner.Namespace + "/" + owner.Name + "//"
}
