// Package debug answers questions about a running controller over a unix socket in its
// state directory: nginx.conf and the owner of each line, the endpoints and certificates
// of nginx, the route of a URL, and Problems. Package debugapi is the contract.
//
//	stop, err := debug.Serve(filepath.Join(stateDir, debugapi.Socket), debug.Handler(options), log)
//	body, err := debug.Get(ctx, stateDir, "/routes?host=shop.example")
//
// It only reads. The controller publishes a State after each step: a pointer to values
// that never change. Answers are computed on demand, and no sync waits for a question.
// Whoever can open the socket can see every served object, but no private key.
package debug

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/debugapi"
	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// State is the published state of the controller. It shares its values with the
// controller, so they must not change.
type State struct {
	// Confirmed is the configuration that an nginx worker confirmed last, nil before the
	// first.
	Confirmed *Confirmed
	// Told are the endpoints and certificates that nginx got last. They can be newer than
	// Confirmed.
	Told model.Dynamic
	// Snapshot and Problems are those of the last sync. The Problems are sorted as by
	// model.SortProblems.
	Snapshot *snapshot.Snapshot
	Problems []model.Problem
	// Last is the last attempt to apply a configuration, nil before the first.
	Last *Attempt
	// Reloads are the last attempts to load an nginx.conf, the newest first. Texts are as users
	// wrote them.
	Reloads []debugapi.Reload
}

// Confirmed is a configuration that nginx runs, with its sources.
type Confirmed struct {
	// Snapshot is the served one: with last good forms of the objects that nginx rejected.
	Snapshot *snapshot.Snapshot
	Options  translate.Options
	Config   model.Config
	// Problems are those of that time.
	Problems []model.Problem
	File     *render.File
	// Templates and Environment are those that made the File.
	Templates   *render.Templates
	Environment render.Environment
	// Ingresses are the served Ingresses.
	Ingresses []*networkingv1.Ingress
}

// Deleted returns the number of Ingresses that nginx serves although they were deleted, or got a
// class that is not served: the configuration without them is not in force yet.
func (s *State) Deleted() (count int) {
	if s.Confirmed == nil {
		return 0
	}
	for _, served := range s.Confirmed.Ingresses {
		now := s.Snapshot.IngressOf(snapshot.RefOf(served))
		if now == nil {
			count++
		} else if ours, _ := translate.Accepts(s.Snapshot, s.Confirmed.Options, now); !ours {
			count++
		}
	}
	return count
}

func (c *Confirmed) input() explain.Input {
	return explain.Input{Snapshot: c.Snapshot, Options: c.Options, Config: c.Config, Problems: c.Problems}
}

// Attempt is one attempt to apply a configuration.
type Attempt struct {
	At       time.Time
	Took     time.Duration
	Reloaded bool
	File     *render.File
	// Err is the error, nil if it succeeded.
	Err error
}

// Options describe the controller. All functions must be safe for concurrent use.
type Options struct {
	Version string
	Nginx   nginx.Install
	// State returns the last published state, nil if there is none.
	State func() *State
	// Ready returns the reason why the controller is not ready, as in /readyz.
	Ready func() error
	// Status asks nginx's workers.
	Status nginx.StatusFunc
	// Leader returns the leader; nil without an election.
	Leader func() debugapi.Leader
	// Traffic returns the requests of each Ingress so far; nil if they are not counted.
	Traffic func() debugapi.Traffic
	// Fetch reads the objects that Ingresses refer to, except those of the snapshot. It may be
	// nil. notes tell what could not be read.
	Fetch func(context.Context, []*networkingv1.Ingress, *snapshot.Snapshot) (objects snapshot.Objects, notes []string)

	// differing is held while a difference is computed. One of 10,000 Ingresses needs as much
	// memory as their configuration.
	differing *sync.Mutex
}

// question is one request for a view.
type question struct {
	Options
	ctx    context.Context
	values parameters
	// state is never nil.
	state *State
	// posted is the body of the request.
	posted io.Reader
	// header is that of the answer.
	header http.Header
}

// body is a complete answer. Writing it fails only if the client has gone.
type body interface {
	contentType() string
	write(io.Writer) error
}

// page is a view.
type page struct {
	path string
	// takes are its parameters.
	takes []string
	// early is set if it can answer before the first confirmed configuration.
	early  bool
	answer func(*question) (body, error)
	// method is POST for a page that reads the body of the request, empty for GET.
	method string
}

// pages are all views.
var pages = []page{
	{debugapi.ConfPath, []string{debugapi.HostParam, debugapi.IngressParam, debugapi.FormatParam, debugapi.SearchParam, debugapi.OffsetParam, debugapi.LimitParam}, false, (*question).conf, ""},
	{debugapi.BackendsPath, []string{debugapi.NameParam}, false, (*question).backends, ""},
	{debugapi.CertsPath, []string{debugapi.HostParam}, false, (*question).certificates, ""},
	{debugapi.GeneralPath, nil, true, (*question).general, ""},
	{debugapi.RoutesPath, []string{debugapi.HostParam, debugapi.IngressParam}, false, (*question).routes, ""},
	{debugapi.ExplainPath, []string{debugapi.URLParam, debugapi.MethodParam, debugapi.FormatParam}, false, (*question).explain, ""},
	{debugapi.LivePath, []string{debugapi.URLParam, debugapi.MethodParam, debugapi.DecisionParam}, false, (*question).live, ""},
	{debugapi.ProblemsPath, []string{debugapi.NamespaceParam, debugapi.IngressParam, debugapi.SinceParam, debugapi.WaitParam}, true, (*question).problems, ""},
	{debugapi.ReloadsPath, nil, true, (*question).reloads, ""},
	{debugapi.TrafficPath, []string{debugapi.NamespaceParam}, false, (*question).traffic, ""},
	{debugapi.DiffPath, []string{debugapi.FormatParam, debugapi.NamespaceParam}, false, (*question).diff, http.MethodPost},
}

// Handler returns the handler of all views.
func Handler(o Options) http.Handler {
	o.differing = &sync.Mutex{}
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.HandleFunc(p.path, func(w http.ResponseWriter, r *http.Request) {
			if slices.Contains(p.takes, debugapi.WaitParam) {
				_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it may wait for longer than readTimeout
			}
			b, err := p.serve(o, r, w.Header())
			if err != nil {
				refuse(w, err)
				return
			}
			w.Header().Set("Content-Type", b.contentType())
			_ = b.write(w) // an error means that the client has gone
		})
	}
	mux.Handle(debugapi.ProfilesPath, Profiles())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { refuse(w, unknownPath(r.URL.Path)) })
	return mux
}

// serve returns the answer to one request.
func (p *page) serve(o Options, r *http.Request, header http.Header) (body, error) {
	if want := cmp.Or(p.method, http.MethodGet); r.Method != want {
		header.Set("Allow", want)
		return nil, refusal{http.StatusMethodNotAllowed, fmt.Sprintf("%s: want the method %s (got %s)", p.path, want, model.Quoted(r.Method))}
	}
	values, err := p.parameters(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	q := &question{Options: o, ctx: r.Context(), values: values, state: o.State(), posted: r.Body, header: header}
	if q.state == nil {
		q.state = &State{}
	}
	if q.state.Confirmed == nil && !p.early {
		return nil, refusal{http.StatusServiceUnavailable, fmt.Sprintf("nothing is served yet: %v", missing(o.Ready()))}
	}
	return p.answer(q)
}

// missing returns the reason why the controller is not ready. The state is published
// shortly after the confirmation.
func missing(err error) any {
	if err == nil {
		return "the first configuration was confirmed just now"
	}
	return err
}
