package cluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// An Ingress is served as soon as it is created, then as it is changed, and no
// more when it is deleted.
func TestIngressLifeCycle(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "life")
	s.web(t, "web", 1)
	s.web(t, "other", 1)
	apply := func(ing *networkingv1.Ingress) func() { return func() { s.Apply(t, ing) } }
	root := s.get("life.example", "/")
	takes(t, "created", apply(s.ingress("web", Rule("life.example", "/", "web", 80))), root, from("web"))
	takes(t, "another Service", apply(s.ingress("web", Rule("life.example", "/", "other", 80))), root, from("other"))
	takes(t, "another path", apply(s.ingress("web", Rule("life.example", "/shop", "web", 80))), s.get("life.example", "/shop/1"), from("web"))
	must(t, root, "nothing at the path before", status(http.StatusNotFound))
	takes(t, "an annotation", apply(annotated(s.ingress("web", Rule("life.example", "/shop", "web", 80)), "permanent-redirect", "https://elsewhere.example/")),
		s.get("life.example", "/shop"), func(a *Answer) bool {
			return a.Status == http.StatusMovedPermanently && a.Header.Get("Location") == "https://elsewhere.example/"
		})
	takes(t, "without it", apply(s.ingress("web", Rule("life.example", "/shop", "web", 80))), s.get("life.example", "/shop"), from("web"))
	takes(t, "another host", apply(s.ingress("web", Rule("moved.example", "/shop", "web", 80))), s.get("moved.example", "/shop"), from("web"))
	must(t, s.get("life.example", "/shop"), "nothing at the host before", status(http.StatusNotFound))
	takes(t, "deleted", func() { s.Delete(t, s.ingress("web")) }, s.get("moved.example", "/shop"), status(http.StatusNotFound))
}

// What changes behind a Service takes effect without a reload: pods that come and
// go, their port, and the Service itself.
func TestEndpointsChangeWithoutReload(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "endpoints")
	s.web(t, "web", 1)
	s.Apply(t, s.ingress("web", Rule("endpoints.example", "/", "web", 80)))
	request := s.get("endpoints.example", "/")
	first := EventuallyAnswer(t, request, "the first pod", from("web")).Echo
	s.awaitReload(t, "servers=2 ")
	reloads, conf := s.reloads(t), s.conf(t)

	s.Apply(t, Deployment("endpoints", "web", 3))
	addresses := s.AwaitEndpoints(t, "endpoints", "web", 3)
	for _, address := range addresses {
		reaches(t, "a pod was added", request, func(a *Answer) bool { return a.Echo != nil && a.Echo.IP == address })
	}
	takes(t, "a pod was replaced", func() {
		s.Delete(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "endpoints", Name: first.Pod}})
	}, request, from("web"))
	for _, address := range s.AwaitEndpoints(t, "endpoints", "web", 3) {
		if !slices.Contains(addresses, address) {
			reaches(t, "its successor", request, func(a *Answer) bool { return a.Echo != nil && a.Echo.IP == address })
		}
	}
	takes(t, "scaled to none", func() { s.Apply(t, Deployment("endpoints", "web", 0)) }, request, status(http.StatusServiceUnavailable))
	takes(t, "scaled up again", func() { s.Apply(t, Deployment("endpoints", "web", 1)) }, request, from("web"))

	moved := Service("endpoints", "web")
	moved.Spec.Ports[0].TargetPort = intstr.FromInt32(9) // nobody listens there
	takes(t, "another targetPort", func() { s.Apply(t, moved) }, request, status(http.StatusBadGateway))
	takes(t, "the right one again", func() { s.Apply(t, Service("endpoints", "web")) }, request, from("web"))
	if got := s.reloads(t); got != reloads || s.conf(t) != conf {
		t.Errorf("%d reloads, want none after the %d before", got-reloads, reloads)
	}
	takes(t, "the Service deleted", func() { s.Delete(t, Service("endpoints", "web")) }, request, status(http.StatusServiceUnavailable))
	takes(t, "the Service again", func() { s.Apply(t, Service("endpoints", "web")) }, request, from("web"))
}

