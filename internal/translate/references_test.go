package translate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	ref := func(kind, namespace, name string) model.ObjectRef {
		return model.ObjectRef{Kind: kind, Namespace: namespace, Name: name}
	}
	own := func(name string) model.ObjectRef { return ref("Secret", "default", name) }
	for name, test := range map[string]struct {
		ing  ing
		want []model.ObjectRef
	}{
		"none":                          {ing{}, nil},
		"sorted, each once":             {ing{tls: []string{"b one", "a two", "b three"}}, []model.ObjectRef{own("a"), own("b")}},
		"an annotation":                 {ing{annotations: map[string]string{"proxy-ssl-secret": " other/ca ", "backend-protocol": "HTTPS"}, tls: []string{"b one"}}, []model.ObjectRef{own("b"), ref("Secret", "other", "ca")}},
		"another namespace":             {ing{annotations: map[string]string{"tls-cert-namespace": "certs"}, tls: []string{"b one"}}, []model.ObjectRef{ref("Secret", "certs", "b")}},
		"a namespace that is none":      {ing{annotations: map[string]string{"tls-cert-namespace": "certs/a"}, tls: []string{"b one"}}, []model.ObjectRef{own("b")}},
		"an annotation that names none": {ing{annotations: map[string]string{"proxy-ssl-secret": "a/b/c", "backend-protocol": "HTTPS"}}, nil},
		"an annotation without effect":  {ing{annotations: map[string]string{"proxy-ssl-secret": "a/b"}}, nil},
		"an annotation of another kind": {ing{annotations: map[string]string{"upstream-vhost": "a/b"}}, nil},
		"a tls item without a Secret":   {ing{spec: "tls: [{hosts: [one]}]"}, nil},
		"users":                         {ing{annotations: map[string]string{"auth-type": "basic", "auth-secret": "b"}, tls: []string{"b one"}}, []model.ObjectRef{own("b")}},
		"users of another namespace":    {ing{annotations: map[string]string{"auth-type": "basic", "auth-secret": "other/b"}}, []model.ObjectRef{ref("Secret", "other", "b")}},
		"headers":                       {ing{annotations: map[string]string{"custom-headers": "other/b"}, tls: []string{"b one"}}, []model.ObjectRef{ref("ConfigMap", "other", "b"), own("b")}},
		"by path": {ing{annotations: map[string]string{"sluice.io/paths.custom-headers": "/: default/one\n/b: other/two\n/c: default/three"}, rules: []string{"one / P a:80", "two /b P a:80"}},
			[]model.ObjectRef{ref("ConfigMap", "default", "one"), ref("ConfigMap", "other", "two")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.ing.name = "i"
			if test.ing.rules == nil {
				test.ing.rules = []string{"one / P a:80"}
			}
			w := world{ingresses: []ing{test.ing}}
			if diff := cmp.Diff(test.want, References(w.objects(t).Ingresses[0], plain(t), w.flags())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A setting whose name looks like a reference is one: Config reads its object.
func TestEveryReferenceIsFollowed(t *testing.T) {
	t.Parallel()
	written := map[string]string{"backend-protocol": "HTTPS", "auth-type": "basic", "auth-url": "https://auth.example"}
	for _, b := range annotations.All() {
		for _, doc := range b.Keys {
			if strings.HasSuffix(doc.Key, "-secret") || doc.Key == "custom-headers" {
				written[doc.Key] = "default/" + doc.Key
			}
		}
	}
	w := world{ingresses: []ing{{name: "i", annotations: written, rules: []string{"one / P a:80"}}}}
	found := References(w.objects(t).Ingresses[0], plain(t), w.flags())
	for key, value := range written {
		if name := strings.TrimPrefix(value, "default/"); name == key && !slices.ContainsFunc(found, func(r model.ObjectRef) bool { return r.Name == name }) {
			t.Errorf("%s: its object is not read: %v", key, found)
		}
	}
}

// No API server accepts a reference in spec.tls, so Config follows none there.
func TestSecretsOfTLSAreNames(t *testing.T) {
	t.Parallel()
	w := world{ingresses: []ing{{name: "i", tls: []string{"a one"}, rules: []string{"one / P a:80"}}}}
	object := w.objects(t).Ingresses[0]
	for _, name := range []string{"other/a", "default/a", "", "A"} {
		object.Spec.TLS[0].SecretName = name
		if got := References(object, plain(t), w.flags()); len(got) > 0 {
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

// plain are settings that give no annotations.
func plain(t *testing.T) *settings.Settings {
	t.Helper()
	values, problems := settings.Read(nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return values
}
