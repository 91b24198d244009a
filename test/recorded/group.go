package recorded

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"os"
	"slices"
	"strings"
	"testing"

	"sluice/test/kit"
)

// binary is the sluice under test, built once.
var binary string

// Main runs the tests of a package with a sluice that is built before.
func Main(m *testing.M) {
	os.Exit(kit.WithSluice(func(path string) int { binary = path; return m.Run() }))
}

// configMap is that of the settings.
const configMap = "ingress-nginx/controller"

// variants are the flags that some scenarios were recorded with.
var variants = map[string][]string{
	"":                        nil,
	"watch-without-class":     {"--watch-ingress-without-class"},
	DefaultBackend:            nil, // the flag names a Service of the scenario
	"default-ssl-certificate": {"--default-ssl-certificate", "ingress-nginx/default-cert"},
	"disable-catch-all":       {"--disable-catch-all"},
	"ssl-passthrough":         {"--enable-ssl-passthrough"},
	"no-validation":           nil, // Sluice has no such flag: it always validates.
}

// Usual is the group of scenarios that have neither flags nor settings.
const Usual = "default"

// Groups puts those together that one Sluice can serve.
func Groups(t *testing.T, scenarios []*Scenario) map[string][]*Scenario {
	t.Helper()
	groups := map[string][]*Scenario{}
	for _, s := range scenarios {
		name := s.group(t)
		groups[name] = append(groups[name], s)
	}
	return groups
}

// group names the scenarios that can be served by one Sluice: those with the
// same flags and settings. One with a catch-all host is alone, since it would
// answer the hosts that others expect nobody to serve; so is one whose settings name a pod
// of its own.
func (s *Scenario) group(t *testing.T) string {
	name := s.Variant
	if s.Config != nil {
		name += strings.NewReplacer(`"`, "", " ", "", "{", "", "}", "", "/", "|").Replace(asJSON(t, s.Config))
	}
	if s.TCP != nil || s.takesAll() || podByAddress.MatchString(name) {
		name += s.Name
	}
	if name == "" {
		return Usual
	}
	return name
}

// takesAll says whether an Ingress has a catch-all host.
func (s *Scenario) takesAll() bool {
	nameless := func(r Rule) bool { return r.Host == "" }
	return slices.ContainsFunc(s.Ingresses, func(in Ingress) bool {
		return in.DefaultBackend != "" && in.Paths == nil && in.Rules == nil || in.Host != nil && *in.Host == "" || slices.ContainsFunc(in.Rules, nameless)
	})
}

// Files are the objects of the scenarios of a group, as manifests by their names, and
// the worlds that have them in place.
func Files(t *testing.T, scenarios []*Scenario) (files map[string]string, worlds map[string]*World) {
	t.Helper()
	files, worlds = map[string]string{}, map[string]*World{}
	for _, s := range scenarios {
		w := newWorld(t, s)
		w.apply(&s.Objects)
		if s.Variant == DefaultBackend {
			w.putService(Service{Name: DefaultBackend, Endpoints: []string{"ready"}, Ports: []port{{Name: "http", Port: 80, Target: 8080}}})
		}
		worlds[s.Name], files[s.Name] = w, w.Manifests()
	}
	files["base"] = base(t, scenarios[0].Config, worlds[scenarios[0].Name])
	return files, worlds
}

// Flags are those of the Sluice of a group.
func Flags(scenarios []*Scenario, worlds map[string]*World) []string {
	first := scenarios[0]
	flags := variants[first.Variant]
	if first.TCP != nil {
		flags = append(flags, "--tcp-services-configmap", worlds[first.Name].Namespace+"/tcp-services")
	}
	if first.Variant == DefaultBackend {
		flags = append(flags, "--default-backend-service", worlds[first.Name].Namespace+"/"+DefaultBackend)
	}
	return flags
}

// base are the objects that every scenario builds on. The settings may name addresses of a
// world.
func base(t *testing.T, config map[string]string, of *World) string {
	t.Helper()
	w := newWorld(t, &Scenario{})
	w.Namespace = "ingress-nginx"
	data := map[string]string{"worker-processes": "1"}
	for key, value := range config {
		data[key] = of.Local(value)
	}
	w.put("ConfigMap", "controller", object{"data": data})
	w.put("IngressClass", "nginx", object{"spec": object{"controller": "k8s.io/ingress-nginx"}})
	pair := Sign(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "default.oracle.example"}, DNSNames: []string{"default.oracle.example"}})
	w.put("Secret", "default-cert", object{"type": "kubernetes.io/tls", "data": object{"tls.crt": pair.certificate, "tls.key": pair.private}})
	return w.Manifests()
}
