package prober

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"sluice/internal/healthcheck"
	"sluice/internal/model"
)

// dialer opens a connection.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// checkOf is the key of the model.Check in the context of a request.
type checkOf struct{}

// mostHeaderBytes is the maximum size of the header of an answer. The body is not read.
const mostHeaderBytes = 16 << 10

// newTransport returns a transport that asks the address of the request only: by no proxy,
// without a redirect, by HTTP/1.1, and by a new connection each time.
func newTransport(dial dialer) *http.Transport {
	t := &http.Transport{
		DialContext:            dial,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: mostHeaderBytes,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		check, _ := ctx.Value(checkOf{}).(model.Check)
		// The check asks whether an endpoint works. nginx verifies who it is, before it sends
		// a request of a client.
		conn := tls.Client(plain, &tls.Config{InsecureSkipVerify: true, ServerName: check.Name})
		if err := conn.HandshakeContext(ctx); err != nil {
			_ = plain.Close()
			return nil, &handshakeError{err}
		}
		return conn, nil
	}
	return t
}

type handshakeError struct{ error }

func (e *handshakeError) Unwrap() error { return e.error }

// ask checks an endpoint once. It returns the reason of a failure, "" for a healthy
// endpoint. The reason has no text of the endpoint.
func (p *Prober) ask(ctx context.Context, target healthcheck.Target) string {
	check := target.Check
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, checkOf{}, check), time.Duration(check.Timeout)*time.Second)
	defer cancel()
	request, err := newRequest(ctx, target)
	if err != nil {
		return "the path is no part of a URL"
	}
	answer, err := p.client.RoundTrip(request)
	if err != nil {
		return reasonOf(err, check)
	}
	_ = answer.Body.Close()
	if answer.StatusCode < check.From || answer.StatusCode > check.To {
		return "status " + strconv.Itoa(answer.StatusCode)
	}
	return ""
}

func newRequest(ctx context.Context, target healthcheck.Target) (*http.Request, error) {
	check := target.Check
	at, err := url.ParseRequestURI(check.Path)
	if err != nil {
		return nil, err
	}
	port := check.Port
	if port == 0 {
		port = target.Endpoint.Port
	}
	at.Scheme, at.Host = "http", net.JoinHostPort(target.Endpoint.Address, strconv.Itoa(port))
	if check.TLS {
		at.Scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Host = check.Host
	request.Header.Set("User-Agent", "sluice-health-check")
	return request, nil
}

func reasonOf(err error, check model.Check) string {
	var timeout net.Error
	var handshake *handshakeError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer within %d s", check.Timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the address"
	case errors.As(err, &handshake):
		return "no TLS connection"
	}
	return "no valid HTTP answer"
}
