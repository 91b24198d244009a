// Package effects is a table of behaviours: each with a valid value, requests that show what it does,
// and how a request gets past it. Two packages read it: test/pairs puts two behaviours together, and
// test/requests sends unusual requests through each.
//
//	for _, e := range effects.All() {
//		manifests += e.Ingress("web", "shop.example", "/a")
//	}
package effects

import (
	"fmt"
	"net/http"
	"strings"
)

// Effect is what the annotations of a behaviour do.
type Effect struct {
	// Name is that of the behaviour, with more words if it has several entries.
	Name string
	// Annotations are lines of YAML. A name without a slash gets the prefix of ingress-nginx.
	Annotations string
	// Probes show the effect: an Ingress without it answers at least one of them in another way.
	Probes []Probe
	// Passes changes a request so that the behaviour lets it through, nil for nothing.
	Passes func(*http.Request)
	// Over is how requests are sent so that the behaviour lets them through.
	Over string
	// Needs is the module of nginx without which its paths answer 503.
	Needs string
	// Ends is set if it answers all requests on plain HTTP itself.
	Ends bool
	// Redirected is set if its effect also holds for answers of a behaviour that Ends.
	Redirected bool
	// Silent is set if neither an answer nor a line of the location shows it.
	Silent bool
	// Lines are directives that it prints in the location, for an effect that no answer shows.
	Lines []string
	// Canary has the annotations of an Ingress with the same path and another Service, "" for none.
	Canary string
}

// The ways in which requests are sent, besides plain HTTP.
const (
	WithTLS         = "TLS"
	WithCertificate = "TLS and the certificate of Ann"
)

// ModSecurity is a module that not each nginx has.
const ModSecurity = "ModSecurity"

// Probe is a request, and the part of its answer that shows the effect.
type Probe struct {
	Method string
	// Over is "" for plain HTTP, WithTLS or WithCertificate.
	Over string
	// Path is below that of the Ingress. Clients have the address From, 127.0.0.1 if it is "". Before
	// names the host asked, such as "www.".
	Path, From, Before string
	Header             http.Header
	Body               string
	// See returns the part of an answer that is the effect.
	See func(*Answer) string
}

// Answer is an answer with what the Service got.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Ingress returns the manifests of an Ingress with effects, on a path of a host.
func Ingress(name, host, path string, effects ...*Effect) string {
	var lines, canaries strings.Builder
	for _, e := range effects {
		lines.WriteString(indented(e.Annotations, host, path))
		if e.Canary != "" {
			canaries.WriteString(manifest(name+"-canary", host, path, "other", indented(e.Canary, host, path)))
		}
	}
	return manifest(name, host, path, "web", lines.String()) + canaries.String()
}

func manifest(name, host, path, service, annotations string) string {
	return fmt.Sprintf(`---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: %s
  namespace: default
  annotations:
    example.org/name: %s
%sspec:
  ingressClassName: nginx
  rules: [{host: %s, http: {paths: [{path: %s, pathType: Prefix, backend: {service: {name: %s, port: {number: 80}}}}]}}]
`, name, name, annotations, host, path, service)
}

// indented returns annotations for a manifest. HOST and PATH in them are those of the Ingress.
func indented(annotations, host, path string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.NewReplacer("HOST", host, "PATH", path).Replace(annotations)) {
		indent := "    "
		if name, _, _ := strings.Cut(line, ":"); !strings.HasPrefix(line, " ") && !strings.Contains(name, "/") {
			indent += "nginx.ingress.kubernetes.io/"
		}
		out.WriteString(indent + strings.TrimSuffix(line, "\n") + "\n")
	}
	return out.String()
}

// Keys returns the names of the annotations.
func (e *Effect) Keys() []string { return keysOf(e.Annotations) }

func keysOf(annotations string) (names []string) {
	for line := range strings.Lines(annotations) {
		if name, _, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, " ") {
			names = append(names, name)
		}
	}
	return names
}
