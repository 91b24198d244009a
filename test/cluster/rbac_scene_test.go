package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"sluice/test/kit"
)

// cast says who a scene is played with.
type cast struct {
	// from is the name of the manifest in chartFolder that is applied.
	from string
	// missing is a right that is taken out of it; nil for none.
	missing *right
	// account is the service account, sluice if it is empty; rights are granted in
	// place of the chart's.
	account string
	rights  func(t testing.TB, own string) []runtime.Object
	// denied are the rights that it asks for in vain, though it needs none of them,
	// as "resource verb".
	denied []string
	// arguments are those of sluice besides the Deployment's; $(SHOP) is the
	// namespace of the Ingresses, and $(CLASS) their class.
	arguments []string
	// plainLists has sluice list before it watches, as it does where the API
	// server has no streaming lists.
	plainLists bool
	// oneNamespace has sluice run in the namespace that it serves.
	oneNamespace bool
}

// namespaced says whether sluice may not read IngressClasses.
func (c cast) namespaced() bool { return c.from == "one-namespace" || c.from == "own-namespace" }

// heads says whether sluice may read ConfigMaps with headers of answers.
func (c cast) heads() bool { return c.from == "headers" || c.from == "single-headers" }

// The names of objects that the chart makes.
const (
	settingsName = "sluice-controller" // of the ConfigMap, the Deployment and its Service, too
	streamsName  = "sluice-tcp"
	headersName  = "headers" // named by rbac.headerConfigMaps
)

// scene is a Sluice that runs as a pod of the chart's Deployment would: with
// its arguments and its service account, in namespaces and with classes of its
// own.
type scene struct {
	*testing.T
	*Sluice
	c *Cluster
	cast
	// own, shop and settings are the namespaces that are called sluice, shop and
	// settings in the manifest, and late one that is made later.
	own, shop, settings, late string
	// class is served by the name of --ingress-class, second by its controller.
	class, second string
	// hook is the ValidatingWebhookConfiguration.
	hook string
	// streams are ports that are passed on as TCP.
	streams [2]int
	// deployment is what sluice is a pod of.
	deployment appsv1.Deployment
	// user is the service account, and pod the pod that sluice is.
	user string
	pod  types.NamespacedName
}

// published and rivals are addresses that no node has.
const (
	published = "203.0.113.80"
	rivals    = "203.0.113.99"
)

// newScene applies the manifest and what there is to serve, and starts nothing.
func newScene(t *testing.T, c *Cluster, name string, with cast) *scene {
	t.Helper()
	s := &scene{T: t, c: c, cast: with, own: name + "-sluice", shop: name + "-shop", settings: name + "-settings", late: name + "-late"}
	if with.oneNamespace {
		s.own = s.shop
	}
	if s.account == "" {
		s.account = "sluice"
	}
	s.streams = [2]int{kit.Port(t), kit.Port(t)}
	s.user = ServiceAccount(s.own, s.account)
	at := places{namespaces: map[string]string{"sluice": s.own, "shop": s.shop, "settings": s.settings}, suffix: "-" + name}
	s.class, s.second, s.hook = theClass(t).Name+at.suffix, "second"+at.suffix, hookName+at.suffix
	shop := Namespace(s.shop)
	shop.Labels = s.selected()
	own := Namespace(s.own)
	own.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	c.Apply(t, own, Namespace(s.settings), shop) // the pods that are served are not restricted ones
	rights, others := s.split(at)
	s.grant(rights)
	s.deploy(others)
	s.populate()
	s.prepare()
	return s
}

// split gives the objects of the manifest that grant the rights, and the others,
// with their names in this scene.
func (s *scene) split(at places) (rights, others []*unstructured.Unstructured) {
	s.Helper()
	objects := rendered(s.T, ofChart(s.from))
	if s.missing != nil {
		without(s.T, objects, *s.missing)
	}
	for _, o := range objects {
		at.move(o)
		switch o.GetKind() {
		case "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
			rights = append(rights, o)
		default:
			others = append(others, o)
		}
	}
	if s.rights != nil {
		rights = untyped(s.T, s.rights(s.T, s.own))
	}
	return rights, others
}

// grant applies the rights, and waits until the API server knows of them.
func (s *scene) grant(objects []*unstructured.Unstructured) {
	s.Helper()
	s.c.each(s.T, "apply", objects, s.c.applier.apply)
	for _, o := range objects {
		_, rules, is := roleOf(s.T, o)
		if !is {
			continue
		}
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					s.awaitRight(o.GetNamespace(), rule.APIGroups[0], resource, verb, rule.ResourceNames)
				}
			}
		}
	}
}

