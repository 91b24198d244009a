package effects

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"sluice/test/kit"
)

// Client asks an nginx on two ports of loopback.
type Client struct {
	Port, SecurePort int
	// Path is the path of the Ingress.
	Path  string
	mu    sync.Mutex
	froms map[[2]string]*http.Transport
}

// Over returns how a probe is sent, so that all let it through.
func Over(p Probe, passes ...*Effect) string {
	for _, e := range passes {
		if p.Over == "" {
			p.Over = e.Over
		}
	}
	return p.Over
}

// Ask sends a probe to a host, changed by all that must let it through. The headers of the answer have
// HOST and PATH in place of those of the Ingress.
func (c *Client) Ask(t testing.TB, host string, p Probe, passes ...*Effect) *Answer {
	t.Helper()
	at := c.Path + cmp.Or(p.Path, "/x")
	switch p.Path {
	case "ROOT":
		at = "/"
	case "SERVER":
		at = "/of-server"
	}
	ctx, cancel := context.WithTimeout(t.Context(), kit.RequestPatience)
	defer cancel()
	over, to := Over(p, passes...), fmt.Sprintf("http://127.0.0.1:%d%s", c.Port, at)
	if over != "" {
		to = "https://" + p.Before + host + at
	}
	request, err := http.NewRequestWithContext(ctx, cmp.Or(p.Method, "GET"), to, strings.NewReader(p.Body))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = p.Before + host
	if p.Header != nil {
		request.Header = p.Header.Clone()
	}
	for _, e := range passes {
		if e.Passes != nil {
			e.Passes(request)
		}
	}
	answer, err := c.from(p.From, over).RoundTrip(request)
	if err != nil {
		t.Errorf("%s %s: %v", host, at, err)
		return &Answer{Body: err.Error()}
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	same := strings.NewReplacer(host, "HOST", c.Path+"/", "PATH/", url.QueryEscape(c.Path+"/"), "PATH%2F")
	for _, values := range answer.Header {
		for n, value := range values {
			values[n] = same.Replace(value)
		}
	}
	return &Answer{Status: answer.StatusCode, Header: answer.Header, Body: string(body)}
}

// from returns the connections of a client with an address of its own.
func (c *Client) from(address, over string) *http.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{address, over}
	if c.froms[key] == nil {
		if c.froms == nil {
			c.froms = map[[2]string]*http.Transport{}
		}
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(cmp.Or(address, "127.0.0.1"))}}
		port, config := c.Port, &tls.Config{InsecureSkipVerify: true}
		if over != "" {
			port = c.SecurePort
		}
		if over == WithCertificate {
			config.Certificates = []tls.Certificate{Ann().Certificate}
		}
		c.froms[key] = &http.Transport{
			DisableCompression: true, TLSClientConfig: config, MaxIdleConns: 20,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
			},
		}
	}
	return c.froms[key]
}
