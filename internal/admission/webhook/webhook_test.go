package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"sluice/internal/admission"
	"sluice/internal/lint"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// ingress is one of the class nginx, with a path for each host.
func ingress(namespace, name string, created int, hosts ...string) *networkingv1.Ingress {
	exact := networkingv1.PathTypePrefix
	object := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, created, 0, time.UTC))},
		Spec:       networkingv1.IngressSpec{IngressClassName: new("nginx")},
	}
	for _, host := range hosts {
		object.Spec.Rules = append(object.Spec.Rules, networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &exact, Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
				Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80},
			}}}},
		}}})
	}
	return object
}

// basisOf is a basis with n Ingresses, of one host each.
func basisOf(t testing.TB, n int) admission.Basis {
	t.Helper()
	set, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	objects := snapshot.Objects{IngressClasses: []*networkingv1.IngressClass{{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}, Spec: networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"}}}}
	for i := range n {
		objects.Ingresses = append(objects.Ingresses, ingress(fmt.Sprintf("team-%d", i%97), fmt.Sprintf("i-%d", i), i, fmt.Sprintf("h%d.example", i)))
	}
	snap, _ := snapshot.New(objects)
	return admission.Basis{Snapshot: snap, Options: lint.Options{
		Translate:   translate.Options{IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io", HealthPath: "/healthz"},
		Templates:   set,
		Environment: render.Environment{HTTPPort: 80, HTTPSPort: 443, Workers: 1, StateDir: "/state", Lua: "/lua", Token: "TOKEN"},
	}}
}

// serverOf is a Server with n Ingresses. Results go to the list.
func serverOf(t testing.TB, n int, change func(*Options)) (*Server, *[]Result) {
	t.Helper()
	basis, results := basisOf(t, n), &[]Result{}
	o := Options{Basis: func() (admission.Basis, bool) { return basis, true }, Log: slog.New(slog.DiscardHandler), Reviewed: func(r Result) { *results = append(*results, r) }}
	if change != nil {
		change(&o)
	}
	return New(o), results
}

// reviewOf is a review of a new object, or of a change.
func reviewOf(t testing.TB, object, former *networkingv1.Ingress) []byte {
	t.Helper()
	raw := func(object *networkingv1.Ingress) (raw runtime.RawExtension) {
		if object == nil {
			return raw
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: text}
	}
	text, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "some-uid", Kind: metav1.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
			Namespace: object.Namespace, Name: object.Name, Operation: admissionv1.Create, Object: raw(object), OldObject: raw(former),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func post(s http.Handler, path, kind string, body io.Reader) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, path, body)
	request.Header.Set("Content-Type", kind)
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, request)
	return answer
}

func ask(t testing.TB, s *Server, path string, object, former *networkingv1.Ingress) *admissionv1.AdmissionResponse {
	t.Helper()
	answer := post(s, path, "application/json; charset=utf-8", bytes.NewReader(reviewOf(t, object, former)))
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(answer.Body.Bytes(), &review); err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	if review.APIVersion != "admission.k8s.io/v1" || review.Kind != "AdmissionReview" || review.Response.UID != "some-uid" {
		t.Errorf("%+v", review)
	}
	return review.Response
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	bad := ingress("shop", "new", 9, "new.example")
	bad.Annotations = map[string]string{"nginx.ingress.kubernetes.io/limit-rps": "many", "nginx.ingress.kubernetes.io/no-such": "x"}
	generated := ingress("shop", "", 9, "h1.example")
	generated.GenerateName, generated.CreationTimestamp = "shop-", metav1.Time{}
	foreign := bad.DeepCopy()
	foreign.Spec.IngressClassName = new("other")
	older := ingress("shop", "new", -9, "h1.example")
	for name, c := range map[string]struct {
		object, former   *networkingv1.Ingress
		path             string
		change           func(*Options)
		message, warning string // "" allows, and warns of nothing
	}{
		"a sound one":              {object: ingress("shop", "new", 9, "new.example"), path: Path},
		"a bad value":              {object: bad, path: Path, message: "nginx.ingress.kubernetes.io/limit-rps: ", warning: "no-such"},
		"any path":                 {object: bad, path: "/", message: "limit-rps", warning: "no-such"},
		"the path that only warns": {object: bad, path: WarnPath, warning: "would be rejected: nginx.ingress.kubernetes.io/limit-rps"},
		"the mode that only warns": {object: bad, path: Path, change: func(o *Options) { o.WarnOnly = true }, warning: "would be rejected: "},
		"another class":            {object: foreign, path: Path},
		"a generated name":         {object: generated, path: Path, message: "and the oldest counts; that Ingress can hand it over with the annotation sluice.io/hand-over: shop/shop-new"},
		"it takes from a younger":  {object: older, former: ingress("shop", "new", -9, "new.example"), path: Path, message: "Ingress team-1/i-1 would lose what it has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, results := serverOf(t, 3, c.change)
			got := ask(t, s, c.path, c.object, c.former)
			if got.Allowed != (c.message == "") || c.message != "" && (!strings.Contains(got.Result.Message, c.message) || got.Result.Code != 400) {
				t.Errorf("%+v", got)
			}
			if warned := strings.Join(got.Warnings, "\n"); !strings.Contains(warned, c.warning) || c.warning == "" && warned != "" {
				t.Errorf("warnings %q", warned)
			}
			if len(*results) != 1 || (*results)[0].Allowed != got.Allowed || (*results)[0].Judged != (c.object != foreign) {
				t.Errorf("results %+v", *results)
			}
		})
	}
}