// awaitRight waits until the API server knows of a right: it hears of new roles by
// watches.
func (s *scene) awaitRight(namespace, group, resource, verb string, names []string) {
	s.Helper()
	resource, subresource, _ := strings.Cut(resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: s.user, Groups: []string{"system:serviceaccounts", "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: group, Resource: resource, Subresource: subresource, Verb: verb},
	}}
	if len(names) > 0 {
		review.Spec.ResourceAttributes.Name = names[0]
	}
	Eventually(s.T, fmt.Sprintf("the right of %s to %s %s", s.user, verb, resource), func(ctx context.Context) error {
		answer, err := s.c.Admin().AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil && !answer.Status.Allowed {
			err = fmt.Errorf("it is denied: %s", answer.Status.Reason)
		}
		return err
	})
}

// deploy applies the rest of the manifest. The one replica of the Deployment is the
// pod that this sluice says to be.
func (s *scene) deploy(objects []*unstructured.Unstructured) {
	s.Helper()
	for _, o := range objects {
		switch o.GetKind() {
		case "Deployment":
			_ = unstructured.SetNestedField(o.Object, s.account, "spec", "template", "spec", "serviceAccountName")
			typed(s.T, o, &s.deployment)
		case "ConfigMap": // what they say is for the scene
			delete(o.Object, "data")
		case "IngressClass":
			_ = unstructured.SetNestedField(o.Object, s.controller(), "spec", "controller")
		}
	}
	s.c.each(s.T, "apply", objects, s.c.applier.apply)
	s.c.AwaitDeployment(s.T, s.own, s.deployment.Name)
	pods, err := s.c.Admin().CoreV1().Pods(s.own).List(s.Context(), metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(s.deployment.Spec.Selector)})
	if err != nil || len(pods.Items) != 1 {
		s.Fatalf("the pods of the Deployment are %v, %v", pods, err)
	}
	s.pod = types.NamespacedName{Namespace: s.own, Name: pods.Items[0].Name}
	const status = `{"status":{"loadBalancer":{"ingress":[{"ip":"` + published + `"}]}}}`
	if _, err := s.c.Admin().CoreV1().Services(s.own).Patch(s.Context(), settingsName, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
		s.Fatal(err)
	}
}

// selected are the labels of the namespaces of a scene.
func (s *scene) selected() map[string]string {
	return map[string]string{"cluster.test/served-by": s.class}
}

// controller is the spec.controller of the scene's classes.
func (s *scene) controller() string { return "cluster.test/" + s.class }

// host is one of the hosts of the scene; other scenes have others.
func (s *scene) host(name string) string { return name + "." + s.shop + ".example" }

// populate makes what is to be served: an Ingress of each class, and one that
// another controller writes to.
func (s *scene) populate() {
	s.Helper()
	second := IngressClass(s.second)
	second.Spec = networkingv1.IngressClassSpec{Controller: s.controller(), Parameters: &networkingv1.IngressClassParametersReference{
		Kind: "ConfigMap", Name: "internal", Scope: new(networkingv1.IngressClassParametersReferenceScopeNamespace), Namespace: &s.settings,
	}}
	s.c.Apply(s.T, Deployment(s.shop, "web", 2), Service(s.shop, "web"), second, s.configMap(settingsName, "ssl-redirect", "false"), s.configMap("internal", "whitelist-source-range", "198.51.100.0/24"),
		s.c.TLSSecret(s.T, s.shop, "shop-tls", s.host("web")), s.ingress("web"), s.ingress("contested"),
		s.streamsTo(s.streams[0]))
	if !s.namespaced() {
		s.c.Apply(s.T, s.ingress("second"))
	}
	if s.heads() {
		s.c.Apply(s.T, s.configMap(headersName, "X-One", "one"), s.ingress("headed"))
	}
	s.c.AwaitEndpoints(s.T, s.shop, "web", 2)
}

// streamsTo is the ConfigMap by which a port is passed on to the Service web.
func (s *scene) streamsTo(port int) *corev1.ConfigMap {
	return s.configMap(streamsName, fmt.Sprint(port), s.shop+"/web:80")
}

