package translate

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/snapshot"
)

// world is a set of objects and options to translate. Ingresses are written in
// short (see ing); everything else is YAML.
type world struct {
	ingresses []ing
	yaml      string
	config    map[string]string
	options   func(*Options)
}

// ing is an Ingress in short. rules are "HOST PATH TYPE SERVICE:PORT", with "*"
// for no host, "-" for no path, and "HOST" alone for a rule without paths. tls
// is "SECRET HOST...". age is in days; 0 is the youngest. The namespace is
// default unless name holds another.
type ing struct {
	name        string
	age         int
	annotations map[string]string
	rules       []string
	tls         []string
	spec        string // more lines of the spec
}

// services are the backends of the cases' rules: a to e, each with one endpoint.
func services() string {
	var out strings.Builder
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		fmt.Fprintf(&out, `---
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: default}
spec: {ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-1, namespace: default, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.%[2]d], conditions: {ready: true}}]
ports: [{name: http, port: 8080}]
`, name, i+1)
	}
	return out.String()
}

func (i ing) yaml() string {
	namespace, name, found := strings.Cut(i.name, "/")
	if !found {
		namespace, name = "default", i.name
	}
	var out strings.Builder
	fmt.Fprintf(&out, "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  namespace: %s\n  name: %s\n  creationTimestamp: \"2026-01-%02dT00:00:00Z\"\n", namespace, name, 28-i.age)
	if len(i.annotations) > 0 {
		out.WriteString("  annotations:\n")
		for key, value := range i.annotations {
			if !strings.Contains(key, "/") {
				key = "nginx.ingress.kubernetes.io/" + key
			}
			fmt.Fprintf(&out, "    %s: %s\n", key, strconv.Quote(value))
		}
	}
	out.WriteString("spec:\n")
	if !strings.Contains(i.spec, "ingressClassName:") && i.annotations["kubernetes.io/ingress.class"] == "" {
		out.WriteString("  ingressClassName: nginx\n")
	}
	for line := range strings.Lines(i.spec) {
		out.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	if len(i.tls) > 0 {
		out.WriteString("  tls:\n")
		for _, item := range i.tls {
			words := strings.Fields(item)
			fmt.Fprintf(&out, "  - {secretName: %q, hosts: [%s]}\n", strings.Trim(words[0], "-"), quoteAll(words[1:]))
		}
	}
	if len(i.rules) > 0 {
		out.WriteString("  rules:\n")
	}
	for _, rule := range i.rules {
		writeRule(&out, strings.Split(rule, " "))
	}
	return out.String()
}

func quoteAll(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, strconv.Quote(w))
	}
	return strings.Join(out, ", ")
}

func writeRule(out *strings.Builder, words []string) {
	fmt.Fprintf(out, "  - host: %q\n", strings.TrimSuffix(words[0], "*")+wildcardOnly(words[0]))
	if len(words) == 1 {
		return
	}
	service, port, _ := strings.Cut(words[3], ":")
	kind := "number"
	if _, err := strconv.Atoi(port); err != nil {
		kind = "name"
	}
	path := ""
	if words[1] != "-" {
		path = "path: " + strconv.Quote(words[1]) + ", "
	}
	types := map[string]string{"E": "Exact", "P": "Prefix", "I": "ImplementationSpecific"}
	fmt.Fprintf(out, "    http: {paths: [{%spathType: %s, backend: {service: {name: %s, port: {%s: %s}}}}]}\n", path, types[words[2]], service, kind, port)
}

// wildcardOnly removes "*" as the host of a rule without one.
func wildcardOnly(host string) string {
	if host != "*" && strings.HasSuffix(host, "*") {
		return "*"
	}
	return ""
}

// objects reads the world.
func (w world) objects(t *testing.T) snapshot.Objects {
	t.Helper()
	text := services() + w.yaml
	for _, i := range w.ingresses {
		text += i.yaml()
	}
	if !strings.Contains(w.yaml, "kind: IngressClass") {
		text += "---\napiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: k8s.io/ingress-nginx}\n"
	}
	if len(w.config) > 0 {
		text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: sluice, name: config}\ndata:\n"
		for key, value := range w.config {
			text += fmt.Sprintf("  %s: %q\n", key, value)
		}
	}
	objects, _, err := decode.FromYAML("world.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func (w world) flags() Options {
	o := testOptions()
	if len(w.config) > 0 {
		o.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	}
	if w.options != nil {
		w.options(&o)
	}
	return o
}

