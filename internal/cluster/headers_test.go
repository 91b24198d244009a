package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/kube"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// headersFrom gives a source of an API server that has the ConfigMap shop/headers and
// grants these verbs, and what was asked of it.
func headersFrom(t *testing.T, verbs ...string) (s *Source, asked func() []string) {
	t.Helper()
	const headers = `{"metadata":{"namespace":"shop","name":"headers","resourceVersion":"2"},"data":{"X-One":"a"}}`
	var mu sync.Mutex
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verb, name := "get", strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/shop/configmaps/")
		if selector := r.URL.Query().Get("fieldSelector"); selector != "" {
			verb, name = "list", strings.TrimPrefix(selector, "metadata.name=")
		}
		mu.Lock()
		requests = append(requests, verb+" "+name+" "+r.URL.Query().Get("watch"))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !slices.Contains(verbs, verb):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no right to %s","code":403}`, verb)
		case verb == "get" && name == "headers":
			fmt.Fprint(w, strings.Replace(headers, "{", `{"apiVersion":"v1","kind":"ConfigMap",`, 1))
		case verb == "get":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","message":"not found","code":404}`)
		case name == "headers":
			fmt.Fprintf(w, `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[%s]}`, headers)
		default:
			fmt.Fprint(w, `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[]}`)
		}
	}))
	t.Cleanup(server.Close)
	client, err := kube.Connect(kube.Options{Server: server.URL, QPS: 1000, Burst: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Client: client}), func() []string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(requests)
		return slices.Clone(requests)
	}
}

// ConfigMaps that Ingresses name are read by their names, with the right to get or to
// list, and never watched.
func TestHeadersAreReadByNameOnly(t *testing.T) {
	t.Parallel()
	names := []snapshot.Name{{Namespace: "shop", Name: "headers"}, {Namespace: "shop", Name: "missing"}}
	for _, test := range []struct {
		verbs, asked []string
		found        int
		trouble      string
	}{
		{[]string{"get"}, []string{"get headers ", "get missing "}, 1, ""},
		{[]string{"get", "list", "watch"}, []string{"get headers ", "get missing "}, 1, ""},
		{[]string{"list"}, []string{"get headers ", "get missing ", "list headers ", "list missing "}, 1, ""},
		{nil, []string{"get headers ", "get missing ", "list headers ", "list missing "}, 0, "ConfigMap shop/headers: no right to get"},
	} {
		s, asked := headersFrom(t, test.verbs...)
		s.headers.follow(t.Context(), names)
		if found := s.headers.all(); len(found) != test.found || test.found > 0 && found[0].Data["X-One"] != "a" || !s.headers.hasSynced() {
			t.Errorf("%v: got %v, and that all were read is %t", test.verbs, found, s.headers.hasSynced())
		}
		if got := asked(); !slices.Equal(got, test.asked) {
			t.Errorf("%v: asked was %q, want %q", test.verbs, got, test.asked)
		}
		var forbidden []model.ObjectRef
		if test.trouble != "" {
			forbidden = []model.ObjectRef{{Kind: "ConfigMap", Namespace: "shop", Name: "headers"}, {Kind: "ConfigMap", Namespace: "shop", Name: "missing"}}
		}
		if got := s.headers.forbidden(); !slices.Equal(got, forbidden) {
			t.Errorf("%v: forbidden are %v, want %v", test.verbs, got, forbidden)
		}
		troubles := s.troubles.all()
		told := slices.ContainsFunc(troubles, func(err error) bool { return err.Error() == test.trouble })
		if test.trouble == "" && len(troubles) > 0 || test.trouble != "" && (len(troubles) != 2 || !told) {
			t.Errorf("%v: %v", test.verbs, troubles)
		}
	}
}

// Ingresses make no watch, however many ConfigMaps they name. One that is also the
// settings' is watched as that alone.
func TestConfigMapsOfIngressesAreNotWatched(t *testing.T) {
	t.Parallel()
	class, settings := "nginx", snapshot.Name{Namespace: "sluice", Name: "config"}
	var ingresses []*networkingv1.Ingress
	for i := range 1000 {
		name := fmt.Sprintf("shop/headers-%03d", i)
		if i == 0 {
			name = settings.String()
		}
		ingresses = append(ingresses, &networkingv1.Ingress{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint(i), Annotations: map[string]string{"nginx.ingress.kubernetes.io/custom-headers": name}},
			Spec:       networkingv1.IngressSpec{IngressClassName: &class},
		})
	}
	o := translate.Options{IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io", ManifestMode: true, ConfigMap: settings}
	var n needs
	n.update(referring{ingresses: ingresses}, o)
	if !slices.Equal(n.settings, []snapshot.Name{settings}) || len(n.headers.list()) != 999 || slices.Contains(n.headers.list(), settings) {
		t.Errorf("watched are %v, and %d are read", n.settings, len(n.headers.list()))
	}
}

// The ConfigMaps that the settings name are read as those of Ingresses are, unless they are
// watched as settings.
func TestHeadersOfSettingsAreRead(t *testing.T) {
	t.Parallel()
	s, _ := headersFrom(t, "get")
	config := snapshot.Name{Namespace: "sluice", Name: "config"}
	s.o.Translate.ConfigMap = config
	s.needs.settings = []snapshot.Name{config, {Namespace: "shop", Name: "tcp"}}
	if got := s.headerNames(); len(got) != 0 {
		t.Errorf("without settings: %v", got)
	}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"},
		Data: map[string]string{"add-headers": "shop/headers", "proxy-set-headers": "shop/tcp"}}
	s.configMaps.watches = map[snapshot.Name]*namedWatch[corev1.ConfigMap, *corev1.ConfigMap]{config: {objects: &collection[corev1.ConfigMap, *corev1.ConfigMap]{strip: stripConfigMap, changed: func() {}}, cancel: func() {}}}
	if err := s.configMaps.watches[config].objects.Add(settings); err != nil {
		t.Fatal(err)
	}
	names := s.headerNames()
	if want := []snapshot.Name{{Namespace: "shop", Name: "headers"}}; !slices.Equal(names, want) {
		t.Fatalf("got %v, want %v", names, want)
	}
	s.headers.follow(t.Context(), names)
	if got := s.headers.named(names[0]); got == nil || got.Data["X-One"] != "a" {
		t.Errorf("read %v", got)
	}
}