// The ConfigMap with the settings takes effect when it comes and changes. A value that is
// not valid leaves its group of settings as it was. When the ConfigMap is deleted, its last
// content stays in force. Both are told.
func TestSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "settings", "--configmap", "settings/sluice")
	s.web(t, "web", 1)
	s.Apply(t, s.ingress("web", Rule("settings.example", "/", "web", 80)))
	request := s.get("settings.example", "/")
	EventuallyAnswer(t, request, "the pod, without a ConfigMap", from("web"))
	settings := func(pairs map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "settings", Name: "sluice"}, Data: pairs}
	}
	redirects := func(code int) func(*Answer) bool {
		return func(a *Answer) bool { return a.Status == code && strings.HasPrefix(a.Header.Get("Location"), "https:") }
	}
	takes(t, "created", func() { s.Apply(t, settings(map[string]string{"force-ssl-redirect": "true"})) }, request, redirects(308))
	takes(t, "changed", func() {
		s.Apply(t, settings(map[string]string{"force-ssl-redirect": "true", "http-redirect-code": "301"}))
	}, request, redirects(301))
	s.Apply(t, settings(map[string]string{"force-ssl-redirect": "perhaps"}))
	logged(t, s.Sluice, "msg=problem", "force-ssl-redirect", "perhaps")
	steady(t, "the redirect of the last good settings, with a value that is not valid", request, redirects(301))
	takes(t, "mended", func() { s.Apply(t, settings(map[string]string{"force-ssl-redirect": "true"})) }, request, redirects(308))

	// It was missing before it was created, too.
	gone := []string{`object="ConfigMap settings/sluice"`, "reason=NotFound"}
	mended := func() int { return countLogged(t, s.Sluice, append(gone, `msg="problem mended"`)...) }
	before := mended()
	s.Delete(t, settings(nil))
	logged(t, s.Sluice, append(gone, "msg=problem", "it was deleted: its last content stays in force until it is back")...)
	must(t, request, "the redirect of the last content", redirects(308))
	later := s.get("later.settings.example", "/")
	takes(t, "an Ingress after it was deleted", func() { s.Apply(t, s.ingress("later", Rule("later.settings.example", "/", "web", 80))) }, later, redirects(308))
	steady(t, "the redirect of the last content", request, redirects(308))
	if now := mended(); now != before {
		t.Errorf("the Problem was mended %d times while the ConfigMap is away", now-before)
	}
	takes(t, "created again, empty", func() { s.Apply(t, settings(nil)) }, request, from("web"))
	must(t, later, "the pod, by the defaults", from("web"))
	Eventually(t, "the Problem to be mended", func(context.Context) error {
		if now := mended(); now != before+1 {
			return fmt.Errorf("it was mended %d times", now-before)
		}
		return nil
	})
}

// A namespace that is deleted with all that is in it is served no more, and
// nothing else is touched.
func TestNamespaceIsDeletedWhole(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "staying")
	s.web(t, "web", 1)
	s.Apply(t, s.ingress("web", Rule("staying.example", "/", "web", 80)))
	s.Apply(t, Web("leaving", "web", 2)...)
	s.AwaitEndpoints(t, "leaving", "web", 2)
	s.Apply(t, s.TLSSecret(t, "leaving", "leaving", "leaving.example"))
	s.Apply(t, covered(annotated(ingressOf("staying", "leaving", "web", Rule("leaving.example", "/", "web", 80)), "ssl-redirect", "false"), "leaving", "leaving.example"))
	request := s.get("leaving.example", "/")
	EventuallyAnswer(t, request, "the pod", from("web"))
	EventuallyAnswer(t, s.Request("https://leaving.example/"), "its certificate", shows("leaving.example"))

	takes(t, "deleted", func() { s.each(t, "delete", untyped(t, []runtime.Object{Namespace("leaving")}), s.applier.delete) }, request, status(http.StatusNotFound))
	EventuallyAnswer(t, s.Request("https://leaving.example/"), "the default certificate", func(a *Answer) bool { return !shows("leaving.example")(a) })
	must(t, s.get("staying.example", "/"), "the other namespace's pod", from("web"))
	if lines := s.Log.Lines(t, "level=ERROR"); len(lines) > 0 {
		t.Errorf("errors were logged:\n%s", strings.Join(lines, "\n"))
	}
}

// What is wrong with one Ingress changes nothing of others, those that come later
// included, and is said.
func TestBadIngressBesideGood(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "beside")
	s.web(t, "web", 1)
	s.Apply(t, s.ingress("good", Rule("good.beside.example", "/", "web", 80)))
	EventuallyAnswer(t, s.get("good.beside.example", "/"), "the good one", from("web"))
	for name, bad := range map[string]*networkingv1.Ingress{
		"no pattern":           annotated(s.ingress("pattern", path("bad.beside.example", "/(", networkingv1.PathTypeImplementationSpecific, "web")), "use-regex", "true"),
		"injected":             s.ingress("injected", path("injected.beside.example", `/";}`+"\n"+`server{`, networkingv1.PathTypeImplementationSpecific, "web")),
		"a value of no kind":   annotated(s.ingress("value", Rule("value.beside.example", "/", "web", 80)), "proxy-body-size", "8 parsecs"),
		"a missing Service":    s.ingress("service", Rule("service.beside.example", "/", "nosuch", 80)),
		"a list of no kind":    annotated(s.ingress("list", Rule("list.beside.example", "/", "web", 80)), "whitelist-source-range", "home"),
		"an unread annotation": annotated(s.ingress("unread", Rule("unread.beside.example", "/", "web", 80)), "proxy-bodysize", "8m"),
	} {
		s.Apply(t, bad)
		logged(t, s.Sluice, "msg=problem", `object="Ingress beside/`+bad.Name+`"`)
		later := s.ingress("later-"+bad.Name, Rule("later-"+bad.Name+".beside.example", "/", "web", 80))
		takes(t, "one that came after "+name, func() { s.Apply(t, later) }, s.get("later-"+bad.Name+".beside.example", "/"), from("web"))
		must(t, s.get("good.beside.example", "/"), "the good one", from("web"))
	}
	steady(t, "what was created last", s.get("later-list.beside.example", "/"), from("web"))
	must(t, s.get("list.beside.example", "/"), "a refusal, because a list that protects cannot be read", status(http.StatusServiceUnavailable))
	must(t, s.get("value.beside.example", "/"), "the pod, without the behaviour", from("web"))
	takes(t, "a mended one", func() {
		s.Apply(t, annotated(s.ingress("list", Rule("list.beside.example", "/", "web", 80)), "whitelist-source-range", "127.0.0.0/8"))
	},
		s.get("list.beside.example", "/"), from("web"))
	logged(t, s.Sluice, `msg="problem mended"`, `object="Ingress beside/list"`)
}

