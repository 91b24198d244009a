// Package client asks two controllers the requests of package compare. It connects to the given
// addresses only, whatever the host of a request, and follows no redirect. What it sends is
// byte for byte what the request says, over HTTP/1.1 and a connection of its own.
package client

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"sluice/internal/compare"
	"sluice/internal/route"
)

// Client asks controllers.
type Client struct {
	// Timeout limits one request.
	Timeout time.Duration
	// Body reads bodies, for their hashes.
	Body bool
	// Dialer makes the connections.
	Dialer net.Dialer
}

// userAgent is sent unless a request has one.
const userAgent = "sluice-compare"

// mostBody limits what is read of a body.
const mostBody = 8 << 20

// CannotConnect is the Fault of an Answer without a connection.
const CannotConnect = "cannot connect"

// Ask sends a request to an address.
func (c *Client) Ask(ctx context.Context, address string, r compare.Request) compare.Answer {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	connection, err := c.Dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return compare.Answer{Fault: CannotConnect}
	}
	defer connection.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = connection.SetDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { connection.Close() })
	defer stop()
	var answer compare.Answer
	if r.Scheme == "https" {
		secured := tls.Client(connection, &tls.Config{InsecureSkipVerify: true, ServerName: compare.ServerName(r.Host), NextProtos: []string{"http/1.1"}})
		if err := secured.HandshakeContext(ctx); err != nil {
			return compare.Answer{Fault: fault(err, "fails in the TLS handshake")}
		}
		answer.Certificate = certificate(secured.ConnectionState().PeerCertificates[0])
		connection = secured
	}
	if err := c.talk(connection, r, &answer); err != nil {
		answer.Fault = fault(err, "closes the connection without an answer")
	}
	return answer
}

// fault describes an error so that equal failures are equal.
func fault(err error, otherwise string) string {
	var timeout net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, net.ErrClosed) {
		return "does not answer in time"
	}
	return otherwise
}

// talk sends a request and reads the answer.
func (c *Client) talk(connection net.Conn, r compare.Request, answer *compare.Answer) error {
	if _, err := connection.Write(bytesOf(r)); err != nil {
		return err
	}
	in := bufio.NewReader(connection)
	response, err := http.ReadResponse(in, &http.Request{Method: r.Method})
	for err == nil && response.StatusCode < 200 && response.StatusCode != http.StatusSwitchingProtocols {
		response, err = http.ReadResponse(in, &http.Request{Method: r.Method})
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer.Status = response.StatusCode
	for name, values := range response.Header {
		for _, value := range values {
			answer.Headers = append(answer.Headers, route.Header{Name: name, Value: value})
		}
	}
	if c.Body && response.StatusCode != http.StatusSwitchingProtocols {
		hash := sha256.New()
		size, err := io.Copy(hash, io.LimitReader(response.Body, mostBody))
		if err != nil {
			return err
		}
		answer.Body = fmt.Sprintf("%d bytes, sha256:%s", size, hex.EncodeToString(hash.Sum(nil))[:16])
	}
	return nil
}

// bytesOf is a request as it is sent.
func bytesOf(r compare.Request) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, r.Host)
	lines := []route.Header{{Name: "User-Agent", Value: userAgent}, {Name: "Accept", Value: "*/*"}, {Name: "Connection", Value: "close"}}
	for _, line := range lines {
		given := func(h route.Header) bool { return strings.EqualFold(h.Name, line.Name) }
		if !slices.ContainsFunc(r.Headers, given) {
			fmt.Fprintf(&out, "%s: %s\r\n", line.Name, line.Value)
		}
	}
	for _, h := range r.Headers {
		fmt.Fprintf(&out, "%s: %s\r\n", h.Name, h.Value)
	}
	if !slices.Contains([]string{"GET", "HEAD", "OPTIONS", "DELETE", "TRACE"}, r.Method) {
		out.WriteString("Content-Length: 0\r\n")
	}
	out.WriteString("\r\n")
	return []byte(out.String())
}

// certificate returns what is compared of a certificate.
func certificate(leaf *x509.Certificate) *compare.Certificate {
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	slices.Sort(names)
	sum := sha256.Sum256(leaf.Raw)
	return &compare.Certificate{CommonName: leaf.Subject.CommonName, Names: names, Fingerprint: hex.EncodeToString(sum[:])[:16]}
}

// Reach returns an error if an address takes no connection.
func (c *Client) Reach(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	connection, err := c.Dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}
