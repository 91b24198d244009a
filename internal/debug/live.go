package debug

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/debugapi"
	"sluice/internal/explain"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// liveTimeout limits the request to nginx.
const liveTimeout = 10 * time.Second

// live answers with what nginx decides about a request, beside the explanation. It sends the
// request to nginx, unless the client has done that and gives the decision.
func (q *question) live() (body, error) {
	method := cmp.Or(q.values[debugapi.MethodParam], http.MethodGet)
	request, err := explain.ParseRequest(method, q.values[debugapi.URLParam])
	switch {
	case err != nil:
		return nil, refusal{http.StatusBadRequest, named(err)}
	case !slices.Contains(debugapi.LiveMethods, method):
		return nil, q.values.wrong(debugapi.MethodParam, "GET, HEAD or OPTIONS, which change nothing")
	}
	input := q.state.Confirmed.input()
	input.Config.Dynamic.Backends = q.state.held().Backends
	explanation := explain.Explain(input, request)
	if explanation.Answer.Kind == explain.PassedOn { // the backend would get the token
		return nil, notFound("nginx decides nothing about %s: %s", request.Host, explanation.Answer.Why)
	}
	var decision debugapi.Decision
	if text, given := q.values[debugapi.DecisionParam]; given {
		if err := json.Unmarshal([]byte(text), &decision); err != nil {
			return nil, q.values.wrong(debugapi.DecisionParam, "the value of the header "+debugapi.DecisionHeader)
		}
	} else if decision, err = q.decide(request); err != nil {
		return nil, err
	}
	live := debugapi.Live{Request: shown(request.String()), Decision: shownDecision(decision), Summary: shown(explanation.Summary)}
	live.Differences, live.Notes = compareDecision(&decision, explanation)
	return jsonBody{live}, nil
}

func shownDecision(d debugapi.Decision) debugapi.Decision {
	for _, text := range []*string{&d.Host, &d.Modifier, &d.Location, &d.Object, &d.Path, &d.URI, &d.Backend, &d.Endpoint, &d.UpstreamStatus, &d.Canary} {
		*text = shown(*text)
	}
	return d
}

// decide sends a request to nginx with the token, and returns the decision.
func (q *question) decide(r explain.Request) (d debugapi.Decision, err error) {
	c := q.state.Confirmed
	values, _ := settings.Read(c.Snapshot.ConfigMap(c.Options.ConfigMap))
	name, err := snapshot.ParseName(values.DebugHeader.Secret)
	var secret *corev1.Secret
	if err == nil {
		secret = c.Snapshot.Secret(name)
	}
	if secret == nil || c.Config.Static.DebugToken == "" {
		return d, notFound("nginx tells no decisions: want the settings debug-header-secret, with a Secret that has a token, and debug-header-cidrs")
	}
	ctx, cancel := context.WithTimeout(q.ctx, liveTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.Method, r.Scheme+"://"+r.Host, nil)
	if err != nil {
		return d, fmt.Errorf("make the request: %w", err)
	}
	// The URI is sent as it was written. One that begins with // would be read as a host.
	if request.URL.Opaque = r.URI; strings.HasPrefix(r.URI, "//") {
		request.URL.Opaque = "//" + r.Host + r.URI
	}
	request.Header.Set(debugapi.DecisionHeader, string(secret.Data["token"]))
	transport := c.nginxTransport(values.Forwarded.ProxyProtocol)
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return d, fmt.Errorf("ask nginx: %w", err)
	}
	defer response.Body.Close()
	text := response.Header.Get(debugapi.DecisionHeader)
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return d, notFound("nginx answered with status %d and told no decision: want 127.0.0.1, from which the controller asks, in debug-header-cidrs; a snippet with header_filter_by_lua prevents it too", response.StatusCode)
	}
	return d, nil
}

// nginxTransport connects to this nginx, whatever the host. Certificates are not verified:
// that of a host may be missing, or be the default one.
func (c *Confirmed) nginxTransport(proxied bool) *http.Transport {
	ports := map[string]int{"http": c.Environment.HTTPPort, "https": c.Environment.HTTPSPort}
	dial := func(ctx context.Context, port int) (net.Conn, error) {
		address := "127.0.0.1"
		if len(c.Environment.Addresses) > 0 {
			address = c.Environment.Addresses[0]
		}
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		if err == nil && proxied {
			_, err = fmt.Fprintf(connection, "PROXY TCP4 127.0.0.1 127.0.0.1 1 %d\r\n", port)
		}
		return connection, err
	}
	return &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, ports["http"]) },
		DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			plain, err := dial(ctx, ports["https"])
			if err != nil {
				return nil, err
			}
			host, _, _ := net.SplitHostPort(address)
			secured := tls.Client(plain, &tls.Config{ServerName: host, InsecureSkipVerify: true})
			if err := secured.HandshakeContext(ctx); err != nil {
				return nil, fmt.Errorf("%w", err)
			}
			return secured, nil
		},
	}
}
