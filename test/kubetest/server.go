// Package kubetest is an API server for tests of what writes to one. It keeps
// objects in memory and behaves as the real one does in the few calls that
// kube.Client makes: resource versions and conflicts, subresources, merge patches,
// and server-side apply of the status of an Ingress. Connections to it are
// in memory too, so that a test may run in a bubble of testing/synctest, where
// time passes as fast as it is waited for.
//
//	api := kubetest.New(t)
//	api.Put(kube.Ingresses, ingress)
//	elector := election.New(election.Options{Client: api.Client(), ...})
package kubetest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// Server is an API server. Use New.
type Server struct {
	t       testing.TB
	dials   chan net.Conn
	closed  chan struct{}
	decoder runtime.Decoder

	mu       sync.Mutex
	revision int
	objects  map[string]object // by path
	requests []string
	intrude  func(*http.Request) error
}

// object is an object as JSON says it.
type object = map[string]any

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, networkingv1.AddToScheme, coordinationv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{t: t, dials: make(chan net.Conn), closed: make(chan struct{}), objects: map[string]object{}, decoder: serializer.NewCodecFactory(scheme).UniversalDeserializer()}
	server := &http.Server{Handler: s}
	go server.Serve(&listener{Server: s})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Client gives a client with connections of its own, which is not slowed.
func (s *Server) Client() *kube.Client { return s.ClientOf("sluice/test", 1e6) }

// ClientOf gives a client that calls itself userAgent and makes at most qps
// requests a second.
func (s *Server) ClientOf(userAgent string, qps int) *kube.Client {
	s.t.Helper()
	client, err := kube.Connect(kube.Options{Server: "http://127.0.0.1:1", UserAgent: userAgent, QPS: float32(qps), Burst: qps, Dial: s.dial})
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

func (s *Server) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case s.dials <- there:
		return here, nil
	case <-s.closed:
		return nil, errors.New("the API server ended")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Intrude has f called before each request from now on: it may wait, refuse the
// request with an error of apierrors, or cut the connection with another.
func (s *Server) Intrude(f func(*http.Request) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intrude = f
}

// Requests gives what was asked since the last call, such as "PUT
// /apis/networking.k8s.io/v1/namespaces/shop/ingresses/web/status".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// Put writes an object whether or not it is there.
func (s *Server) Put(r kube.Resource, o kube.Object) {
	s.t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := pathOf(r, snapshot.Name{Namespace: o.GetNamespace(), Name: o.GetName()})
	now := decoded(text)
	if before, found := s.objects[path]; found {
		metadata(now)["uid"] = metadata(before)["uid"]
	}
	s.keep(path, now)
}

// Get reads an object into o, and reports whether it is there.
func (s *Server) Get(r kube.Resource, name snapshot.Name, o kube.Object) bool {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.objects[pathOf(r, name)]
	if ok {
		s.into(found, o)
	}
	return ok
}

// Delete removes an object.
func (s *Server) Delete(r kube.Resource, name snapshot.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, pathOf(r, name))
}

// All calls f with each object of a kind, in the order of their names.
func (s *Server) All(r kube.Resource, f func(decode func(kube.Object))) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.list(pathOf(r, snapshot.Name{}), r.Plural) {
		f(func(into kube.Object) { s.into(o, into) })
	}
}

func (s *Server) into(o object, into kube.Object) {
	if err := json.Unmarshal(encoded(o), into); err != nil {
		s.t.Error(err)
	}
}

// keep takes an object over, with a new revision.
func (s *Server) keep(path string, o object) {
	s.revision++
	meta := metadata(o)
	meta["resourceVersion"] = strconv.Itoa(s.revision)
	if uid, _ := meta["uid"].(string); uid == "" {
		meta["uid"] = "uid-" + strconv.Itoa(s.revision)
	}
	s.objects[path] = o
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	intrude := s.intrude
	s.mu.Unlock()
	var answer object
	// The body is read first: only then does the context end with the connection.
	parsed, err := parse(r)
	if err == nil && intrude != nil {
		err = intrude(r)
	}
	if err == nil {
		s.mu.Lock()
		answer, err = s.answer(parsed)
		s.mu.Unlock()
	}
	code, body := http.StatusOK, encoded(answer)
	if err != nil {
		var status apierrors.APIStatus
		if !errors.As(err, &status) {
			panic(http.ErrAbortHandler)
		}
		said := status.Status()
		said.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		code = int(said.Code)
		body, _ = json.Marshal(said)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(body)
}

// pathOf is where an object is, or all of a namespace, or of the cluster.
func pathOf(r kube.Resource, name snapshot.Name) string {
	path := "/apis/" + r.Version.String()
	if r.Version.Group == "" {
		path = "/api/" + r.Version.Version
	}
	if name.Namespace != "" {
		path += "/namespaces/" + name.Namespace
	}
	path += "/" + r.Plural
	if name.Name != "" {
		path += "/" + name.Name
	}
	return path
}

// list gives the objects of a kind, in all namespaces if prefix names none.
func (s *Server) list(prefix, plural string) []object {
	var paths []string
	for path := range s.objects {
		parent := path[:strings.LastIndexByte(path, '/')]
		if parent == prefix || strings.HasPrefix(parent, strings.TrimSuffix(prefix, plural)+"namespaces/") && strings.HasSuffix(parent, "/"+plural) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var all []object
	for _, path := range paths {
		all = append(all, s.objects[path])
	}
	return all
}

func metadata(o object) object {
	meta, ok := o["metadata"].(object)
	if !ok {
		meta = object{}
		o["metadata"] = meta
	}
	return meta
}

func encoded(o object) []byte {
	text, _ := json.Marshal(o)
	return text
}

func decoded(text []byte) object {
	o := object{}
	_ = json.Unmarshal(text, &o)
	return o
}

// listener takes connections that dial makes.
type listener struct {
	*Server
	once sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.dials:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }
