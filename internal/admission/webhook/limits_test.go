package webhook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/admission"
)

// written is a review of a new Ingress that is written as JSON.
func written(object string) []byte {
	return []byte(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{"group":"networking.k8s.io","version":"v1","kind":"Ingress"},"namespace":"shop","name":"new","operation":"CREATE","object":` + object + `}}`)
}

// repeated is a JSON array of n members.
func repeated(member string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(member+",", n), ",") + "]"
}

// answerOf is the answer of a review, which must have one.
func answerOf(t *testing.T, got *httptest.ResponseRecorder) *admissionv1.AdmissionResponse {
	t.Helper()
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(got.Body.Bytes(), &review); err != nil || got.Code != http.StatusOK {
		t.Fatalf("%d %.300s: %v", got.Code, got.Body, err)
	}
	return review.Response
}

func says(a *admissionv1.AdmissionResponse, part string) bool {
	return !a.Allowed && a.Result != nil && strings.Contains(a.Result.Message, part)
}

// TestMemoryOfShortMembers: a review takes memory by its length, however much its text would become.
func TestMemoryOfShortMembers(t *testing.T) {
	const head = `{"metadata":{"name":"new"`
	var many strings.Builder
	for i := range 500_000 {
		fmt.Fprintf(&many, `,"%d":""`, i)
	}
	for name, c := range map[string]struct {
		body     []byte
		status   int
		rejected string
	}{
		"managedFields":   {written(head + `,"managedFields":` + repeated("{}", 2_900_000) + `},"spec":{"ingressClassName":"nginx"}}`), http.StatusOK, ""},
		"ownerReferences": {written(head + `,"ownerReferences":` + repeated("{}", 2_900_000) + `},"spec":{"ingressClassName":"nginx"}}`), http.StatusOK, ""},
		"tls":             {written(head + `},"spec":{"ingressClassName":"nginx","tls":` + repeated("{}", 950_000) + `}}`), http.StatusOK, "want at most 200000 members"},
		"rules":           {written(head + `},"spec":{"ingressClassName":"nginx","rules":` + repeated("{}", 950_000) + `}}`), http.StatusOK, "want at most 200000 members"},
		"of others":       {written(head + `},"spec":{"ingressClassName":"other","tls":` + repeated("{}", 950_000) + `}}`), http.StatusOK, ""},
		"annotations":     {written(head + `,"annotations":{"a":""` + many.String() + `}},"spec":{"ingressClassName":"nginx"}}`), http.StatusBadRequest, ""},
		"groups":          {[]byte(strings.Replace(string(written(head+`},"spec":{"ingressClassName":"nginx"}}`)), `"uid"`, `"userInfo":{"groups":`+repeated(`""`, 2_900_000)+`},"uid"`, 1)), http.StatusOK, ""},
	} {
		s, _ := serverOf(t, 1, func(o *Options) { o.Reviewed = func(Result) {} })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := post(s, Path, "application/json", bytes.NewReader(c.body))
		runtime.ReadMemStats(&after)
		if got.Code != c.status {
			t.Errorf("%s: %d %.200s", name, got.Code, got.Body)
		} else if got.Code == http.StatusOK {
			if a := answerOf(t, got); a.Allowed != (c.rejected == "") || !a.Allowed && !says(a, c.rejected) {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(5*len(c.body)+(8<<20)) {
			t.Errorf("%s: %d MB were allocated for %d MB", name, used>>20, len(c.body)>>20)
		}
	}
}

// TestElements: members are counted outside strings only.
func TestElements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, `{}`: 1, `[{},{}]`: 4, `{"a,[{":"b\",[","c":"\\"}`: 2, `"`: 0, `"\`: 0, `["\\",",",""]`: 3,
	} {
		if got := elements([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// large is an Ingress of one host with n paths.
func large(name string, n int) *networkingv1.Ingress {
	object := ingress("shop", name, 9, "large.example")
	path := object.Spec.Rules[0].HTTP.Paths[0]
	paths := []networkingv1.HTTPIngressPath{}
	for i := range n {
		path.Path = fmt.Sprintf("/p%d", i)
		paths = append(paths, path)
	}
	object.Spec.Rules[0].HTTP.Paths = paths
	return object
}

// TestLateIsRejected: what cannot be judged while the API server waits is rejected, or warned of.
func TestLateIsRejected(t *testing.T) {
	t.Parallel()
	body := reviewOf(t, large("new", admission.MostParts-10), nil)
	s, _ := serverOf(t, 1, func(o *Options) { o.Reviewed = func(Result) {} })
	if a := answerOf(t, post(s, Path+"?timeout=50ms", "application/json", bytes.NewReader(body))); !says(a, "could not be judged in time") {
		t.Errorf("%+v", a)
	}
	a := answerOf(t, post(s, WarnPath+"?timeout=50ms", "application/json", bytes.NewReader(body)))
	if !a.Allowed || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "could not be judged in time") {
		t.Errorf("warn: %+v", a)
	}
}

// TestPatience: a review ends before the API server gives up.
func TestPatience(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": patience, "5s": 4 * time.Second, "1s": 800 * time.Millisecond, "30s": patience, "-1s": patience, "x": patience} {
		if got := patienceOf(map[string][]string{"timeout": {text}}); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestSmallDoNotWaitForLarge: while large reviews are judged, small ones are too. A review beside
// many paths is a large one.
func TestSmallDoNotWaitForLarge(t *testing.T) {
	t.Parallel()
	s, _ := serverOf(t, 1, func(o *Options) { o.Reviewed = func(Result) {} })
	for s.large.judging.TryAcquire(1) {
	}
	bad := ingress("shop", "new", 9, "new.example")
	bad.Annotations = map[string]string{"nginx.ingress.kubernetes.io/limit-rps": "many"}
	if a := ask(t, s, Path, bad, nil); !says(a, "limit-rps") {
		t.Errorf("%+v", a)
	}
	for name, n := range map[string]int{"a large body": 3 * mostSmallParts, "many paths in a small body": mostSmallParts + 1} {
		object := large("new", n)
		body := reviewOf(t, object, nil)
		if n == mostSmallParts+1 { // as short as it can be
			body = written(`{"metadata":{"name":"new"},"spec":{"ingressClassName":"nginx","tls":` + repeated("{}", n) + `}}`)
		}
		if is := len(body) > mostSmall; is == (n == mostSmallParts+1) {
			t.Fatalf("%s has %d bytes", name, len(body))
		}
		if a := answerOf(t, post(s, Path+"?timeout=100ms", "application/json", bytes.NewReader(body))); !says(a, "could not be judged in time") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestNoMemoryIsRejected: a large Ingress is rejected, or warned of, while there is no memory for it,
// and what is no Ingress is left to the failurePolicy.
func TestNoMemoryIsRejected(t *testing.T) {
	t.Parallel()
	s, _ := serverOf(t, 1, func(o *Options) { o.Reviewed = func(Result) {} })
	if !s.large.memory.TryAcquire(mostInMemory) {
		t.Fatal("memory is in use")
	}
	body := string(reviewOf(t, large("new", 3*mostSmallParts), nil))
	of := func(path, body string) *httptest.ResponseRecorder {
		return post(s, path+"?timeout=50ms", "application/json", strings.NewReader(body))
	}
	if a := answerOf(t, of(Path, body)); !says(a, "other large reviews use all the memory") || a.UID != "some-uid" {
		t.Errorf("%+v", a)
	}
	if a := answerOf(t, of(WarnPath, body)); !a.Allowed || len(a.Warnings) != 1 {
		t.Errorf("warn: %+v", a)
	}
	for name, other := range map[string]string{
		"a deletion":   strings.Replace(body, `"object":{`, `"object":null,"oldObject":{`, 1),
		"another kind": strings.Replace(body, `"kind":"Ingress"`, `"kind":"Secret"`, 1),
		"no JSON":      strings.Repeat("x", len(body)),
		"a list":       "[" + body + "]",
		"keys only":    strings.Replace(body, `"uid":`, `"uid",`, 1),
	} {
		if got := of(Path, other); got.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %.200s", name, got.Code, got.Body)
		}
	}
}

// stalled is a body that stops after some bytes. Each client that waits for more is counted.
type stalled struct {
	io.Reader
	waits chan<- bool
	until <-chan struct{}
}

func (s *stalled) Read(into []byte) (int, error) {
	if n, _ := s.Reader.Read(into); n > 0 {
		return n, nil
	}
	select {
	case s.waits <- true:
	default:
	}
	<-s.until
	return 0, io.ErrUnexpectedEOF
}

// TestIdleClients: clients that say that they send much, and do not, hold up no small review.
func TestIdleClients(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]int{"nothing": 0, "the first bytes": mostSmall + 1} {
		s, _ := serverOf(t, 1, func(o *Options) { o.Reviewed = func(Result) {} })
		waits, until := make(chan bool, 64), make(chan struct{})
		for range 64 {
			request := httptest.NewRequest(http.MethodPost, Path, &stalled{strings.NewReader(strings.Repeat(" ", sent)), waits, until})
			request.ContentLength = mostBody
			request.Header.Set("Content-Type", "application/json")
			go s.ServeHTTP(httptest.NewRecorder(), request)
		}
		<-waits
		<-waits
		if got := post(s, Path, "application/json", bytes.NewReader(reviewOf(t, ingress("shop", "new", 9, "new.example"), nil))); got.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
		close(until)
	}
}

// TestTransfer: a body that does not come is waited for for a short time only, which is no limit of
// the judgement.
func TestTransfer(t *testing.T) {
	t.Parallel()
	const short = 100 * time.Millisecond
	var basis func() (admission.Basis, bool)
	s, _ := serverOf(t, 1, func(o *Options) {
		basis, o.Reviewed = o.Basis, func(Result) {}
		o.Basis = func() (admission.Basis, bool) {
			<-time.After(5 * short) // a long judgement
			return basis()
		}
	})
	s.transfer = short
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	body := reviewOf(t, ingress("shop", "new", 9, "new.example"), nil)
	for length, want := range map[int]string{len(body) + 1: "400 Bad Request", len(body): "200 OK"} {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body)
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || strings.TrimSpace(line) != "HTTP/1.1 "+want {
			t.Errorf("%d bytes of %d: %q %v, want %s", len(body), length, line, err, want)
		}
	}
}

// TestNames: what is no name of an object is no review, so that nothing of it is kept.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		namespace, name, object string // of the request, and the metadata of the object
		status                  int
	}{
		"the same":                {"shop", "new", `"name":"new"`, 200},
		"with its namespace":      {"shop", "new", `"name":"new","namespace":"shop"`, 200},
		"a generated name":        {"shop", "", `"generateName":"new-"`, 200},
		"a long generated name":   {"shop", "", `"generateName":"` + strings.Repeat("x", 253) + `"`, 200},
		"one generated before":    {"shop", "", `"name":"new-1","generateName":"new-"`, 200},
		"another name":            {"shop", "new", `"name":"old"`, 400},
		"no name":                 {"shop", "new", ``, 400},
		"another namespace":       {"shop", "new", `"name":"new","namespace":"team"`, 400},
		"no namespace":            {"", "new", `"name":"new"`, 400},
		"a long name":             {"shop", "", `"name":"` + strings.Repeat("x", 8<<20) + `"`, 400},
		"a long namespace":        {strings.Repeat("x", 64), "new", `"name":"new"`, 400},
		"no DNS name":             {"shop", "New_1", `"name":"New_1"`, 400},
		"a line":                  {"shop", "a\\nb", `"name":"a\nb"`, 400},
		"a long name and no name": {"shop", "", `"generateName":"` + strings.Repeat("_", 8<<20) + `"`, 400},
	} {
		s, results := serverOf(t, 1, nil)
		body := fmt.Sprintf(`{"request":{"uid":"u","kind":{"group":"networking.k8s.io","version":"v1","kind":"Ingress"},"namespace":"%s","name":"%s","object":{"metadata":{%s},"spec":{"ingressClassName":"nginx"}}}}`, c.namespace, c.name, c.object)
		if got := post(s, Path, "application/json", strings.NewReader(body)); got.Code != c.status || len(*results) > 0 != (c.status == 200) {
			t.Errorf("%s: %d %.200s, results %.200v", name, got.Code, got.Body, *results)
		}
	}
}
