// Package webhook answers the API server's questions whether an Ingress may be stored, over
// HTTPS. In go AdmissionReviews, which package admission judges; out come verdicts. No process is
// started and no file is written for a review, and the memory of all reviews is bounded.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/admission"
	"sluice/internal/snapshot"
)

// The paths. Others are judged as Path. At WarnPath nothing is refused; what would be is told.
const (
	Path     = "/networking/v1/ingresses"
	WarnPath = "/networking/v1/ingresses/warn"
)

const (
	// mostBody is the longest review, in bytes. The API server takes objects of 3 MiB at most, and
	// sends the stored form too.
	mostBody = 9 << 20
	// mostInMemory bounds the bodies that are read at a time.
	mostInMemory = 4 * mostBody
	// patience is how long a review may wait for others, and how long its body may take.
	patience = 5 * time.Second
)

// Options configure a Server.
type Options struct {
	// Address is the address to listen on.
	Address string
	// Certificate returns the certificate to present.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Basis returns what to judge by, false while not all objects are known.
	Basis func() (admission.Basis, bool)
	// WarnOnly refuses nothing, whatever the path.
	WarnOnly bool
	// Reviewed receives the result of each review; it may be nil.
	Reviewed func(Result)
	Log      *slog.Logger
}

// Result is that of one review.
type Result struct {
	Namespace, Name string
	Allowed         bool
	// Judged is false for Ingresses of others.
	Judged bool
	// Took is the time of the review, Judging of the judgement only. Beside is the number of
	// Ingresses that were judged, with the reviewed one. Bytes is the length of the body.
	Took, Judging time.Duration
	Beside, Bytes int
}

// Server answers reviews. Use New.
type Server struct {
	options  Options
	reviewer *admission.Reviewer
	// memory bounds the bodies, judging the reviews that are judged at a time: with more than
	// there are processors, each would only take longer.
	memory, judging *semaphore.Weighted
}

// New returns a Server. It listens to nothing yet.
func New(o Options) *Server {
	if o.Reviewed == nil {
		o.Reviewed = func(Result) {}
	}
	return &Server{
		options: o, reviewer: admission.New(),
		memory: semaphore.NewWeighted(mostInMemory), judging: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
	}
}

// Listen listens and serves until ctx ends. It returns when the listener is open, or its error.
func (s *Server) Listen(ctx context.Context) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", s.options.Address)
	if err != nil {
		return fmt.Errorf("--validating-webhook: want an address to listen on (got %s): %w", s.options.Address, err)
	}
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: patience, ReadTimeout: 2 * patience, WriteTimeout: 4 * patience, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		TLSConfig: &tls.Config{GetCertificate: s.options.Certificate, MinVersion: tls.VersionTLS12},
		ErrorLog:  slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug), // scans of a port are none of the log's business
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return nil
}

// failure is an answer other than a review, which the failurePolicy of the webhook decides on.
type failure struct {
	status int
	text   string
}

// Error implements error.
func (f *failure) Error() string { return f.text }

// ServeHTTP answers a review.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answer(w, r)
	var failed *failure
	switch {
	case errors.As(err, &failed):
		http.Error(w, failed.text, failed.status)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // a client that has gone gets no answer
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if r.Method != http.MethodPost {
		return nil, &failure{http.StatusMethodNotAllowed, "want POST"}
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		return nil, &failure{http.StatusUnsupportedMediaType, "want application/json"}
	}
	size := r.ContentLength
	if size < 0 {
		size = mostBody
	}
	if size > mostBody {
		return nil, &failure{http.StatusRequestEntityTooLarge, fmt.Sprintf("want at most %d bytes", mostBody)}
	}
	if s.memory.Acquire(ctx, size) != nil {
		return nil, &failure{http.StatusServiceUnavailable, "other reviews use all the memory for reviews; try again"}
	}
	defer s.memory.Release(size)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		return nil, &failure{http.StatusRequestEntityTooLarge, fmt.Sprintf("want at most %d bytes", mostBody)}
	} else if err != nil {
		return nil, &failure{http.StatusBadRequest, "the review did not arrive whole"}
	}
	if s.judging.Acquire(ctx, 1) != nil {
		return nil, &failure{http.StatusServiceUnavailable, "too many reviews wait; try again"}
	}
	defer s.judging.Release(1)
	return s.review(ctx, body, s.options.WarnOnly || strings.HasSuffix(r.URL.Path, WarnPath), began)
}

// review judges the object of a review.
func (s *Server) review(ctx context.Context, body []byte, warnOnly bool, began time.Time) (*admissionv1.AdmissionReview, error) {
	var asked admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
		return nil, &failure{http.StatusBadRequest, "want an AdmissionReview of admission.k8s.io/v1 with a request"}
	}
	answer := &admissionv1.AdmissionResponse{UID: asked.Request.UID, Allowed: true}
	review := &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Response: answer}
	result := Result{Namespace: asked.Request.Namespace, Name: asked.Request.Name, Allowed: true, Bytes: len(body)}
	if kind := asked.Request.Kind; kind.Group != networkingv1.GroupName || kind.Version != "v1" || kind.Kind != "Ingress" || len(asked.Request.Object.Raw) == 0 {
		return review, nil // such as a deletion
	}
	object, former, err := decode(asked.Request)
	if err != nil {
		return nil, &failure{http.StatusBadRequest, err.Error()}
	}
	basis, ok := s.options.Basis()
	if !ok {
		return nil, &failure{http.StatusServiceUnavailable, "Sluice does not know all objects yet; try again"}
	}
	judged := time.Now()
	verdict := s.reviewer.Open(basis, object, former).Judge(ctx)
	answer.Warnings = warnings(verdict, snapshot.RefOf(object), warnOnly)
	if len(verdict.Refusals) > 0 && !warnOnly {
		answer.Allowed = false
		answer.Result = &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: message(verdict.Refusals, snapshot.RefOf(object))}
	}
	result.Judged, result.Allowed, result.Beside = verdict.Ours, answer.Allowed, verdict.Beside+1
	result.Name = object.Name
	result.Took, result.Judging = time.Since(began), time.Since(judged)
	s.options.Reviewed(result)
	return review, nil
}

// decode returns the object of a review, and its stored form, nil for a new one.
func decode(r *admissionv1.AdmissionRequest) (object, former *networkingv1.Ingress, err error) {
	object = &networkingv1.Ingress{}
	if err := json.Unmarshal(r.Object.Raw, object); err != nil {
		return nil, nil, errors.New("want an Ingress of networking.k8s.io/v1")
	}
	object.Namespace = r.Namespace
	if object.Name == "" { // made by the API server from generateName, after the review
		object.Name = object.GenerateName + "new"
	}
	if len(r.OldObject.Raw) > 0 {
		former = &networkingv1.Ingress{}
		if err := json.Unmarshal(r.OldObject.Raw, former); err != nil {
			return nil, nil, errors.New("want an Ingress of networking.k8s.io/v1 as oldObject")
		}
		former.Namespace = r.Namespace
	}
	return object, former, nil
}
