package ocsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"sluice/internal/model"
)

const (
	// limit is the maximum time for a question.
	limit = 10 * time.Second
	// mostHeaderBytes is the maximum size of the header of an answer.
	mostHeaderBytes = 16 << 10
	// longestURL is the maximum length of the URL of a responder.
	longestURL = 1000
)

// errAddress is the error of a connection to an address that a responder must not have.
var errAddress = errors.New("a forbidden address")

// dial connects to an address that an ExternalName could have too: not to this machine, its
// link, or the metadata of its cloud. The check is at the connection, after the name is
// resolved, so no answer of DNS passes it.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: limit, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || model.Forbidden(at.Addr()) {
			return errAddress
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// newClient returns a client that asks the URL only: by no proxy, without a redirect, and by a
// new connection each time.
func newClient(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{DialContext: dial, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: mostHeaderBytes},
	}
}

// ask asks the responder of a certificate once. The fault is the reason why there is no good
// answer; it has no text of the responder.
func (s *Stapler) ask(ctx context.Context, c *model.Certificate) (answer, string) {
	q, fault := newQuestion(c)
	if fault != "" {
		return answer{}, fault
	}
	text, fault := s.send(ctx, c.Responder, q.request)
	if fault != "" {
		return answer{}, fault
	}
	return q.read(text, time.Now())
}

// send posts a request to a URL.
func (s *Stapler) send(ctx context.Context, to string, body []byte) (response []byte, fault string) {
	at, err := url.Parse(to)
	if err != nil || at.Scheme != "http" || at.Host == "" || at.User != nil || len(to) > longestURL {
		return nil, fmt.Sprintf("want a responder with a URL of http:// of at most %d bytes in the certificate", longestURL)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, "the URL of the responder in the certificate is not valid"
	}
	request.Header.Set("Content-Type", "application/ocsp-request")
	request.Header.Set("User-Agent", "sluice-ocsp")
	answered, err := s.client.Do(request)
	if err != nil {
		return nil, reasonOf(err)
	}
	defer func() { _ = answered.Body.Close() }()
	if answered.StatusCode != http.StatusOK {
		return nil, fmt.Sprintf("the responder answers with status %d", answered.StatusCode)
	}
	response, err = io.ReadAll(io.LimitReader(answered.Body, model.LongestStaple+1))
	switch {
	case err != nil:
		return nil, reasonOf(err)
	case len(response) > model.LongestStaple:
		return nil, fmt.Sprintf("want a response of at most %d bytes", model.LongestStaple)
	}
	return response, ""
}

func reasonOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, errAddress):
		return "the responder is at an address where Sluice asks nobody: want one that is not loopback, link-local, unspecified, multicast or that of a cloud's metadata"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("the responder does not answer within %s", limit)
	case errors.As(err, new(*net.DNSError)):
		return "DNS has no address for the responder"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the responder refuses connections"
	}
	return "the responder gives no valid HTTP answer"
}
