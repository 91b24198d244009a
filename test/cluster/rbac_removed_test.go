package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// removal is a scene without one of the rights, and what is seen of that.
type removal struct {
	right
	cast cast
	// breaks does what the right is for, and wants to see that it is missing.
	breaks func(*scene)
}

// name is that of the subtest.
func (r removal) name() string {
	return strings.ReplaceAll(r.cast.from+" without "+r.String(), "/", " ")
}

func (r removal) play(s *scene) {
	s.Helper()
	r.breaks(s)
	Eventually(s.T, "the denial of "+r.String()+" in the audit log", func(context.Context) error {
		if got := s.refused(); !slices.Contains(got, r.resource+" "+r.verb) {
			return fmt.Errorf("denied are %q", got)
		}
		return nil
	})
}

// removedFrom are the casts whose rights are taken out. Those of the first are not
// taken out of the others again, but where everything is granted otherwise.
var removedFrom = []string{"everything", "single secrets", "metadata of secrets", "namespace selector", "status from nodes", "TCP and UDP services", "headers", "single headers", "one namespace"}

// broken says what is missing without each right that the chart grants.
var broken = map[string]func(*scene){
	"ClusterRole/sluice ingresses list":         (*scene).neverReady,
	"ClusterRole/sluice ingresses watch":        (*scene).hearsLate,
	"ClusterRole/sluice ingresses get":          (*scene).knowsNoRival,
	"ClusterRole/sluice ingresses/status patch": (*scene).mayNotWriteStatus,
	"ClusterRole/sluice ingressclasses list":    (*scene).goesByNames,
	"ClusterRole/sluice ingressclasses watch":   (*scene).hearsLate,
	"ClusterRole/sluice services list":          (*scene).neverReady,
	"ClusterRole/sluice services watch":         (*scene).hearsLate,
	"ClusterRole/sluice endpointslices list":    (*scene).neverReady,
	"ClusterRole/sluice endpointslices watch":   (*scene).hearsLate,
	"ClusterRole/sluice events create":          (*scene).tellsNothing,
	"ClusterRole/sluice events patch":           (*scene).countsNothing,

	"ClusterRole/sluice secrets get":      (*scene).hasNoCertificate,
	"ClusterRole/sluice secrets list":     (*scene).neverReady,
	"ClusterRole/sluice secrets watch":    (*scene).hearsLate,
	"ClusterRole/sluice namespaces list":  (*scene).givesNothing,
	"ClusterRole/sluice namespaces watch": (*scene).hearsLate,
	"ClusterRole/sluice nodes get":        (*scene).givesInternalAddress,

	"ClusterRole/sluice configmaps get":               (*scene).isNotHeaded,
	"Role/shop/sluice configmaps(headers) get":        (*scene).isNotHeaded,
	"Role/shop/sluice secrets(shop-tls) get":          (*scene).hasNoCertificate,
	"Role/settings/sluice configmaps(internal) list":  (*scene).isClosed,
	"Role/settings/sluice configmaps(internal) watch": (*scene).hearsLate,

	"Role/sluice/sluice configmaps(sluice-tcp,sluice-udp) list":  (*scene).passesNothingOn,
	"Role/sluice/sluice configmaps(sluice-tcp,sluice-udp) watch": (*scene).hearsLate,

	"ClusterRole/sluice validatingwebhookconfigurations(sluice-admission) get":   (*scene).isNotAsked,
	"ClusterRole/sluice validatingwebhookconfigurations(sluice-admission) patch": (*scene).isNotAsked,
	"Role/sluice/sluice secrets(sluice-admission) get":                           (*scene).isNotAsked,
	"Role/sluice/sluice secrets(sluice-admission) update":                        (*scene).isNotAsked,

	"Role/sluice/sluice configmaps(sluice-controller) list":  (*scene).neverReady,
	"Role/sluice/sluice configmaps(sluice-controller) watch": (*scene).hearsLate,
	"Role/sluice/sluice services(sluice-controller) get":     (*scene).writesNoStatus,
	"Role/sluice/sluice pods get":                            (*scene).leavesStatus,
	"Role/sluice/sluice pods list":                           (*scene).leavesStatus,
	"Role/sluice/sluice leases(sluice-leader) get":           (*scene).leadsNever,
	"Role/sluice/sluice leases create":                       (*scene).leadsNever,
	"Role/sluice/sluice leases(sluice-leader) update":        (*scene).leadsNotForLong,
	"Role/sluice/sluice events create":                       (*scene).tellsNothingOfSettings,
	"Role/sluice/sluice events patch":                        (*scene).countsNothingOfSettings,

	"Role/shop/sluice ingresses list":         (*scene).neverReady,
	"Role/shop/sluice ingresses watch":        (*scene).hearsLate,
	"Role/shop/sluice ingresses get":          (*scene).knowsNoRival,
	"Role/shop/sluice ingresses/status patch": (*scene).mayNotWriteStatus,
	"Role/shop/sluice services list":          (*scene).neverReady,
	"Role/shop/sluice services watch":         (*scene).hearsLate,
	"Role/shop/sluice endpointslices list":    (*scene).neverReady,
	"Role/shop/sluice endpointslices watch":   (*scene).hearsLate,
	"Role/shop/sluice secrets get":            (*scene).hasNoCertificate,
	"Role/shop/sluice events create":          (*scene).tellsNothing,
	"Role/shop/sluice events patch":           (*scene).countsNothing,
}

