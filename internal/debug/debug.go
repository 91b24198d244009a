// Package debug answers questions about a running controller over a unix socket
// in its state directory: what nginx.conf says and who wrote it, which endpoints
// and certificates nginx was told, where a URL goes and what is wrong. Package view
// holds what can be asked and what is answered.
//
//	stop, err := debug.Serve(filepath.Join(stateDir, debugapi.Socket), debug.Handler(options))
//	body, err := debug.Get(ctx, stateDir, "/routes?host=shop.example")
//
// It only reads. The controller publishes a State after each step, one pointer to
// values that are its own and never change; whatever is told of them is computed
// when it is asked for, and no sync ever waits for a question. Who may enter the
// socket may see every object that is served, but no private key.
package debug

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/explain"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// State is what the controller has brought about so far. What it refers to is
// shared with the controller and never changed.
type State struct {
	// Confirmed is what an nginx worker confirmed last, nil until one did.
	Confirmed *Confirmed
	// Told is what nginx was told last of endpoints and certificates, which may
	// be newer than Confirmed.
	Told model.Dynamic
	// Snapshot is what the cluster says, and Problems all that is wrong with it,
	// as of the last sync; the Problems are as model.SortProblems makes them.
	Snapshot *snapshot.Snapshot
	Problems []model.Problem
	// Last is the last attempt to have nginx serve a configuration, nil until
	// there was one.
	Last *Attempt
}

// Confirmed is a configuration that nginx runs, with what it was made of.
type Confirmed struct {
	// Snapshot is the one that is served: with last good forms in the place of
	// what nginx refused.
	Snapshot *snapshot.Snapshot
	Options  translate.Options
	Config   model.Config
	// Problems are those of that time.
	Problems []model.Problem
	File     *render.File
	// Ingresses is how many are served.
	Ingresses int
}

// input is what a request is explained by.
func (c *Confirmed) input() explain.Input {
	return explain.Input{Snapshot: c.Snapshot, Options: c.Options, Config: c.Config, Problems: c.Problems}
}

// Attempt is one attempt to have nginx serve a configuration.
type Attempt struct {
	At       time.Time
	Took     time.Duration
	Reloaded bool
	File     *render.File
	// Err is why it failed, nil if it did not.
	Err error
}

// Options say of whom is told. All functions may be called at any time, by several
// goroutines.
type Options struct {
	Version string
	Nginx   nginx.Install
	// State gives what was published last, nil for nothing.
	State func() *State
	// Ready says what is missing, as /readyz does.
	Ready func() error
	// Status asks nginx's workers.
	Status nginx.StatusFunc
	// Leader says who leads; nil where nobody is elected.
	Leader func() debugapi.Leader
}

// question is one request for a view.
type question struct {
	Options
	ctx    context.Context
	values parameters
	// state is never nil.
	state *State
}

// body is an answer: it is written after all that can be wrong was found.
type body interface {
	contentType() string
	write(io.Writer) error
}

// page is a view.
type page struct {
	path string
	// takes are the parameters that it has.
	takes []string
	// early is set if it can answer before anything was confirmed.
	early  bool
	answer func(*question) (body, error)
}

// pages are all views.
var pages = []page{
	{debugapi.ConfPath, []string{debugapi.HostParam, debugapi.IngressParam, debugapi.FormatParam}, false, (*question).conf},
	{debugapi.BackendsPath, []string{debugapi.NameParam}, false, (*question).backends},
	{debugapi.CertsPath, []string{debugapi.HostParam}, false, (*question).certificates},
	{debugapi.GeneralPath, nil, true, (*question).general},
	{debugapi.RoutesPath, []string{debugapi.HostParam, debugapi.IngressParam}, false, (*question).routes},
	{debugapi.ExplainPath, []string{debugapi.URLParam, debugapi.MethodParam, debugapi.FormatParam}, false, (*question).explain},
	{debugapi.ProblemsPath, []string{debugapi.NamespaceParam, debugapi.IngressParam}, true, (*question).problems},
}

// Handler answers the views.
func Handler(o Options) http.Handler {
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.HandleFunc(p.path, func(w http.ResponseWriter, r *http.Request) {
			b, err := p.serve(o, r)
			if err != nil {
				refuse(w, err)
				return
			}
			w.Header().Set("Content-Type", b.contentType())
			_ = b.write(w) // whoever asked has gone
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { refuse(w, unknownPath(r.URL.Path)) })
	return mux
}

// serve answers one request, or says what is wrong with it.
func (p *page) serve(o Options, r *http.Request) (body, error) {
	if r.Method != http.MethodGet {
		return nil, refusal{http.StatusMethodNotAllowed, fmt.Sprintf("%s: want the method GET (got %s)", p.path, keys.Quote(r.Method))}
	}
	values, err := p.parameters(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	q := &question{Options: o, ctx: r.Context(), values: values, state: o.State()}
	if q.state == nil {
		q.state = &State{}
	}
	if q.state.Confirmed == nil && !p.early {
		return nil, refusal{http.StatusServiceUnavailable, fmt.Sprintf("nothing is served yet, so that there is nothing to tell: %v", missing(o.Ready()))}
	}
	return p.answer(q)
}

// missing gives what keeps the controller from being ready. What was confirmed is
// published a moment after it is.
func missing(err error) any {
	if err == nil {
		return "the first configuration was confirmed just now"
	}
	return err
}
