package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The parts of the scenario. Each does something that sluice has to hear of, and
// waits until it has.

// answers waits until a host answers with a status.
func (s *scene) answers(host string, status int) {
	s.Helper()
	EventuallyStatus(s.T, s.Request("http://"+s.host(host)+"/"), status)
}

// serves: the Ingress is served, and its certificate is the one of its Secret.
func (s *scene) serves() {
	s.Helper()
	s.answers("web", http.StatusOK)
	r := s.Request("https://" + s.host("web") + "/")
	r.Roots = s.c.Roots()
	EventuallyStatus(s.T, r, http.StatusOK)
}

// followsEndpoints: pods go, and others come.
func (s *scene) followsEndpoints() {
	s.Helper()
	s.c.Apply(s.T, Deployment(s.shop, "web", 0))
	s.answers("web", http.StatusServiceUnavailable)
	s.c.Apply(s.T, Deployment(s.shop, "web", 2))
	s.answers("web", http.StatusOK)
}

// followsServices: a port comes that a rule names.
func (s *scene) followsServices() {
	s.Helper()
	ing := s.ingress("ports")
	ing.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Number = 81
	s.c.Apply(s.T, ing)
	s.answers("ports", http.StatusServiceUnavailable)
	service := Service(s.shop, "web")
	other := service.Spec.Ports[0]
	other.Name, other.Port = "other", 81
	service.Spec.Ports = append(service.Spec.Ports, other)
	s.c.Apply(s.T, service)
	s.answers("ports", http.StatusOK)
}

// rotates: the Secret has another certificate.
func (s *scene) rotates() {
	s.Helper()
	before := s.shown()
	s.c.Apply(s.T, s.c.TLSSecret(s.T, s.shop, "shop-tls", s.host("web")))
	Eventually(s.T, "another certificate", func(context.Context) error {
		if s.shown() == before {
			return errors.New("it is the same")
		}
		return nil
	})
	s.serves()
}

// shown is the serial number of the certificate that is served.
func (s *scene) shown() string {
	s.Helper()
	answer := EventuallyStatus(s.T, s.Request("https://"+s.host("web")+"/"), http.StatusOK)
	return answer.Certificate.SerialNumber.String()
}

// followsSettings: the ConfigMap says something else.
func (s *scene) followsSettings() {
	s.Helper()
	s.c.Apply(s.T, s.configMap(settingsName, "ssl-redirect", "true"))
	s.answers("web", http.StatusPermanentRedirect)
	s.c.Apply(s.T, s.configMap(settingsName, "ssl-redirect", "false"))
	s.answers("web", http.StatusOK)
}

// followsClassSettings: so does that of the other class.
func (s *scene) followsClassSettings() {
	s.Helper()
	s.answers("second", http.StatusForbidden)
	s.c.Apply(s.T, s.configMap("internal", "whitelist-source-range", "127.0.0.0/8"))
	s.answers("second", http.StatusOK)
}

// passesOn: a port is passed on as TCP, and then another one.
func (s *scene) passesOn() {
	s.Helper()
	EventuallyStatus(s.T, s.stream(s.streams[0]), http.StatusOK)
	s.c.Apply(s.T, s.streamsTo(s.streams[1]))
	EventuallyStatus(s.T, s.stream(s.streams[1]), http.StatusOK)
}

// followsHeaders: the ConfigMap with headers of answers has another value.
func (s *scene) followsHeaders() {
	s.Helper()
	for _, value := range []string{"one", "two"} {
		s.c.Apply(s.T, s.configMap(headersName, "X-One", value))
		EventuallyAnswer(s.T, s.Request("http://"+s.host("headed")+"/"), "the header "+value, func(a *Answer) bool {
			return a.Status == http.StatusOK && a.Header.Get("X-One") == value
		})
	}
}

// stream is a request to a port that is passed on.
func (s *scene) stream(port int) Request {
	return Request{URL: fmt.Sprintf("http://127.0.0.1:%d/", port)}
}

// changesClass: the Ingress goes to a class that is not ours, and comes back.
func (s *scene) changesClass() {
	s.Helper()
	moved := s.ingress("web")
	moved.Spec.IngressClassName = new("another")
	s.c.Apply(s.T, moved)
	s.answers("web", http.StatusNotFound)
	s.c.Apply(s.T, s.ingress("web"))
	s.answers("web", http.StatusOK)
}

