// Package webhook answers the API server's questions whether an Ingress, or the ConfigMap with the
// settings, may be stored, over HTTPS. In go AdmissionReviews, which package admission judges; out come verdicts. No process is
// started and no file is written for a review, and the memory of all reviews is bounded.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/admission"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// The paths. Others are judged as Path. At those that end with /warn nothing is rejected; what would
// be is told.
const (
	Path     = "/networking/v1/ingresses"
	WarnPath = "/networking/v1/ingresses/warn"
)

// Options configure a Server.
type Options struct {
	// Address is the address to listen on.
	Address string
	// Certificate returns the certificate to present.
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Basis returns what to judge by, false while not all objects are known.
	Basis func() (admission.Basis, bool)
	// WarnOnly rejects nothing, whatever the path.
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
	// small and large bound what reviews take, so that the one kind does not wait for the other.
	small, large *lane
	transfer     time.Duration
}

// New returns a Server. It listens to nothing yet.
func New(o Options) *Server {
	if o.Reviewed == nil {
		o.Reviewed = func(Result) {}
	}
	processors := runtime.GOMAXPROCS(0)
	return &Server{
		options: o, reviewer: admission.New(),
		small: newLane(mostInSmall, processors), large: newLane(mostInMemory, max(1, processors/2)), transfer: mostTransfer,
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
	ctx, cancel := context.WithTimeout(r.Context(), patienceOf(r.URL.Query()))
	defer cancel()
	if r.Method != http.MethodPost {
		return nil, &failure{http.StatusMethodNotAllowed, "want POST"}
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		return nil, &failure{http.StatusUnsupportedMediaType, "want application/json"}
	}
	body, release, err := s.read(ctx, w, r)
	defer release()
	warnOnly := s.options.WarnOnly || strings.HasSuffix(r.URL.Path, "/warn")
	if errors.Is(err, errBusy) {
		return unread(body, warnOnly)
	}
	if err != nil {
		return nil, err
	}
	return s.review(ctx, body, warnOnly, began)
}

// review judges the object of a review.
func (s *Server) review(ctx context.Context, body []byte, warnOnly bool, began time.Time) (*admissionv1.AdmissionReview, error) {
	var asked struct {
		Request *request `json:"request"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || asked.Request == nil {
		return nil, &failure{http.StatusBadRequest, "want an AdmissionReview of admission.k8s.io/v1 with a request"}
	}
	review, answer := answerTo(asked.Request)
	if !asked.Request.isIngress() && !asked.Request.isConfigMap() {
		return review, nil // such as a deletion
	}
	in := s.small
	if len(body) > mostSmall {
		in = s.large
	}
	verdict, ref, judging, err := s.verdict(ctx, asked.Request, in)
	if err != nil {
		return nil, err
	}
	decide(answer, verdict, ref, warnOnly)
	s.options.Reviewed(Result{
		Namespace: ref.Namespace, Name: ref.Name, Allowed: answer.Allowed, Judged: verdict.Ours,
		Took: time.Since(began), Judging: judging, Beside: verdict.Beside + 1, Bytes: len(body),
	})
	return review, nil
}

// unread is the answer to a review for which there is no memory, of which only the beginning is known.
func unread(beginning []byte, warnOnly bool) (*admissionv1.AdmissionReview, error) {
	asked := beginningOf(beginning)
	if !asked.isIngress() {
		return nil, errBusy
	}
	review, answer := answerTo(asked)
	object := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: asked.Namespace, Name: asked.Name}}
	decide(answer, admission.TooLarge(object, "other large reviews use all the memory for them: try again, or divide it"), snapshot.RefOf(object), warnOnly)
	return review, nil
}

// answerTo is the review that allows what is asked, and its answer.
func answerTo(asked *request) (*admissionv1.AdmissionReview, *admissionv1.AdmissionResponse) {
	answer := &admissionv1.AdmissionResponse{UID: asked.UID, Allowed: true}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}, Response: answer}, answer
}

// decide writes a verdict into an answer.
func decide(answer *admissionv1.AdmissionResponse, v admission.Verdict, ref model.ObjectRef, warnOnly bool) {
	answer.Warnings = warnings(v, ref, warnOnly)
	if len(v.Rejections) > 0 && !warnOnly {
		answer.Allowed = false
		answer.Result = &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: message(v.Rejections, ref)}
	}
}

// verdict judges the object of a request, and returns how long that took.
func (s *Server) verdict(ctx context.Context, r *request, in *lane) (v admission.Verdict, ref model.ObjectRef, took time.Duration, err error) {
	if r.isConfigMap() {
		return s.settings(ctx, r, in)
	}
	object, err := r.open(r.Object)
	var former *partial
	if err == nil && is(r.OldObject) {
		former, err = r.open(r.OldObject)
	}
	if err != nil {
		return v, ref, 0, &failure{http.StatusBadRequest, err.Error()}
	}
	ref = snapshot.RefOf(object.object)
	basis, ok := s.options.Basis()
	if !ok {
		return v, ref, 0, &failure{http.StatusServiceUnavailable, "Sluice does not know all objects yet; try again"}
	}
	began := time.Now()
	if basis.Serves(object.object) {
		v, err = s.judge(ctx, basis, object, former, in)
	}
	return v, ref, time.Since(began), err
}
