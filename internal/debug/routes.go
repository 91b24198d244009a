package debug

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"sluice/internal/debugapi"
	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/route"
)

// routes answers with the routing table.
func (q *question) routes() (body, error) {
	host, ofHost, err := q.values.host()
	if err != nil {
		return nil, err
	}
	ingress, ofIngress, err := q.values.ingress()
	if err != nil {
		return nil, err
	}
	if ofIngress && q.state.Snapshot.IngressOf(ingress) == nil {
		return nil, q.noIngress(ingress)
	}
	servers := explain.Printed(q.state.Confirmed.input())
	if ofHost {
		server, err := q.serverHost(host)
		if err != nil {
			return nil, err
		}
		servers = slices.DeleteFunc(slices.Clone(servers), func(s *model.Server) bool { return s.Host != server })
	}
	var rows []debugapi.Route
	for i := range servers {
		for _, r := range route.Table(servers[i : i+1]) {
			if !ofIngress || r.Object == ingress {
				rows = append(rows, viewRoute(r))
			}
		}
	}
	return list(rows)
}

func viewRoute(r route.Row) debugapi.Route {
	return debugapi.Route{
		Host: shown(r.Host), Match: r.Match, Path: shown(r.Path), Answer: shown(r.Answer),
		Object: model.ObjectRef{Kind: r.Object.Kind, Namespace: shown(r.Object.Namespace), Name: shown(r.Object.Name)},
		Extras: shownAll(r.Extras),
	}
}

// explain answers with the explanation of a request.
func (q *question) explain() (body, error) {
	format, err := q.values.format()
	if err != nil {
		return nil, err
	}
	url, given := q.values[debugapi.URLParam]
	if !given {
		return nil, q.values.wrong(debugapi.URLParam, "http://host/path, https://host/path or host/path")
	}
	method, given := q.values[debugapi.MethodParam]
	if !given {
		method = http.MethodGet
	}
	request, err := explain.ParseRequest(method, url)
	if err != nil {
		return nil, refusal{http.StatusBadRequest, named(err)}
	}
	input := q.state.Confirmed.input()
	input.Config.Dynamic.Backends = q.state.held().Backends
	explanation := explain.Explain(input, request)
	if format == debugapi.JSON {
		return jsonBody{explanation}, nil
	}
	return textBody(func(w io.Writer) error { return explanation.WriteText(w) }), nil
}

// named puts the names of the parameters in an error of ParseRequest, which has METHOD and
// URL, the arguments of a command.
func named(err error) string {
	name, text, _ := strings.Cut(err.Error(), ": ")
	return strings.ToLower(name) + ": " + text
}
