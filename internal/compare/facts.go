package compare

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Rules decide what is compared of two answers.
type Rules struct {
	// Headers are the names of the headers to compare, in canonical form. Empty compares all
	// but those of Ignored.
	Headers []string
	// BackendHeader names the header in which the backend gives its name; empty for none.
	BackendHeader string
	// Body compares a hash of the body.
	Body bool
	// Ports are the ports of both controllers for HTTP and HTTPS. In redirects they count as
	// the usual ones.
	Ports [2]Ports
}

// Ports are the ports of a controller, 0 for none.
type Ports struct{ HTTP, HTTPS int }

// Ignored are the headers that are not compared unless they are named: they differ from one
// answer to the next, belong to the connection, or have a kind of their own.
var Ignored = []string{
	"Age", "Connection", "Content-Length", "Date", "Keep-Alive", "Location", "Set-Cookie", "Trailer", "Transfer-Encoding", "X-Request-Id",
}

// compares reports whether a header is compared.
func (r *Rules) compares(name string) bool {
	if len(r.Headers) > 0 {
		return slices.Contains(r.Headers, name)
	}
	return name != r.BackendHeader && !slices.Contains(Ignored, name)
}

// facts returns the values of an answer by their places. side is 0 or 1.
func (r *Rules) facts(a *Answer, side int) map[Place]string {
	facts := map[Place]string{{Kind: NoAnswer}: a.Fault}
	if a.Certificate != nil {
		facts[Place{Kind: Cert}] = a.Certificate.String()
	}
	if a.Fault != "" {
		return facts
	}
	facts[Place{Kind: Status}] = fmt.Sprint(a.Status)
	for _, h := range a.Headers {
		switch {
		case h.Name == "Set-Cookie":
			name, attributes := cookie(h.Value)
			facts[Place{Cookie, name}] = attributes
		case r.compares(h.Name):
			facts[Place{Header, h.Name}] = a.header(h.Name)
		}
	}
	if location := a.header("Location"); location != "" {
		facts[Place{Kind: Redirect}] = r.Ports[side].usual(location)
	}
	if r.BackendHeader != "" {
		facts[Place{Kind: Backend}] = a.header(r.BackendHeader)
	}
	if r.Body {
		facts[Place{Kind: Body}] = a.Body
	}
	return facts
}

// cookie returns the name of a cookie and its attributes, sorted. It drops the value, which
// may be secret, and the time of Expires.
func cookie(header string) (name, attributes string) {
	parts := strings.Split(header, ";")
	name, _, _ = strings.Cut(strings.TrimSpace(parts[0]), "=")
	kept := []string{"set"}
	for _, part := range parts[1:] {
		attribute, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		attribute = strings.ToLower(attribute)
		if value != "" && attribute != "expires" {
			attribute += "=" + value
		}
		kept = append(kept, attribute)
	}
	slices.Sort(kept[1:])
	return name, strings.Join(kept, "; ")
}

// usual drops the port of a controller from a redirect.
func (p Ports) usual(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Port() == "" {
		return location
	}
	ports := map[string]int{"http": p.HTTP, "https": p.HTTPS}
	if u.Port() != fmt.Sprint(ports[u.Scheme]) {
		return location
	}
	return strings.Replace(location, "://"+u.Host, "://"+strings.TrimSuffix(u.Host, ":"+u.Port()), 1)
}