// configMap is one that sluice reads: settingsName, internal, streamsName or
// headersName, with one key.
func (s *scene) configMap(name, key, value string) *corev1.ConfigMap {
	namespace := s.own
	data := map[string]string{key: value}
	switch {
	case name == "internal":
		namespace = s.settings
	case name == headersName:
		namespace = s.shop
	case name == settingsName && s.heads():
		data["global-allowed-response-headers"] = "X-One"
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
}

// ingress is the Ingress of that name, of the host of that name; second has the
// class of that name, and web a certificate.
func (s *scene) ingress(name string) *networkingv1.Ingress {
	ing := Ingress(s.shop, name, Rule(s.host(name), "/", "web", 80))
	ing.Spec.IngressClassName = &s.class
	switch name {
	case "headed":
		ing.Annotations = map[string]string{"nginx.ingress.kubernetes.io/custom-headers": s.shop + "/" + headersName}
	case "second":
		ing.Spec.IngressClassName = &s.second
	case "web":
		ing.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{s.host(name)}, SecretName: "shop-tls"}}
	}
	return ing
}

// prepare takes the arguments of the Deployment's container, with the ports, the
// folder and the classes of this scene, and with times that a test can wait for.
func (s *scene) prepare() {
	s.Helper()
	s.Sluice = PrepareSluice(s.T, s.c.TokenKubeconfig(s.T, s.own, s.account))
	names := strings.NewReplacer("$(POD_NAMESPACE)", s.own, "$(SHOP)", s.shop, "$(CLASS)", s.class)
	arguments := slices.Concat(s.deployment.Spec.Template.Spec.Containers[0].Args, s.Arguments[1:], []string{
		"--ingress-class=" + s.class, "--controller-class=" + s.controller(),
		"--shutdown-grace-period=0", "--election-ttl=4s", "--status-update-interval=5",
	}, s.arguments)
	if s.hooked() {
		arguments = append(arguments, "--validating-webhook=127.0.0.1:"+fmt.Sprint(kit.Port(s.T)), "--validating-webhook-configuration="+s.hook)
	} else {
		arguments = append(arguments, "--validating-webhook=")
	}
	for i, argument := range arguments {
		arguments[i] = names.Replace(argument)
	}
	s.Arguments = arguments
	s.Environment = []string{"POD_NAMESPACE=" + s.own, "POD_NAME=" + s.pod.Name}
	if s.plainLists {
		s.Environment = append(s.Environment, "KUBE_FEATURE_WatchListClient=false")
	}
}

// start runs sluice until it is ready.
func (s *scene) start() {
	s.Helper()
	s.Launch(s.T)
	s.AwaitReady(s.T)
}

// get reads an Ingress of the shop.
func (s *scene) get(ctx context.Context, name string) (*networkingv1.Ingress, error) {
	return s.c.Admin().NetworkingV1().Ingresses(s.shop).Get(ctx, name, metav1.GetOptions{})
}

// addressesOf are the status of an Ingress.
func addressesOf(ing *networkingv1.Ingress) []string {
	var all []string
	for _, point := range ing.Status.LoadBalancer.Ingress {
		all = append(all, point.IP+point.Hostname)
	}
	return all
}

// awaitStatus waits for the addresses of an Ingress.
func (s *scene) awaitStatus(name string, want ...string) {
	s.Helper()
	Eventually(s.T, fmt.Sprintf("the addresses %q of the Ingress %s", want, name), func(ctx context.Context) error {
		ing, err := s.get(ctx, name)
		if err == nil && !slices.Equal(addressesOf(ing), want) {
			err = fmt.Errorf("they are %q", addressesOf(ing))
		}
		return err
	})
}

// said gives the lines of sluice's log with all of some texts.
func (s *scene) said(texts ...string) []string {
	s.Helper()
	var found []string
	for line := range strings.Lines(strings.ReplaceAll(s.Sluice.Log.Text(s.T), `\"`, `"`)) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			found = append(found, line)
		}
	}
	return found
}

// awaitSaid waits for a line of sluice's log with all of some texts.
func (s *scene) awaitSaid(texts ...string) {
	s.Helper()
	Eventually(s.T, fmt.Sprintf("%q in sluice's log", texts), func(context.Context) error {
		if len(s.said(texts...)) == 0 {
			return fmt.Errorf("it is not there")
		}
		return nil
	})
}

// wantSaidOnce: sluice's log does not say the same again and again of what it may
// not read.
func (s *scene) wantSaidOnce() {
	s.Helper()
	times := map[string]int{}
	for _, line := range s.said("not read", "is forbidden") {
		_, text, _ := strings.Cut(line, "error=")
		if times[text]++; times[text] == 2 {
			s.Errorf("sluice says again: %s", text)
		}
	}
}

// readiness asks /readyz.
func (s *scene) readiness(ctx context.Context) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/readyz", s.Healthz), nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// refused gives the rights that the account asked for in vain, each once.
func (s *scene) refused() []string {
	s.Helper()
	var all []string
	for _, a := range s.c.Asked(s.T, s.user) {
		if a.Forbidden {
			all = append(all, a.Resource+" "+a.Verb)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