// Changes that change nothing cause no turn of the loop: a new status, labels,
// fields that nobody reads.
func TestNoopsAreNoWork(t *testing.T) {
	t.Parallel()
	// It sees nothing of what other tests do, not even of their classes.
	s := within(t, Shared(t), "noops")
	s.web(t, "web", 1)
	service, slice := unselected("noops", "hand", s.AwaitEndpoints(t, "noops", "web", 1)[0])
	_, emptied := unselected("noops", "hand")
	both := s.ingress("web", Rule("noops.example", "/", "web", 80), Rule("noops.example", "/by-hand", "hand", 80))
	s.Apply(t, service, slice, both)
	EventuallyAnswer(t, s.get("noops.example", "/by-hand"), "the pod", from("web"))
	s.awaitReload(t, "servers=2 ")
	// Before the counts begin, a later change has come, and so all of the setup.
	s.Apply(t, emptied)
	EventuallyStatus(t, s.get("noops.example", "/by-hand"), http.StatusServiceUnavailable)
	s.Apply(t, slice)
	EventuallyAnswer(t, s.get("noops.example", "/by-hand"), "the pod", from("web"))
	reloads, syncs := s.reloads(t), s.syncs(t)
	ingresses, services := s.Admin().NetworkingV1().Ingresses("noops"), s.Admin().CoreV1().Services("noops")
	publish := func(i int) error {
		ing := s.ingressNow(t, "noops", "web")
		ing.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: fmt.Sprintf("192.0.2.%d", i+1)}}
		_, err := ingresses.UpdateStatus(t.Context(), ing, metav1.UpdateOptions{})
		return err
	}
	label := func(i int) error {
		patch := fmt.Sprintf(`{"metadata":{"labels":{"i":"%d"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{%d}"}}}`, i, i)
		_, err := ingresses.Patch(t.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	// The EndpointSlices take the labels of their Service over.
	labelService := func(i int) error {
		patch := fmt.Sprintf(`{"metadata":{"labels":{"i":"%d"}}}`, i)
		_, err := services.Patch(t.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	for i := range 20 {
		for what, change := range map[string]func(int) error{"the status": publish, "the labels of the Ingress": label, "those of the Service": labelService} {
			if err := change(i); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	// Watches keep the order: when a later change of each kind has come, all before
	// it have.
	s.Apply(t, emptied)
	EventuallyStatus(t, s.get("noops.example", "/by-hand"), http.StatusServiceUnavailable)
	if got := s.reloads(t); got != reloads {
		t.Errorf("%d reloads", got-reloads)
	}
	s.Apply(t, s.ingress("later", Rule("later.noops.example", "/", "web", 80)))
	EventuallyAnswer(t, s.get("later.noops.example", "/"), "the pod", from("web"))
	if lines := idle(s.Log.Lines(t, "msg=sync")[syncs:]); len(lines) > 0 {
		t.Errorf("%d syncs changed nothing:\n%s", len(lines), strings.Join(lines, "\n"))
	}
}

// unselected is a Service without pods, and its EndpointSlice with addresses. It has no address of
// its own, which nobody asks here: to give one, the API server makes an object more, and looks
// through all that it gave before.
func unselected(namespace, name string, addresses ...string) (*corev1.Service, *discoveryv1.EndpointSlice) {
	service := Service(namespace, name)
	service.Spec.Selector, service.Spec.ClusterIP = nil, corev1.ClusterIPNone
	port, portName := int32(PodPort), "http"
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &portName, Port: &port}},
		Endpoints: []discoveryv1.Endpoint{},
	}
	for _, address := range addresses {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{address}})
	}
	return service, slice
}

// idle gives the lines of syncs that name nothing that changed.
func idle(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc([]string{"hosts=", "hostsGone=", "services=", "servicesGone=", "certificates=", "certificatesGone=", "everywhere="},
			func(kind string) bool { return strings.Contains(line, " "+kind) })
	})
}
