// Package compat holds Sluice against recorded answers of ingress-nginx 1.15.1.
// testdata has the scenarios, and for each the answers that ingress-nginx gave;
// here they are asked again, of the real Sluice with the real nginx on
// 127.0.0.1. Where Sluice answers otherwise on purpose, differences_test.go
// says why; anything else that differs fails.
package compat

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/settings"
	"sluice/test/kit"
)

// binary is the sluice under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(kit.WithSluice(func(path string) int { binary = path; return m.Run() }))
}

// configMap is that of the settings.
const configMap = "ingress-nginx/controller"

// variants are the flags that some scenarios were recorded with.
var variants = map[string][]string{
	"":                        nil,
	"watch-without-class":     {"--watch-ingress-without-class"},
	defaultBackend:            nil, // the flag names a Service of the scenario
	"default-ssl-certificate": {"--default-ssl-certificate", "ingress-nginx/default-cert"},
	"disable-catch-all":       {"--disable-catch-all"},
	"ssl-passthrough":         {"--enable-ssl-passthrough"},
	"no-validation":           nil, // Sluice has no such flag: it always validates.
}

func TestAnswersAreThoseOfIngressNginx(t *testing.T) {
	t.Parallel()
	groups := map[string][]*scenario{}
	for _, s := range readScenarios(t) {
		name := s.group(t)
		groups[name] = append(groups[name], s)
	}
	for _, nginx := range kit.Nginxes(t) {
		seen := &tally{}
		t.Cleanup(func() { t.Logf("%s nginx:\n%s", nginx.Name, seen) })
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			t.Run(nginx.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				askAll(t, nginx.Root, groups[name], seen)
			})
		}
	}
}

// group names the scenarios that can be served by one Sluice: those with the
// same flags and settings. One with a catch-all host is alone, since it would
// answer the hosts that others expect nobody to serve.
func (s *scenario) group(t *testing.T) string {
	name := s.Variant
	if s.Config != nil {
		name += strings.NewReplacer(`"`, "", " ", "", "{", "", "}", "").Replace(asJSON(t, s.Config))
	}
	if s.TCP != nil {
		name += s.Name
	}
	for _, in := range s.Ingresses {
		catchAll := in.DefaultBackend != "" && in.Paths == nil && in.Rules == nil
		if catchAll || in.Host != nil && *in.Host == "" {
			name += s.Name
			break
		}
	}
	if name == "" {
		return "default"
	}
	return name
}

// askAll puts the objects of all scenarios in place and goes through them.
func askAll(t *testing.T, root string, scenarios []*scenario, seen *tally) {
	files := map[string]string{}
	worlds := map[string]*world{}
	for _, s := range scenarios {
		w := newWorld(t, s)
		w.apply(&s.objects)
		if s.Variant == defaultBackend {
			w.putService(service{Name: defaultBackend, Endpoints: []string{"ready"}, Ports: []port{{Name: "http", Port: 80, Target: 8080}}})
		}
		worlds[s.Name], files[s.Name] = w, w.manifests()
	}
	files["base"] = base(t, scenarios[0].Config, worlds[scenarios[0].Name])
	flags := variants[scenarios[0].Variant]
	if scenarios[0].TCP != nil {
		flags = append(flags, "--tcp-services-configmap", worlds[scenarios[0].Name].namespace+"/tcp-services")
	}
	if scenarios[0].Variant == defaultBackend {
		flags = append(flags, "--default-backend-service", worlds[scenarios[0].Name].namespace+"/"+defaultBackend)
	}
	server := start(t, root, files, flags)
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			worlds[s.Name].replay(t, server, seen)
		})
	}
}