// followsClasses: a class becomes ours, and then there is one more.
func (s *scene) followsClasses() {
	s.Helper()
	name := "third-" + s.class
	ing := s.ingress("third")
	ing.Spec.IngressClassName = &name
	s.c.Apply(s.T, ing)
	class := IngressClass(name)
	class.Spec.Controller = s.controller()
	s.c.Apply(s.T, class)
	s.answers("third", http.StatusOK)
}

// findsNamespaces: something is to be served of a namespace that was not there,
// and which has the label of its selector.
func (s *scene) findsNamespaces() {
	s.Helper()
	namespace := Namespace(s.late)
	namespace.Labels = s.selected()
	s.c.Apply(s.T, namespace, Deployment(s.late, "web", 1), Service(s.late, "web"))
	ing := s.ingress("late")
	ing.Namespace = s.late
	s.c.Apply(s.T, ing)
	s.answers("late", http.StatusOK)
}

// leavesTo: another controller writes the status back each time, and is named in
// an event of its Ingress.
func (s *scene) leavesTo(rival string) {
	s.Helper()
	s.contest(rival, func() bool {
		_, err := s.event(s.Context(), "Ingress", "contested", rival)
		return err == nil && s.hasLeft(rival)
	})
}

// hasLeft: sluice says that it leaves the status to a rival. On a machine so busy that the Lease is
// not renewed in time it has to learn that again.
func (s *scene) hasLeft(rival string) bool {
	s.Helper()
	return len(s.said("msg=problem ", "/contested", rival)) > len(s.said("problem mended", "/contested"))
}

// contest writes the status back each time that sluice has written it, until
// something has happened.
func (s *scene) contest(rival string, until func() bool) {
	s.Helper()
	const status = `{"status":{"loadBalancer":{"ingress":[{"ip":"` + rivals + `"}]}}}`
	Eventually(s.T, "the end of the contest", func(ctx context.Context) error {
		if until() {
			return nil
		}
		ing, err := s.get(ctx, "contested")
		if err != nil {
			return err
		}
		if now := addressesOf(ing); len(now) == 1 && now[0] != rivals {
			_, err = s.c.Admin().NetworkingV1().Ingresses(s.shop).Patch(ctx, "contested", types.MergePatchType, []byte(status), metav1.PatchOptions{FieldManager: rival}, "status")
		}
		return errors.Join(errors.New("it goes on"), err)
	})
}

// mistake is an annotation that is wrong.
const mistake = "nginx.ingress.kubernetes.io/proxy-read-timeout"

// errs makes the mistake in the Ingress web, or mends it.
func (s *scene) errs(wrong bool) {
	s.Helper()
	ing := s.ingress("web")
	if wrong {
		ing.Annotations = map[string]string{mistake: "soon"}
	}
	s.c.Apply(s.T, ing)
}

// tells: a mistake becomes an event of its Ingress, which is counted up when the
// mistake comes back; and so does a mistake of the settings.
func (s *scene) tells() {
	s.Helper()
	s.errs(true)
	s.awaitEvent("Ingress", "web", "soon")
	s.errsAgain()
	Eventually(s.T, "a count of 2", func(ctx context.Context) error {
		event, err := s.event(ctx, "Ingress", "web", "soon")
		if err == nil && event.Count != 2 {
			err = fmt.Errorf("it is %d", event.Count)
		}
		return err
	})
	s.errs(false)
	s.errsInSettings(true)
	s.awaitEvent("ConfigMap", settingsName, "soon")
	s.errsInSettings(false)
}

// errsAgain mends the mistake and makes it again.
func (s *scene) errsAgain() {
	s.Helper()
	s.errs(false)
	s.awaitSaid("problem mended", "/web", mistake)
	s.awaitEvent("Ingress", "web", ofEnd)
	s.errs(true)
}

// errsInSettings makes a mistake in the settings, or mends it.
func (s *scene) errsInSettings(wrong bool) {
	s.Helper()
	if wrong {
		s.c.Apply(s.T, s.configMap(settingsName, "proxy-read-timeout", "soon"))
		return
	}
	s.c.Apply(s.T, s.configMap(settingsName, "ssl-redirect", "false"))
}

// ofEnd is in the events that tell the end of a mistake, and in no others.
const ofEnd = "mended; it was"

