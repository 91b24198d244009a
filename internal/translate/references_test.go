package translate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/snapshot"
)

func TestSecrets(t *testing.T) {
	t.Parallel()
	own := func(name string) snapshot.Name { return snapshot.Name{Namespace: "default", Name: name} }
	for name, test := range map[string]struct {
		ing  ing
		want []snapshot.Name
	}{
		"none":                          {ing{}, nil},
		"sorted, each once":             {ing{tls: []string{"b one", "a two", "b three"}}, []snapshot.Name{own("a"), own("b")}},
		"an annotation":                 {ing{annotations: map[string]string{"proxy-ssl-secret": " other/ca "}, tls: []string{"b one"}}, []snapshot.Name{own("b"), {Namespace: "other", Name: "ca"}}},
		"another namespace":             {ing{annotations: map[string]string{"tls-cert-namespace": "certs"}, tls: []string{"b one"}}, []snapshot.Name{{Namespace: "certs", Name: "b"}}},
		"a namespace that is none":      {ing{annotations: map[string]string{"tls-cert-namespace": "certs/a"}, tls: []string{"b one"}}, []snapshot.Name{own("b")}},
		"an annotation that names none": {ing{annotations: map[string]string{"proxy-ssl-secret": "a/b/c"}}, nil},
		"an annotation of another kind": {ing{annotations: map[string]string{"upstream-vhost": "a/b"}}, nil},
		"a tls item without a Secret":   {ing{spec: "tls: [{hosts: [one]}]"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.ing.name, test.ing.rules = "i", []string{"one / P a:80"}
			w := world{ingresses: []ing{test.ing}}
			if diff := cmp.Diff(test.want, Secrets(w.objects(t).Ingresses[0], w.flags())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// No API server takes a reference in spec.tls, so that none is followed there.
func TestSecretsOfTLSAreNames(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{{name: "i", tls: []string{"a one"}, rules: []string{"one / P a:80"}}}}
	object := w.objects(t).Ingresses[0]
	for _, name := range []string{"other/a", "default/a", "", "A"} {
		object.Spec.TLS[0].SecretName = name
		if got := Secrets(object, w.flags()); len(got) > 0 {
			t.Errorf("%q: got %v, want none", name, got)
		}
	}
}

func TestConfigMaps(t *testing.T) {
	t.Parallel()
	w := world{config: map[string]string{"hsts": "false"}, yaml: innerClass}
	settings, inner := snapshot.Name{Namespace: "sluice", Name: "config"}, snapshot.Name{Namespace: "team", Name: "inner"}
	for name, test := range map[string]struct {
		options func(*Options)
		want    []snapshot.Name
	}{
		"the settings, and those of our classes": {func(*Options) {}, []snapshot.Name{settings, inner}},
		"no settings":                            {func(o *Options) { o.ConfigMap = snapshot.Name{} }, []snapshot.Name{inner}},
		"the same for both":                      {func(o *Options) { o.ConfigMap = inner }, []snapshot.Name{inner}},
		"classes of others":                      {func(o *Options) { o.ControllerClass = "example.org/other" }, []snapshot.Name{settings}},
		"classes that cannot be read":            {func(o *Options) { o.ClassesUnreadable = true }, []snapshot.Name{settings}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := w.flags()
			test.options(&o)
			if diff := cmp.Diff(test.want, ConfigMaps(w.objects(t).IngressClasses, o)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
