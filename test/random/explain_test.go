package random

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/explain"
	"sluice/test/recorded"
)

// explainFault compares the answer of nginx here with what explain says of the request, ""
// if they agree. explain knows no address, body and certificate of a client, nor what a server
// that authenticates or a snippet says, nor whether a pod speaks a protocol: it names what may
// answer instead, which is accepted then.
func (a *asked) explainFault() string {
	e := a.explained()
	served := slices.DeleteFunc(podsOf(a), func(service string) bool { return service == "auth" || service == "mirror" })
	last := ""
	if len(served) > 0 {
		last = served[len(served)-1]
	}
	fits, mayRefuse := false, strings.Contains(e.Summary, ", unless ") || a.refusedBy(e)
	switch {
	case a.got.Err != "" || e.Answer.Kind == explain.ToUnknown || strings.Contains(e.Summary, " says something else"):
		fits = true // also a TLS connection that nobody takes
	case a.got.Status == 400 && a.https() && a.asksForCertificates():
		fits = true
	case last != "":
		fits = slices.ContainsFunc(append([]string{e.Answer.Service}, e.Answer.Canaries...), func(name string) bool { return a.leadsTo(name, last) })
	case e.Answer.Kind == explain.ToService:
		fits = a.got.Status == 502 || mayRefuse
	default:
		fits = a.got.Status == e.Answer.Status && a.sameLocation() || mayRefuse
	}
	if fits {
		return ""
	}
	return fmt.Sprintf("explain says %s, and nginx answered %d by %q", e.Outcome, a.got.Status, last)
}

// leadsTo says whether a Service, as namespace/name:port, has a pod that is named so: itself,
// one that its name leads to, or that of an error page.
func (a *asked) leadsTo(service, pod string) bool {
	_, name, _ := strings.Cut(service, "/")
	name, _, _ = strings.Cut(name, ":")
	return name == pod || name == "ext" && pod == "a" || pod == a.owner().Annotations["default-backend"]
}

// asksForCertificates says whether an Ingress of the world asks for certificates of clients.
func (a *asked) asksForCertificates() bool {
	return slices.ContainsFunc(a.world.Ingresses, func(in recorded.Ingress) bool { return in.Annotations["auth-tls-secret"] != "" })
}

// podsOf are the Services whose pods got the request.
func podsOf(a *asked) []string {
	var services []string
	for _, h := range a.got.Hits {
		services = append(services, podOf(h.By))
	}
	return services
}

// port is that of a URL; those of the test are not those that explain knows.
var port = regexp.MustCompile(`^(https?://[^/:]+):[0-9]+`)

// sameLocation says whether a redirect leads where explain says.
func (a *asked) sameLocation() bool {
	want, got := a.explained().Answer.Location, a.got.Headers["Location"]
	return want == "" || port.ReplaceAllString(want, "$1") == port.ReplaceAllString(got, "$1")
}

// refusedBy says whether a behaviour may give the status of the answer.
func (a *asked) refusedBy(e *explain.Explanation) bool {
	if e.Applied == nil {
		return false
	}
	return slices.ContainsFunc(e.Applied.Behaviours, func(b explain.Behaviour) bool {
		return b.Refuses || b.Answers && a.got.Status == 204 || b.Name == "body-size" && a.got.Status == 413
	})
}