// translate returns the configuration and the Problems, each as "REASON OBJECT FIELD".
// It checks that shuffled objects give the same result.
func (w world) translate(t *testing.T) (model.Config, []string) {
	t.Helper()
	objects := w.objects(t)
	config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
	memo := NewMemo()
	for seed := range uint64(3) {
		shuffle(&objects, rand.New(rand.NewPCG(seed, 1)))
		again, others := Config(newSnapshot(t, objects), w.flags(), memo)
		if diff := difference(config, again); diff != "" {
			t.Fatalf("shuffled objects give another result:\n%s", diff)
		}
		if diff := difference(problems, others); diff != "" {
			t.Fatalf("shuffled objects give other problems:\n%s", diff)
		}
	}
	return config, summaries(problems)
}

// difference is cmp.Diff, but faster for equal values: cmp takes seconds for
// certificates and memos.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func newSnapshot(t *testing.T, o snapshot.Objects) *snapshot.Snapshot {
	t.Helper()
	s, problems := snapshot.New(o)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

func shuffle(o *snapshot.Objects, random *rand.Rand) {
	mix(o.Ingresses, random)
	mix(o.IngressClasses, random)
	mix(o.Services, random)
	mix(o.EndpointSlices, random)
	mix(o.Secrets, random)
}

func mix[T any](list []T, random *rand.Rand) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func summaries(problems []model.Problem) []string {
	var out []string
	for _, p := range problems {
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Reason, p.Object, strings.TrimPrefix(p.Field, "nginx.ingress.kubernetes.io/")))
		if p.Denies {
			line += " denies"
		}
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// ask returns the location that answers a URL "host/path", and the answer.
func ask(config model.Config, url string) string {
	host, path, _ := strings.Cut(url, "/")
	answer := route.Match(config.Static.Servers, host, "/"+path)
	if answer.Location == nil {
		return string(answer.Outcome)
	}
	l := answer.Location
	text := strings.TrimSpace(string(l.Modifier)+" "+l.Path) + " -> "
	if answer.Outcome != route.Served {
		text = string(answer.Outcome) + " "
	}
	switch {
	case l.Return != nil:
		text += strconv.Itoa(l.Return.Code)
	case l.Proxy != nil:
		text += l.Proxy.Service.Name
	}
	if l.Rewrite != nil {
		text += " as " + l.Rewrite.Target + " for " + l.Rewrite.Pattern
	}
	return text
}

// serverNamed returns the server of a host.
func serverNamed(t *testing.T, config model.Config, host string) *model.Server {
	t.Helper()
	for _, s := range config.Static.Servers {
		if s.Host == host {
			return s
		}
	}
	t.Fatalf("no server %q", host)
	return nil
}

// check compares the answers to URLs, given in pairs of URL and answer, and the
// Problems.
func (w world) check(t *testing.T, answers, problems []string) model.Config {
	t.Helper()
	config, got := w.translate(t)
	for i := 0; i+1 < len(answers); i += 2 {
		if answer := ask(config, answers[i]); answer != answers[i+1] {
			t.Errorf("%s: got %s, want %s", answers[i], answer, answers[i+1])
		}
	}
	if diff := cmp.Diff(problems, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	return config
}

// setPaths sets the paths of an Ingress's first rule, also to values that no manifest
// may contain.
func setPaths(object *networkingv1.Ingress, pathType networkingv1.PathType, paths ...string) {
	value := &networkingv1.HTTPIngressRuleValue{}
	for _, path := range paths {
		value.Paths = append(value.Paths, networkingv1.HTTPIngressPath{Path: path, PathType: new(pathType), Backend: networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: "a", Port: networkingv1.ServiceBackendPort{Number: 80}}}})
	}
	object.Spec.Rules[0].HTTP = value
}
