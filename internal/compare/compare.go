// Package compare compares two ingress controllers by their answers. It takes Ingresses, or
// lines of an access log, and returns requests. It takes the answers of both controllers,
// and returns their differences, grouped by cause. The client that asks is package client.
//
//	requests := compare.FromIngresses(input, options)
//	result := compare.Compare(requests[0], [2][]compare.Answer{{ofA}, {ofB}}, rules)
//	report := compare.NewReport(core, results)
//	report.WriteText(os.Stdout)
package compare

import (
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// Request is a request that both controllers get.
type Request struct {
	Method string `json:"method"`
	// Scheme is http or https.
	Scheme string `json:"scheme"`
	// Host is the header Host.
	Host string `json:"host"`
	// Target is the path and query, sent byte for byte.
	Target string `json:"target"`
	// Headers are the further headers.
	Headers []route.Header `json:"headers,omitempty"`
	// Why is how the request relates to a rule, such as "a slash more".
	Why string `json:"why,omitempty"`

	// of is the rule that the request was made of, which need not be the one that takes it.
	of model.Rule
	// host is the host of that rule.
	host string
}

// String returns the request in one line.
func (r Request) String() string {
	text := r.Method + " " + r.Scheme + "://" + r.Host + r.Target
	for _, h := range r.Headers {
		text += " (" + h.Name + ": " + h.Value + ")"
	}
	return model.OneLine(text, mostShown)
}

// mostShown limits what is printed of a request or a value, in bytes.
const mostShown = 400

// key is equal for equal requests, whatever their Why.
func (r Request) key() string {
	parts := []string{r.Method, r.Scheme, r.Host, r.Target}
	for _, h := range r.Headers {
		parts = append(parts, h.Name, h.Value)
	}
	return strings.Join(parts, "\x00")
}

// Answer is the answer of one controller to one request.
type Answer struct {
	// Fault is the reason why there is no answer; empty if there is one.
	Fault  string
	Status int
	// Headers have their names in the canonical form.
	Headers []route.Header
	// Certificate is the certificate of the connection, nil without TLS.
	Certificate *Certificate
	// Body is a hash of the body; empty if it was not read.
	Body string
}

// Certificate is what is compared of a certificate.
type Certificate struct {
	CommonName string
	// Names are sorted.
	Names []string
	// Fingerprint is the SHA-256 of the certificate.
	Fingerprint string
}

// String returns "CN=shop.example [shop.example] sha256:0123456789abcdef".
func (c *Certificate) String() string {
	return "CN=" + c.CommonName + " [" + strings.Join(c.Names, " ") + "] sha256:" + c.Fingerprint
}

// header returns the values of a header, joined.
func (a *Answer) header(name string) string {
	var values []string
	for _, h := range a.Headers {
		if h.Name == name {
			values = append(values, h.Value)
		}
	}
	return strings.Join(values, ", ")
}

// Kind is a kind of difference.
type Kind string

// The kinds.
const (
	NoAnswer Kind = "NoAnswer" // one controller closes the connection, or does not answer in time
	Status   Kind = "Status"
	Redirect Kind = "Redirect" // the header Location
	Backend  Kind = "Backend"  // the header that names the backend
	Header   Kind = "Header"   // another header
	Cookie   Kind = "Cookie"   // the name or the attributes of a cookie; its value is not compared
	Cert     Kind = "Certificate"
	Body     Kind = "Body"
)

// Kinds are all kinds.
var Kinds = []Kind{NoAnswer, Status, Redirect, Backend, Header, Cookie, Cert, Body}

// Place is what is compared: the kind and, for headers and cookies, the name.
type Place struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitempty"`
}

// String returns the kind, or "Header X-Frame-Options".
func (p Place) String() string { return strings.TrimSpace(string(p.Kind) + " " + p.Name) }

// Difference is one difference between the answers to a request.
type Difference struct {
	Place
	// A and B are the values of the two controllers, empty for a missing one.
	A string `json:"a"`
	B string `json:"b"`
}
