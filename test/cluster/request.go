package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"sluice/test/kit"
)

// Request is a request that a test sends, on a connection of its own.
type Request struct {
	Method string // GET if empty
	// URL says the host that is asked for, in Host and SNI.
	URL string
	// To is the address and port that the connection goes to; that of the URL
	// if empty.
	To string
	// From is the address that the connection comes from, such as 10.255.7.7;
	// any if empty.
	From   string
	Header http.Header
	Body   string
	// Roots are the authorities that an HTTPS server is verified by; if nil, it
	// is not verified.
	Roots *x509.CertPool
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string
	// Echo is what a pod of the cluster has answered; nil if somebody else did.
	Echo *Echo
	// Certificate is the one that an HTTPS server has shown.
	Certificate *x509.Certificate
}

// Do sends the request. It follows no redirects.
func (r Request) Do(ctx context.Context) (*Answer, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	if r.Header != nil {
		request.Header = r.Header.Clone()
	}
	response, err := r.transport().RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("status %d, and then: %w", response.StatusCode, err)
	}
	answer := &Answer{Status: response.StatusCode, Header: response.Header, Body: string(body)}
	if echo := (&Echo{}); json.Unmarshal(body, echo) == nil && echo.Pod != "" {
		answer.Echo = echo
	}
	if response.TLS != nil {
		answer.Certificate = response.TLS.PeerCertificates[0]
	}
	return answer, nil
}

func (r Request) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: kit.RequestPatience}
	if r.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(r.From)}
	}
	return &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: kit.RequestPatience,
		TLSClientConfig: &tls.Config{RootCAs: r.Roots, InsecureSkipVerify: r.Roots == nil},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if r.To != "" {
				address = r.To
			}
			return dialer.DialContext(ctx, network, address)
		},
	}
}

// EventuallyStatus sends a request again and again until it is answered with a
// status, and gives that answer.
func EventuallyStatus(t testing.TB, r Request, status int) *Answer {
	t.Helper()
	return EventuallyAnswer(t, r, fmt.Sprintf("status %d", status), func(a *Answer) bool { return a.Status == status })
}

// EventuallyAnswer sends a request again and again until its answer is as
// wanted, and gives it.
func EventuallyAnswer(t testing.TB, r Request, what string, wanted func(a *Answer) bool) *Answer {
	t.Helper()
	var answer *Answer
	Eventually(t, what+" from "+r.URL, func(ctx context.Context) error {
		var err error
		if answer, err = r.Do(ctx); err != nil {
			return err
		}
		if !wanted(answer) {
			return fmt.Errorf("the answer is %d %.300q", answer.Status, answer.Body)
		}
		return nil
	})
	return answer
}

// Roots trusts the authority that signs TLSSecret and the pods' certificates.
func (c *Cluster) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.authority.certificate)
	return pool
}