// base are the objects that every scenario builds on. The settings may name addresses of a
// world.
func base(t *testing.T, config map[string]string, of *world) string {
	t.Helper()
	w := newWorld(t, &scenario{})
	w.namespace = "ingress-nginx"
	data := map[string]string{"worker-processes": "1"}
	for key, value := range config {
		data[key] = of.local(value)
	}
	w.put("ConfigMap", "controller", object{"data": data})
	w.put("IngressClass", "nginx", object{"spec": object{"controller": "k8s.io/ingress-nginx"}})
	pair := sign(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "default.oracle.example"}, DNSNames: []string{"default.oracle.example"}})
	w.put("Secret", "default-cert", object{"type": "kubernetes.io/tls", "data": object{"tls.crt": pair.certificate, "tls.key": pair.private}})
	return w.manifests()
}

// replay sends the requests of a scenario, makes its changes, and compares.
func (w *world) replay(t *testing.T, server *sluice, seen *tally) {
	w.t, w.pods.t = t, t
	if w.unreachable {
		t.Skip("this machine has no address but its loopback")
	}
	recorded := readRecord(t, w.Name)
	if len(recorded.Answers) != len(w.Requests) {
		t.Fatalf("want an answer for each of %d requests, got %d", len(w.Requests), len(recorded.Answers))
	}
	for i := range w.Requests {
		r := &w.Requests[i]
		if r.Change != nil {
			w.clock = w.clock.Add(time.Duration(r.Pause) * time.Millisecond)
			w.apply(r.Change)
			server.change(t, w.Name, w.manifests())
			continue
		}
		want, got := recorded.Answers[i], w.ask(server, i, recorded.Answers[i])
		if slices.Contains(w.Features, "hash") {
			want, got = want.anyPods(), got.anyPods()
		}
		found := differences(want, got)
		seen.add(w.scenario, judge(t, w.question(i), recorded.stable(i, found)))
	}
}

// question names a request in the lists of differences.
func (s *scenario) question(i int) string { return s.Name + " " + s.Requests[i].label(i) }

// stable leaves out what differed between recordings, too.
func (r *record) stable(i int, found []string) []string {
	return slices.DeleteFunc(found, func(difference string) bool {
		place, _, _ := strings.Cut(difference, ": ")
		return slices.Contains(r.Unstable, fmt.Sprintf("/answers/%d%s", i, place))
	})
}

// verdict is what came of a request.
type verdict int

const (
	agrees verdict = iota
	onPurpose
	missing
	wrong
)

// expected is what the lists say of a request, with the reason.
func expected(question string) (verdict, string) {
	if reason, ok := intended[question]; ok {
		return onPurpose, reason
	}
	if key, ok := notBuilt[question]; ok {
		return missing, "not built yet: " + key
	}
	return agrees, ""
}

// judge fails for a difference that the lists do not have, and for one of theirs
// that is none.
func judge(t *testing.T, question string, found []string) verdict {
	t.Helper()
	listed, reason := expected(question)
	switch {
	case len(found) > 0 && listed == agrees:
		t.Errorf("%s differs:\n\t%s", question, strings.Join(found, "\n\t"))
		return wrong
	case len(found) == 0 && listed != agrees:
		t.Errorf("%s does not differ, though differences_test.go says it does: %s", question, reason)
		return wrong
	}
	return listed
}

// The lists name requests that there are, each once, and keys that nobody reads.
func TestDifferencesNameRequests(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range readScenarios(t) {
		for i := range s.Requests {
			known[s.question(i)] = true
		}
	}
	for _, question := range slices.Concat(slices.Collect(maps.Keys(intended)), slices.Collect(maps.Keys(notBuilt))) {
		if !known[question] {
			t.Errorf("no such request: %q", question)
		}
	}
	read := keysRead()
	for question, key := range notBuilt {
		if intended[question] != "" {
			t.Errorf("%s differs on purpose, or because of what is not built, but not both", question)
		}
		if read[key] {
			t.Errorf("%s: %s is read", question, key)
		}
	}
}

// keysRead are the annotations and settings that Sluice reads.
func keysRead() map[string]bool {
	read := map[string]bool{}
	for _, b := range annotations.All() {
		for _, doc := range b.Keys {
			read[doc.Key] = true
		}
	}
	for _, doc := range keys.Describe(settings.Settings{}) {
		read[doc.Key] = true
	}
	return read
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
