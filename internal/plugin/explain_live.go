package plugin

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"sluice/internal/debugapi"
)

// tokenVariable has the token for --address.
const tokenVariable = "SLUICE_DEBUG_TOKEN"

// passedOn is the kind of the answer of a host whose TLS is passed through (explain.PassedOn).
const passedOn = "passed"

// differs is the exit status if nginx decides otherwise than was computed.
const differs = 1

// live asks nginx about a request and prints what it decided beside the explanation.
func (v *view) live(method, target, address string) error {
	method = cmp.Or(method, http.MethodGet)
	if !slices.Contains(debugapi.LiveMethods, method) {
		return fmt.Errorf("method: want GET, HEAD or OPTIONS, which change nothing (got %q)", method)
	}
	q := asking(debugapi.LivePath, debugapi.URLParam, target, debugapi.MethodParam, method)
	if address != "" {
		if err := v.decides(method, target); err != nil {
			return err
		}
		ctx, cancel := bounded(v.cmd)
		defer cancel()
		decision, err := decisionAt(ctx, address, method, target)
		if err != nil {
			return err
		}
		q.query.Set(debugapi.DecisionParam, decision)
	}
	body, err := v.ask(v.cmd, v.pods, q)
	if err != nil {
		return err
	}
	live, err := decode[debugapi.Live](body)
	if err != nil {
		return err
	}
	if err := printed(v.output(v.chosen), body, printLive); err != nil {
		return err
	}
	if len(live.Differences) > 0 {
		return &statusError{status: differs}
	}
	return nil
}

// decides returns an error if nginx passes the TLS of the host through: the backend would get the
// token.
func (v *view) decides(method, target string) error {
	body, err := v.ask(v.cmd, v.pods, asking(debugapi.ExplainPath, debugapi.URLParam, target, debugapi.MethodParam, method, debugapi.FormatParam, debugapi.JSON))
	if err != nil {
		return err
	}
	explanation, err := decode[struct{ Answer struct{ Kind, Why string } }](body)
	if err == nil && explanation.Answer.Kind == passedOn {
		err = fmt.Errorf("nginx decides nothing about %s: %s", target, explanation.Answer.Why)
	}
	return err
}

// decisionAt sends a request to an address, and returns the decision that comes back. The
// certificate is not verified: what nginx decides is asked here, not who answers.
func decisionAt(ctx context.Context, address, method, target string) (string, error) {
	token := os.Getenv(tokenVariable)
	if token == "" {
		return "", fmt.Errorf("--address: want the token of the setting debug-header-secret in the environment variable %s", tokenVariable)
	}
	request, err := liveRequest(ctx, method, target)
	if err != nil {
		return "", err
	}
	request.Header.Set(debugapi.DecisionHeader, token)
	to := request.URL.Port()
	if to == "" {
		to = map[string]string{"http": "80", "https": "443"}[request.URL.Scheme]
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), to)
	}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("ask nginx at %s: %w", address, err)
	}
	defer response.Body.Close()
	decision := response.Header.Get(debugapi.DecisionHeader)
	if decision == "" {
		return "", fmt.Errorf("the answer of %s with status %d tells no decision: want the right token in %s, and the address from which nginx sees this request in the setting debug-header-cidrs", address, response.StatusCode, tokenVariable)
	}
	return decision, nil
}

// liveRequest returns a request whose URI is as it was written.
func liveRequest(ctx context.Context, method, target string) (*http.Request, error) {
	if !strings.Contains(target, "://") {
		scheme := "http://"
		if host, _, _ := strings.Cut(target, "/"); strings.HasSuffix(host, ":443") {
			scheme = "https://"
		}
		target = scheme + target
	}
	scheme, rest, _ := strings.Cut(target, "://")
	host, uri := rest, ""
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		host = rest[:at]
		uri, _, _ = strings.Cut(rest[at:], "#")
	}
	if host == "" || scheme != "http" && scheme != "https" {
		return nil, fmt.Errorf("URL: want http://host/path, https://host/path or host/path (got %q)", target)
	}
	request, err := http.NewRequestWithContext(ctx, method, scheme+"://"+host, nil)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(uri, "/") {
		uri = "/" + uri
	}
	if request.URL.Opaque = uri; strings.HasPrefix(uri, "//") { // which would be read as a host
		request.URL.Opaque = "//" + host + uri
	}
	return request, nil
}

func printLive(o output, live debugapi.Live) error {
	d := live.Decision
	var text strings.Builder
	fmt.Fprintf(&text, "%s: status %d after %.3f s\n", live.Request, d.Status, d.Seconds)
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&text, "  %-10s%s\n", name+":", value)
		}
	}
	field("Server", d.Host)
	field("Location", strings.TrimSpace(d.Modifier+" "+d.Location))
	field("Owner", d.Object)
	field("Path", d.Path)
	field("URI", d.URI)
	field("Backend", d.Backend)
	field("Canary", d.Canary)
	if d.Endpoint != "" {
		field("Endpoint", fmt.Sprintf("%s, status %s", d.Endpoint, orDash(d.UpstreamStatus)))
	}
	fmt.Fprintf(&text, "\nComputed: %s\n", live.Summary)
	for _, note := range live.Notes {
		fmt.Fprintf(&text, "Not compared: %s\n", note)
	}
	if len(live.Differences) == 0 {
		fmt.Fprintln(&text, o.paint("nginx decides as computed.", green))
		return o.painted(text.String())
	}
	fmt.Fprintln(&text, o.paint("nginx decides otherwise than computed:", red))
	for _, difference := range live.Differences {
		fmt.Fprintf(&text, "  %s: nginx says %q, computed is %q\n", difference.Of, difference.Decided, difference.Computed)
	}
	return o.painted(text.String())
}
