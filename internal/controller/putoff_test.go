package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// object returns a manifest for "ingress NAME SERVICE SECRET", "service NAME", "slice
// SERVICE ADDRESS" or "secret NAME CONTENT".
func object(t *testing.T, text string) string {
	t.Helper()
	words := append(strings.Fields(text), "", "")
	switch words[0] {
	case "ingress":
		tls := ""
		if words[3] != "" {
			tls = fmt.Sprintf("  tls: [{hosts: [%s.example], secretName: %s}]\n", words[1], words[3])
		}
		return fmt.Sprintf("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: %[1]s, namespace: default}\nspec:\n  ingressClassName: nginx\n"+
			"%[3]s  rules: [{host: %[1]s.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %[2]s, port: {number: 80}}}}]}}]\n", words[1], words[2], tls)
	case "service":
		return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: default}\nspec: {ports: [{port: 80}]}\n", words[1])
	case "slice":
		return fmt.Sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %[1]s, namespace: default, labels: {kubernetes.io/service-name: %[1]s}}\n"+
			"addressType: IPv4\nports: [{port: 8080}]\nendpoints: [{addresses: [%[2]s], conditions: {ready: true}}]\n", words[1], words[2])
	case "secret":
		return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: default}\ntype: kubernetes.io/tls\nstringData: {tls.crt: %q, tls.key: x}\n", words[1], words[2])
	}
	t.Fatalf("object %q", text)
	return ""
}

// TestChangesThatWaitForTheEndOfAReload: a change waits if only the next file can serve
// it. Changes of endpoints and certificates in use do not wait, nor those of a last
// good form.
func TestChangesThatWaitForTheEndOfAReload(t *testing.T) {
	t.Parallel()
	before := []string{"ingress a a a", "service a", "slice a 10.0.0.1", "secret a one", "ingress bare bare bare", "ingress b b", "ingress plain default", "service b", "slice b 10.0.0.2", "service default", "slice default 10.0.0.3", "ingress both both", "service both", "slice both 10.0.0.6",
		"ingress held new new", "service old", "slice old 10.0.0.5", "secret old one"} // of held another form is served: it names old
	for _, c := range []struct {
		name     string
		add      []string
		without  []string
		mustTell bool
	}{
		{"nothing", nil, nil, false},
		{"new Ingress with all that it names", []string{"ingress c c c", "service c", "slice c 10.0.0.4", "secret c one"}, nil, false},
		{"new Ingress of a Service that runs", []string{"ingress c a"}, nil, false},
		{"Service that nobody names", []string{"service z", "slice z 10.0.0.9"}, nil, false},
		{"Ingress that goes with all that it names", nil, before[:4], false},
		{"other path of an Ingress", []string{"ingress b a"}, []string{"ingress b b"}, false},
		{"other endpoints", []string{"slice a 10.0.0.7"}, []string{"slice a 10.0.0.1"}, true},
		{"no endpoints", nil, []string{"slice a 10.0.0.1"}, true},
		{"other endpoints of the default backend", []string{"slice default 10.0.0.7"}, []string{"slice default 10.0.0.3"}, true},
		{"other endpoints of the default backend, which an Ingress that goes names", []string{"slice default 10.0.0.7"}, []string{"slice default 10.0.0.3", "ingress plain default"}, true},
		{"other endpoints of a Service that something else names", []string{"slice zz 10.0.0.7"}, nil, true},
		{"other endpoints of a Service that something else names too, whose Ingress goes", []string{"slice both 10.0.0.7"}, []string{"slice both 10.0.0.6", "ingress both both"}, true},
		{"other endpoints while the Ingress is renamed", []string{"ingress a2 a a", "slice a 10.0.0.7"}, []string{"ingress a a a", "slice a 10.0.0.1"}, true},
		{"no Service while the Ingress is renamed", []string{"ingress a2 a a"}, []string{"ingress a a a", "service a", "slice a 10.0.0.1"}, true},
		{"other certificate while the Ingress is renamed", []string{"ingress a2 a a", "secret a two"}, []string{"ingress a a a", "secret a one"}, true},
		{"no certificate while the Ingress is renamed", []string{"ingress a2 a a"}, []string{"ingress a a a", "secret a one"}, true},
		{"certificate that was missing, while the Ingress is renamed", []string{"ingress bare2 bare bare", "secret bare one"}, []string{"ingress bare bare bare"}, true},
		{"renamed Ingress", []string{"ingress a2 a a"}, []string{"ingress a a a"}, false},
		{"no Service", nil, []string{"service a", "slice a 10.0.0.1"}, true},
		{"other certificate", []string{"secret a two"}, []string{"secret a one"}, true},
		{"no certificate", nil, []string{"secret a one"}, true},
		{"certificate that was missing", []string{"secret bare one"}, nil, true},
		{"default certificate", []string{"secret standard one"}, nil, true},
		{"endpoints of a last good form", []string{"slice old 10.0.0.6"}, []string{"slice old 10.0.0.5"}, true},
		{"certificate of a last good form", []string{"secret old two"}, []string{"secret old one"}, true},
		{"certificate of a form that is not served", []string{"secret new one"}, nil, false},
		{"Ingress in quarantine that is mended", []string{"ingress held a"}, []string{"ingress held new new"}, true},
		{"Ingress in quarantine that goes", nil, []string{"ingress held new new"}, true},
		{"Ingress that names another certificate", []string{"ingress a a c", "secret c one"}, []string{"ingress a a a"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			options := translate.Options{
				IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true, AnnotationsPrefix: "nginx.ingress.kubernetes.io",
				DefaultBackend: snapshot.Name{Namespace: "default", Name: "default"}, DefaultCertificate: snapshot.Name{Namespace: "default", Name: "standard"},
			}
			after := c.add
			for _, o := range before {
				gone := false
				for _, w := range c.without {
					gone = gone || w == o
				}
				if !gone {
					after = append(after, o)
				}
			}
			files := map[string]snapshot.Objects{}
			load := func(objects []string) snapshot.Objects {
				var all snapshot.Objects
				for _, o := range objects {
					if _, ok := files[o]; !ok {
						parsed, _, err := decode.FromYAML("test.yaml", []byte(object(t, o)))
						if err != nil {
							t.Fatal(err)
						}
						files[o] = parsed
					}
					all.Append(files[o])
				}
				return all
			}
			was, _ := snapshot.New(load(before))
			good, _ := snapshot.New(load([]string{"ingress held old old"}))
			held := snapshot.Name{Namespace: "default", Name: "held"}
			served := was.WithIngresses(map[snapshot.Name]*networkingv1.Ingress{held: good.Ingress(held)})
			config, _ := translate.Config(served, options, nil)
			config.Dynamic.Backends = append(config.Dynamic.Backends, &model.Backend{Key: "default/zz/80"})
			p := &plan{snap: was, served: served, config: config, file: &render.File{}}
			now, _ := snapshot.New(load(after))
			if got := p.mustBeTold(now, options); got != c.mustTell {
				t.Errorf("nginx must be told: %t, want %t", got, c.mustTell)
			}
		})
	}
}

