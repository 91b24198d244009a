package effects

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sluice/test/kit"
)

// Client asks an nginx on a port of loopback.
type Client struct {
	Port int
	// Path is the path of the Ingress.
	Path  string
	mu    sync.Mutex
	froms map[string]*http.Transport
}

// Ask sends a probe to a host, changed by all that must let it through.
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
	request, err := http.NewRequestWithContext(ctx, cmp.Or(p.Method, "GET"), fmt.Sprintf("http://127.0.0.1:%d%s", c.Port, at), strings.NewReader(p.Body))
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
	answer, err := c.from(p.From).RoundTrip(request)
	if err != nil {
		return &Answer{Body: err.Error()}
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	for i, location := range answer.Header["Location"] {
		answer.Header["Location"][i] = strings.Replace(location, "//"+host+"/", "//HOST/", 1)
	}
	return &Answer{Status: answer.StatusCode, Header: answer.Header, Body: string(body)}
}

// from returns the connections of a client with an address of its own.
func (c *Client) from(address string) *http.Transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.froms[address] == nil {
		if c.froms == nil {
			c.froms = map[string]*http.Transport{}
		}
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(cmp.Or(address, "127.0.0.1"))}}
		c.froms[address] = &http.Transport{DialContext: dialer.DialContext, DisableCompression: true}
	}
	return c.froms[address]
}