// TestWhatIsNoReview: other requests get an error, which the failurePolicy decides on, and
// none of them stops the server.
func TestWhatIsNoReview(t *testing.T) {
	t.Parallel()
	s, _ := serverOf(t, 1, nil)
	unready, _ := serverOf(t, 1, func(o *Options) { o.Basis = func() (admission.Basis, bool) { return admission.Basis{}, false } })
	good := reviewOf(t, ingress("shop", "new", 9, "new.example"), nil)
	for name, c := range map[string]struct {
		server *Server
		kind   string
		body   io.Reader
		status int
	}{
		"another type":       {s, "text/plain", bytes.NewReader(good), 415},
		"no JSON":            {s, "application/json", strings.NewReader("{"), 400},
		"no request":         {s, "application/json", strings.NewReader("{}"), 400},
		"no Ingress":         {s, "application/json", strings.NewReader(`{"request":{"kind":{"group":"networking.k8s.io","version":"v1","kind":"Ingress"},"object":{"spec":[]}}}`), 400},
		"too long":           {s, "application/json", bytes.NewReader(make([]byte, mostBody+1)), 413},
		"too long, unsaid":   {s, "application/json", io.MultiReader(bytes.NewReader(make([]byte, mostBody+1))), 413},
		"before the objects": {unready, "application/json", bytes.NewReader(good), 503},
		"another kind":       {s, "application/json", strings.NewReader(`{"request":{"uid":"u","kind":{"group":"","version":"v1","kind":"Pod"},"object":{}}}`), 200},
		"a deletion":         {s, "application/json", strings.NewReader(`{"request":{"uid":"u","kind":{"group":"networking.k8s.io","version":"v1","kind":"Ingress"}}}`), 200},
	} {
		if got := post(c.server, Path, c.kind, c.body); got.Code != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.Code, got.Body, c.status)
		}
	}
	request := httptest.NewRequest(http.MethodGet, Path, nil)
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, request)
	if answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", answer.Code)
	}
	if got := ask(t, s, Path, ingress("shop", "new", 9, "new.example"), nil); !got.Allowed {
		t.Errorf("%+v", got)
	}
}

// TestManyProblems: a rejection and its warnings have a length that kubectl can show.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	s, _ := serverOf(t, 1, nil)
	object := ingress("shop", "new", 9, "new.example")
	object.Annotations = map[string]string{}
	for i := range 30 {
		object.Annotations[fmt.Sprintf("nginx.ingress.kubernetes.io/unknown-%d-%s", i, strings.Repeat("x", 40))] = strings.Repeat("y", 2000)
	}
	for _, name := range []string{"limit-rps", "limit-rpm", "limit-connections", "proxy-body-size", "proxy-read-timeout", "proxy-send-timeout", "proxy-connect-timeout", "whitelist-source-range", "auth-url", "auth-type", "backend-protocol", "ssl-redirect", "use-regex"} {
		object.Annotations["nginx.ingress.kubernetes.io/"+name] = "\x1b[31m" + strings.Repeat("?", 3000)
	}
	got := ask(t, s, Path, object, nil)
	if got.Allowed || len(got.Result.Message) > 12000 || strings.Count(got.Result.Message, "\n") != mostRejections || strings.Contains(got.Result.Message, "\x1b") {
		t.Errorf("%d lines: %q", strings.Count(got.Result.Message, "\n"), got.Result.Message)
	}
	if len(got.Warnings) != mostWarnings || !strings.Contains(got.Warnings[mostWarnings-1], "more warnings") {
		t.Errorf("%q", got.Warnings)
	}
	for _, w := range got.Warnings {
		if len(w) > mostWarning {
			t.Errorf("%d bytes: %s", len(w), w)
		}
	}
}