// TestWaitingChangesLeaveNginxUpToDate: while changes wait, nginx has the current
// endpoints of each backend that stays, and the current certificates unless an Ingress
// changed in more than its name.
func TestWaitingChangesLeaveNginxUpToDate(t *testing.T) {
	t.Parallel()
	answers := map[bool]int{}
	for seed := range uint64(4) {
		w, o := byChance(t, 3*seed+1)
		var snapshots snapshot.Builder
		objects := snapshot.Objects{ConfigMaps: []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"}}}}
		var latest *plan
		onlyServices := true
		for step := range 300 {
			kind := w.changes(&objects)
			onlyServices = onlyServices && slices.Contains([]string{"service", "slice", "secret", "rename"}, kind)
			now, _ := snapshots.Next(objects)
			if latest != nil {
				got := latest.mustBeTold(now, o.Translate)
				answers[got]++
				config, _ := translate.Config(now.WithIngresses(latest.served.Replaced()), o.Translate, nil)
				if !got {
					staysCurrent(t, fmt.Sprintf("seed %d, step %d, %s", seed, step, kind), latest.config.Dynamic, config.Dynamic, onlyServices)
				}
				if !got && w.IntN(8) > 0 {
					continue
				}
			}
			latest = &plan{snap: now, served: now.WithIngresses(w.quarantine(&o, objects))}
			latest.config, _ = translate.Config(latest.served, o.Translate, nil)
			onlyServices = true
		}
	}
	if answers[true] < 50 || answers[false] < 50 {
		t.Errorf("the answers show little: %v", answers)
	}
}

// staysCurrent compares the runtime state of nginx with the one it should have.
func staysCurrent(t *testing.T, step string, has, now model.Dynamic, certificates bool) {
	t.Helper()
	for _, b := range has.Backends {
		if is := now.Backend(b.Key); is != nil && is.Key == b.Key && !sameBackend(b, is) {
			t.Fatalf("%s: backend %s has %v, want %v", step, b.Key, b.Endpoints, is.Endpoints)
		}
	}
	if certificates && !slices.Equal(has.Names, now.Names) {
		t.Fatalf("%s: names have %v, want %v", step, has.Names, now.Names)
	}
}