// removals are a scene for each right of each cast. What a list is for is seen
// without streaming lists, which need watch alone: not every API server has them.
func removals(t *testing.T) []removal {
	t.Helper()
	var all []removal
	known := map[string]bool{}
	first := rightsOf(t, rendered(t, ofChart(casts[removedFrom[0]].from)))
	for i, name := range removedFrom {
		with := casts[name]
		for _, gone := range rightsOf(t, rendered(t, ofChart(with.from))) {
			if i > 0 && !with.namespaced() && slices.Contains(first, gone) {
				continue
			}
			breaks := broken[gone.String()]
			if breaks == nil {
				t.Errorf("%s: what is missing without %s? want a line in the table of this test", with.from, gone)
				continue
			}
			known[gone.String()] = true
			with.missing, with.plainLists = &gone, gone.verb == "list"
			all = append(all, removal{right: gone, cast: with, breaks: breaks})
		}
	}
	for name := range broken {
		if !known[name] {
			t.Errorf("the chart does not grant %s any more: want no line for it", name)
		}
	}
	return all
}

// complains waits until sluice's log says which right is missing, in the words of
// the API server.
func (s *scene) complains(more ...string) {
	s.Helper()
	s.awaitSaid(append(more, s.lack())...)
}

// lack is how the API server says that the right is missing.
func (s *scene) lack() string {
	return fmt.Sprintf("cannot %s resource %q", s.missing.verb, s.missing.resource)
}

// neverReady: nothing is served, and /readyz says why.
func (s *scene) neverReady() {
	s.Helper()
	s.Launch(s.T)
	Eventually(s.T, "a readiness that says what is missing", func(ctx context.Context) error {
		status, body, err := s.readiness(ctx)
		if err == nil && (status != http.StatusServiceUnavailable || !strings.Contains(body, s.lack())) {
			err = fmt.Errorf("it says %d %s", status, body)
		}
		return err
	})
}

// hearsLate: all is served, but changes are heard of by lists alone. That is said
// once, however often the watch is tried.
func (s *scene) hearsLate() {
	s.Helper()
	s.start()
	s.complains()
	s.serves()
	Eventually(s.T, "the watch to be tried again and again", func(context.Context) error {
		tried := 0
		for _, a := range s.c.Asked(s.T, s.user) {
			if a.Forbidden && a.Resource == s.missing.resource && a.Verb == "watch" {
				tried++
			}
		}
		if tried < 6 {
			return fmt.Errorf("it was tried %d times", tried)
		}
		return nil
	})
	s.wantSaidOnce()
}

// goesByNames: a class whose name is in --ingress-class is served, another of the
// same controller is not.
func (s *scene) goesByNames() {
	s.Helper()
	s.start()
	s.complains()
	s.answers("web", http.StatusOK)
	s.answers("second", http.StatusNotFound)
}

// givesNothing: what Namespaces give to their Ingresses is not known, and all are served.
func (s *scene) givesNothing() {
	s.Helper()
	s.start()
	s.complains()
	s.serves()
}

// isClosed: the settings of the class, which say who is let in, are not known.
func (s *scene) isClosed() {
	s.Helper()
	s.start()
	s.complains()
	s.answers("second", http.StatusServiceUnavailable)
}

// isNotHeaded: the Ingress that names headers answers 503 and is told that the
// permission is missing. The others are served.
func (s *scene) isNotHeaded() {
	s.Helper()
	s.start()
	s.complains()
	s.answers("headed", http.StatusServiceUnavailable)
	if len(s.Sluice.Log.Lines(s.T, "no permission to read ConfigMap "+s.shop+"/"+headersName)) == 0 {
		s.Error("the Problem does not say that the permission is missing")
	}
	s.serves()
}

