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

	"sluice/test/kit"
)

// binary is the sluice under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(kit.WithSluice(func(path string) int { binary = path; return m.Run() }))
}

// settings is the ConfigMap.
const settings = "ingress-nginx/controller"

// variants are the flags that some scenarios were recorded with.
var variants = map[string][]string{
	"":                        nil,
	"watch-without-class":     {"--watch-ingress-without-class"},
	"default-ssl-certificate": {"--default-ssl-certificate", "ingress-nginx/default-cert"},
}

func TestAnswersAreThoseOfIngressNginx(t *testing.T) {
	t.Parallel()
	groups := map[string][]*scenario{}
	for _, s := range readScenarios(t) {
		name := s.group(t)
		groups[name] = append(groups[name], s)
	}
	for _, nginx := range kit.Nginxes(t) {
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			t.Run(nginx.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				askAll(t, nginx.Root, groups[name])
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
func askAll(t *testing.T, root string, scenarios []*scenario) {
	files := map[string]string{"base": base(t, scenarios[0].Config)}
	worlds := map[string]*world{}
	for _, s := range scenarios {
		w := newWorld(t, s)
		w.apply(&s.objects)
		worlds[s.Name], files[s.Name] = w, w.manifests()
	}
	server := start(t, root, files, variants[scenarios[0].Variant])
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			worlds[s.Name].replay(t, server)
		})
	}
}

// base are the objects that every scenario builds on.
func base(t *testing.T, config map[string]string) string {
	t.Helper()
	w := newWorld(t, &scenario{})
	w.namespace = "ingress-nginx"
	data := maps.Clone(config)
	if data == nil {
		data = map[string]string{}
	}
	data["worker-processes"] = "1"
	w.put("ConfigMap", "controller", object{"data": data})
	w.put("IngressClass", "nginx", object{"spec": object{"controller": "k8s.io/ingress-nginx"}})
	pair := sign(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "default.oracle.example"}, DNSNames: []string{"default.oracle.example"}})
	w.put("Secret", "default-cert", object{"type": "kubernetes.io/tls", "data": object{"tls.crt": pair.certificate, "tls.key": pair.private}})
	return w.manifests()
}

// replay sends the requests of a scenario, makes its changes, and compares.
func (w *world) replay(t *testing.T, server *sluice) {
	w.t, w.pods.t = t, t
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
		found := differences(recorded.Answers[i], w.ask(server, i, r))
		judge(t, fmt.Sprintf("%s %s", w.Name, r.label(i)), recorded.stable(i, found))
	}
}

// stable leaves out what differed between recordings, too.
func (r *record) stable(i int, found []string) []string {
	return slices.DeleteFunc(found, func(difference string) bool {
		place, _, _ := strings.Cut(difference, ": ")
		return slices.Contains(r.Unstable, fmt.Sprintf("/answers/%d%s", i, place))
	})
}

// judge fails for a difference that is not intended, and for an intended one
// that is none.
func judge(t *testing.T, request string, found []string) {
	t.Helper()
	reason, expected := intended[request]
	switch {
	case len(found) > 0 && !expected:
		t.Errorf("%s differs:\n\t%s", request, strings.Join(found, "\n\t"))
	case len(found) == 0 && expected:
		t.Errorf("%s does not differ, though differences_test.go says it does: %s", request, reason)
	}
}

func TestIntendedDifferencesNameRequests(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range readScenarios(t) {
		for i := range s.Requests {
			known[fmt.Sprintf("%s %s", s.Name, s.Requests[i].label(i))] = true
		}
	}
	for request := range intended {
		if !known[request] {
			t.Errorf("no such request: %q", request)
		}
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