// event gives an event of an object, with a text.
func (s *scene) event(ctx context.Context, kind, name, text string) (*corev1.Event, error) {
	namespace := s.shop
	if kind == "ConfigMap" {
		namespace = s.own
	}
	events, err := s.c.Admin().CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=" + kind + ",involvedObject.name=" + name})
	if err != nil {
		return nil, err
	}
	for _, event := range events.Items {
		if event.Source.Component == "sluice" && strings.Contains(event.Message, text) && (event.Type == corev1.EventTypeNormal) == (text == ofEnd) {
			return &event, nil
		}
	}
	return nil, fmt.Errorf("none of %d events says %q", len(events.Items), text)
}

func (s *scene) awaitEvent(kind, name, text string) {
	s.Helper()
	Eventually(s.T, fmt.Sprintf("an event of the %s %s that says %q", kind, name, text), func(ctx context.Context) error {
		_, err := s.event(ctx, kind, name, text)
		return err
	})
}

// lease is the Lease of the election.
func (s *scene) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	return s.c.Admin().CoordinationV1().Leases(s.own).Get(ctx, s.election(), metav1.GetOptions{})
}

// election is the name of the Lease.
func (s *scene) election() string {
	for _, argument := range s.arguments {
		if name, is := strings.CutPrefix(argument, "--election-id="); is {
			return name
		}
	}
	return "sluice-leader"
}

// holder is who holds the Lease.
func holder(l *coordinationv1.Lease) string {
	if l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// leads: the pod holds the Lease, and renews it.
func (s *scene) leads() {
	s.Helper()
	var first *metav1.MicroTime
	Eventually(s.T, "a Lease that the pod renews", func(ctx context.Context) error {
		lease, err := s.lease(ctx)
		switch {
		case err != nil:
			return err
		case holder(lease) != s.pod.Name:
			return fmt.Errorf("%q holds it", holder(lease))
		case first == nil:
			first = lease.Spec.RenewTime
		}
		if !lease.Spec.RenewTime.After(first.Time) {
			return errors.New("it is not renewed yet")
		}
		return nil
	})
}

// retires: sluice ends, removes the status and releases the Lease.
func (s *scene) retires() {
	s.Helper()
	s.contest("rival", func() bool { return s.hasLeft("rival") })
	s.Terminate()
	for _, name := range []string{"web", "contested"} {
		ing, err := s.get(s.Context(), name)
		if err != nil {
			s.Fatal(err)
		}
		want := map[string]string{"contested": rivals}[name]
		if now := strings.Join(addressesOf(ing), " "); now != want {
			s.Errorf("after the end the Ingress %s has the addresses %q, want %q", name, now, want)
		}
	}
	lease, err := s.lease(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if holder(lease) != "" {
		s.Errorf("after the end %q holds the Lease", holder(lease))
	}
}

// play is the whole scenario, as far as the account's reach goes.
func (s *scene) play() {
	s.Helper()
	s.start()
	s.serves()
	s.followsEndpoints()
	s.followsServices()
	s.rotates()
	s.followsSettings()
	s.changesClass()
	if s.from == "streams" {
		s.passesOn()
	}
	if s.heads() {
		s.followsHeaders()
	}
	if s.hooked() {
		s.keepsCertificate()
		s.changesBundleOnly()
	}
	if !s.namespaced() {
		s.followsClassSettings()
		s.followsClasses()
		s.findsNamespaces()
	}
	s.awaitStatus("web", s.reachedBy())
	s.leads()
	s.leavesTo("rival")
	s.tells()
	s.retires()
}

// reachedBy is the address that Ingresses are given.
func (s *scene) reachedBy() string {
	s.Helper()
	if s.from == "status-from-nodes" {
		return s.nodeAddress(corev1.NodeExternalIP)
	}
	return published
}

// nodeAddress is an address of the node that the pod is on.
func (s *scene) nodeAddress(kind corev1.NodeAddressType) string {
	s.Helper()
	pod, err := s.c.Admin().CoreV1().Pods(s.own).Get(s.Context(), s.pod.Name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	node, err := s.c.Admin().CoreV1().Nodes().Get(s.Context(), pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	for _, address := range node.Status.Addresses {
		if address.Type == kind {
			return address.Address
		}
	}
	s.Fatalf("the node %s has no %s", node.Name, kind)
	return ""
}