// passesNothingOn: nobody listens on the port of the TCP service.
func (s *scene) passesNothingOn() {
	s.Helper()
	s.start()
	s.complains()
	if answer, err := s.stream(s.streams[0]).Do(s.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
		s.Errorf("want a refused connection, got %v, %v", answer, err)
	}
}

// hasNoCertificate: the host has another than the one of its Secret.
func (s *scene) hasNoCertificate() {
	s.Helper()
	s.start()
	s.complains()
	answer := EventuallyStatus(s.T, s.Request("https://"+s.host("web")+"/"), http.StatusOK)
	if slices.Contains(answer.Certificate.DNSNames, s.host("web")) {
		s.Error("the certificate of the Secret is shown")
	}
}

// wantNoStatus: the Ingress has no address.
func (s *scene) wantNoStatus() {
	s.Helper()
	ing, err := s.get(s.Context(), "web")
	if err != nil {
		s.Fatal(err)
	}
	if now := addressesOf(ing); len(now) > 0 {
		s.Errorf("the Ingress has the addresses %q", now)
	}
}

func (s *scene) writesNoStatus() {
	s.Helper()
	s.start()
	s.complains()
	s.wantNoStatus()
}

// mayNotWriteStatus: where a patch is denied an update is tried, and denied too.
func (s *scene) mayNotWriteStatus() {
	s.Helper()
	s.start()
	s.awaitSaid("patch of ingresses/status is forbidden")
	s.awaitSaid("status not written", `cannot update resource "ingresses/status"`)
	s.wantNoStatus()
}

// leadsNever: no replica leads, so that there is no status.
func (s *scene) leadsNever() {
	s.Helper()
	s.start()
	s.complains("election")
	s.wantNoStatus()
	if lease, err := s.lease(s.Context()); err == nil {
		s.Errorf("%q holds a Lease", holder(lease))
	}
}

// leadsNotForLong: the Lease is made, and not renewed.
func (s *scene) leadsNotForLong() {
	s.Helper()
	s.start()
	s.complains("election")
	s.awaitSaid("leadership", "leads=false")
}

// knowsNoRival: the status is left to another controller, and nobody is told.
func (s *scene) knowsNoRival() {
	s.Helper()
	s.start()
	s.contest("rival", func() bool { return len(s.said(s.lack())) > 0 })
	if _, err := s.event(s.Context(), "Ingress", "contested", "rival"); err == nil {
		s.Error("there is an event that names the rival")
	}
}

// leavesStatus: the last replica does not remove the status.
func (s *scene) leavesStatus() {
	s.Helper()
	s.start()
	s.awaitStatus("web", published)
	s.Terminate()
	s.awaitStatus("web", published)
	s.complains()
}

// givesInternalAddress: Ingresses are given what pods know of their node.
func (s *scene) givesInternalAddress() {
	s.Helper()
	s.start()
	s.awaitStatus("web", s.nodeAddress(corev1.NodeInternalIP))
}

// tellsNothing: a mistake becomes no event.
func (s *scene) tellsNothing() {
	s.Helper()
	s.start()
	s.errs(true)
	s.complains("an event is not written")
	if _, err := s.event(s.Context(), "Ingress", "web", ""); err == nil {
		s.Error("there is an event")
	}
}

// countsNothing: a mistake that comes again is not counted up.
func (s *scene) countsNothing() {
	s.Helper()
	s.start()
	s.errs(true)
	s.awaitEvent("Ingress", "web", "soon")
	s.errsAgain()
	s.complains("an event is not written")
	s.wantCount("Ingress", "web", 1)
}

func (s *scene) wantCount(kind, name string, want int32) {
	s.Helper()
	event, err := s.event(s.Context(), kind, name, "soon")
	if err != nil {
		s.Fatal(err)
	}
	if event.Count != want {
		s.Errorf("the event has the count %d, want %d", event.Count, want)
	}
}

// tellsNothingOfSettings: a mistake of the settings becomes no event.
func (s *scene) tellsNothingOfSettings() {
	s.Helper()
	s.start()
	s.errsInSettings(true)
	s.complains("an event is not written")
	if _, err := s.event(s.Context(), "ConfigMap", settingsName, ""); err == nil {
		s.Error("there is an event")
	}
}

// countsNothingOfSettings: one that comes again is not counted up.
func (s *scene) countsNothingOfSettings() {
	s.Helper()
	s.start()
	s.errsInSettings(true)
	s.awaitEvent("ConfigMap", settingsName, "soon")
	s.errsInSettings(false)
	s.awaitSaid("problem mended", "ConfigMap", "proxy-read-timeout")
	s.awaitEvent("ConfigMap", settingsName, ofEnd)
	s.errsInSettings(true)
	s.complains("an event is not written")
	s.wantCount("ConfigMap", settingsName, 1)
}
