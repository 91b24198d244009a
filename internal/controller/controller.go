// Package controller is the loop: snapshot, translate, render, apply, report.
//
// It takes a Source of objects. The results are an nginx that serves them, and Problems
// for those that it could not serve. One goroutine decides (this file and plan.go), and
// another one applies (apply.go), so that endpoints and certificates never wait for a
// reload. A third one tests the objects that wait in quarantine (trials.go).
package controller

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/dynamic"
	"sluice/internal/healthcheck"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/ocsp"
	"sluice/internal/ports"
	"sluice/internal/prober"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/report"
	"sluice/internal/resolver"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Source returns the objects and signals changes.
type Source interface {
	// Load returns all current objects.
	Load(ctx context.Context) (snapshot.Loaded, error)
	// Watch signals changes, several at once if they are close together, until ctx
	// ends.
	Watch(ctx context.Context) (<-chan struct{}, error)
}

// Databases returns the GeoIP databases of nginx and signals their replacement.
type Databases interface {
	Current() []render.Database
	Changes() <-chan struct{}
}

// Templates returns the compiled templates and signals their replacement.
type Templates interface {
	Current() *render.Templates
	Changes() <-chan struct{}
}

// Options are the parts and settings of a Controller.
type Options struct {
	Source    Source
	Templates Templates
	// Databases may be nil.
	Databases   Databases
	Translate   translate.Options
	Environment render.Environment
	Process     *nginx.Process
	Limiter     *nginx.Limiter
	Runtime     *dynamic.Client
	Resolver    *resolver.Resolver
	Prober      *prober.Prober
	Stapler     *ocsp.Stapler
	// Ports must be free after the start of nginx. It is empty if another program runs
	// nginx.
	Ports []ports.Port
	// StateDir contains the files of the last good and the rejected forms.
	StateDir string
	// AfterRead is called when the source has read its objects for the first time; it
	// may be nil.
	AfterRead func()
	// Missing returns the reason why the source does not have all objects yet; it may
	// be nil.
	Missing func() error
	// Audience receives Problems and served Ingresses; nil means nobody.
	Audience Audience
	// Configured receives the settings of the controller itself in force; nil means nobody.
	Configured func(Configured)
	// Synced receives the result of each sync; nil means nobody.
	Synced func(report.SyncLine)
	Log    *slog.Logger
}

// Controller keeps nginx up to date with the objects. Use New.
type Controller struct {
	Options
	report     *report.Reporter
	quarantine *quarantine.Quarantine
	good       *lastGood
	remembered *remembered
	settings   settingsGuard
	streams    *streamGuard
	trials     *trials
	// nginx identifies the nginx binary.
	nginx nginxForm
	// settingsOf returns the settings of an Ingress in the plan in progress.
	settingsOf func() func(*networkingv1.Ingress) *settings.Settings
	problems   model.Joined
	snapshots  snapshot.Builder
	memo       *translate.Memo
	cache      *render.Cache
	applier    *applier

	// target is the plan whose file runs or is being applied. latest is the newest
	// plan, which may differ from it outside the file.
	target, latest *plan
	// plans is the number of plans so far.
	plans int
	// lastConfirmed is the plan that was confirmed last.
	lastConfirmed *plan
	// wanted is the runtime state of the latest plan. retired holds what draining
	// workers need besides.
	wanted  model.Dynamic
	retired retired
	// swept is set once the user files of a former process are removed.
	swept bool
	// trustLeft is set if old files of trusted authorities may have to be removed.
	trustLeft bool
	// lastLogged is the plan in the latest sync log line.
	lastLogged *plan
	shown      shown
	// roomless lists what did not fit into nginx's memory at the last push.
	roomless dynamic.Roomless
	// endpointsChanged signals new addresses of DNS names, other results of health checks, or
	// other OCSP responses.
	endpointsChanged chan struct{}
	// held is set while the target waits for new DNS names, at most until namedBy.
	held       bool
	namedBy    time.Time
	unresolved []resolver.Trouble // the troubles that are Problems of the latest plan
	unhealthy  []healthcheck.Trouble
	unstapled  []ocsp.Trouble
	// templates are those that nginx accepted last.
	templates *render.Templates
	// down is set from the death of nginx to its restart.
	down        bool
	retry, drop <-chan time.Time
	delay       time.Duration
	pace        pace

	// rounds is the number of plans in a row in which nginx refused what it named.
	rounds int

	// idle is the reason why the pod is not ready although nginx runs, nil for none.
	idle  atomic.Pointer[error]
	ready atomic.Bool
	first firstTime
	// wasReady is set for good once the pod is ready, and readyNoted once that is written.
	wasReady   atomic.Bool
	readyNoted bool
	stopping   atomic.Bool
}

// New returns a controller. It reads the last good and the rejected forms from the
// state directory.
func New(o Options) (*Controller, error) {
	good, err := openLastGood(o.StateDir + "/last-good.jsonl")
	if err != nil {
		return nil, err
	}
	known, err := openRemembered(o.StateDir + "/refused.json")
	if err != nil {
		return nil, err
	}
	if o.Audience == nil {
		o.Audience = nobody{}
	}
	if o.Configured == nil {
		o.Configured = func(Configured) {}
	}
	if o.Synced == nil {
		o.Synced = func(report.SyncLine) {}
	}
	if o.Missing == nil {
		o.Missing = func() error { return nil }
	}
	c := &Controller{
		Options: o,
		report:  report.New(o.Log),
		good:    good, remembered: known,
		endpointsChanged: make(chan struct{}, 1),
		memo:             translate.NewMemo(),
		cache:            render.NewCache(),
	}
	if o.Process != nil {
		c.nginx = nginxForm{o.Process.Install().Version, o.Environment.Capabilities}
	}
	c.quarantine = quarantine.New(quarantine.Judge{Same: sameForm, Protects: c.protectsMore}, time.Now)
	c.streams = &streamGuard{quarantine: c.quarantine, ahead: len(o.Ports) > 0, listening: ports.Try}
	c.applier, c.trials = newApplier(o), newTrials(o.Process)
	c.wasReady.Store(wasReadyBefore(o.StateDir))
	return c, nil
}

// Run starts nginx and keeps it up to date until ctx ends. It does not stop nginx. It
// returns an error if it could not start.
func (c *Controller) Run(ctx context.Context) error {
	changes, err := c.Source.Watch(ctx)
	if err != nil {
		return err
	}
	if c.Databases != nil {
		changes = either(ctx, changes, c.Databases.Changes())
	}
	bootstrap, err := c.Templates.Current().Bootstrap(c.Environment)
	if err != nil {
		return fmt.Errorf("render the first configuration: %w", err)
	}
	if !c.takeOver(ctx, changes) {
		return nil // asked to stop while it waited
	}
	read := c.readAhead(ctx)
	if err := c.Process.Start(ctx, bootstrap.Bytes()); err != nil {
		if ctx.Err() != nil {
			return nil // asked to stop while it started
		}
		return err
	}
	if err := ports.Check(c.Ports); err != nil {
		return err
	}
	<-read
	if c.AfterRead != nil {
		c.AfterRead()
	}
	go c.Resolver.Run(ctx)
	go c.Prober.Run(ctx)
	go c.Stapler.Run(ctx)
	go c.forward(ctx)
	go c.applier.run(ctx)
	go c.trials.run(ctx)
	c.loop(ctx, changes)
	return nil
}

func (c *Controller) loop(ctx context.Context, changes <-chan struct{}) {
	c.sync(ctx)
	for c.turn(ctx, changes) {
	}
}

// turn waits for one event and handles it. It returns false once ctx has ended.
func (c *Controller) turn(ctx context.Context, changes <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-changes:
		c.syncSoon(ctx)
	case <-c.pace.due:
		c.syncOrWait(ctx)
	case <-c.applier.free:
		c.catchUp(ctx)
	case <-c.Templates.Changes():
		c.cache = render.NewCache()
		c.sync(ctx)
	case <-c.endpointsChanged:
		c.resolved(ctx)
	case event := <-c.Process.Events():
		c.nginxChanged(ctx, event)
	case outcome := <-c.applier.outcomes:
		c.applied(ctx, outcome)
	case <-c.retry:
		c.retry = nil
		c.sync(ctx)
	case <-c.streams.look:
		c.lookAtPorts(ctx)
	case tried := <-c.trials.ended:
		c.trialEnded(ctx, tried)
	case <-c.drop:
		c.retain(ctx)
	}
	c.submitNamed()
	return true
}

// lookAtPorts serves TCP and UDP services again whose ports are free now.
func (c *Controller) lookAtPorts(ctx context.Context) {
	if c.streams.freed() {
		c.sync(ctx)
	}
}

// syncSoon syncs now, or a little later if the last sync was recent.
func (c *Controller) syncSoon(ctx context.Context) {
	if !c.pace.later(time.Now()) {
		c.syncOrWait(ctx)
	}
}

// sync makes and applies a plan of the current objects.
func (c *Controller) sync(ctx context.Context) {
	if p := c.look(ctx); p != nil {
		c.carryOut(ctx, p)
	}
}

// look reads the objects for a plan. It returns nil if that fails.
func (c *Controller) look(ctx context.Context) *plan {
	c.pace.due = nil
	p, err := c.read(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if c.report.Trouble("objects not read; the running configuration stays in force", err) {
		c.retryLater()
		return nil
	}
	return p
}

// carryOut completes the plan, pushes its endpoints and certificates, and submits its
// file if that differs.
func (c *Controller) carryOut(ctx context.Context, p *plan) {
	c.applier.awaited.Store(false)
	due := c.retry == nil // only the timer retries a failed plan
	c.decide(p)
	c.Configured(configured(p.config.Static))
	c.retired.note(c.wanted, p.config.Dynamic, p.number)
	c.renewRetired(p)
	if c.latest != nil {
		c.retired.trust.note(missing(c.latest.file.Trust(), p.file.Trust(), trustKey), p.number, trustKey)
	}
	c.wanted, c.latest = p.config.Dynamic, p
	reloads := c.target == nil || c.target.failed && due || !p.file.Equal(c.target.file)
	c.Log.Debug("objects read and decided on", "plan", p.number, "load", p.loading, "decide", p.deciding, "nginx.conf changed", reloads)
	if !reloads && c.target.confirmed {
		c.release(p) // before the push, which may need the room
	}
	p.pushed = c.push(ctx)
	c.pace.took(p.loading+p.deciding+p.pushed, time.Now())
	c.tell(p)
	c.trials.decided = time.Time{}
	if reloads {
		c.target, c.held = p, true
		c.submitNamed()
		c.tryDue()
		return
	}
	if c.target.confirmed {
		c.shown.loaded = p // its file is the one that nginx has loaded
		c.inForce(ctx, p)
	}
	c.logSync(p, nil)
	c.tryDue()
}

// tell reports the Problems of a plan, with those of its last push.
func (c *Controller) tell(p *plan) {
	c.tellRoomless(p)
	c.publish()
	c.report.Problems(p.problems)
	c.Audience.Problems(p.problems)
}

// push sends the endpoints and certificates to nginx, with those that only workers with
// an older file need. If it fails, it is tried again, and holds back nothing else.
func (c *Controller) push(ctx context.Context) time.Duration {
	start := time.Now()
	held := c.retired.and(c.wanted)
	fill := c.use(held)
	err := c.makeRoom(ctx, c.Runtime.Push(ctx, fill(held)))
	c.Log.Debug("endpoints and certificates pushed", "took", time.Since(start), "backends", len(held.Backends), "certificates", len(held.Certificates))
	if err == nil {
		c.shown.told = fill(c.wanted)
		c.publish()
	}
	c.watchMemory(err)
	if ctx.Err() != nil || c.down {
		return time.Since(start) // everything is pushed when nginx is back
	}
	if c.report.Trouble("endpoints and certificates not pushed; trying again", err) {
		c.retryLater()
	} else if c.target != nil && c.target.confirmed {
		c.delay = 0
	}
	return time.Since(start)
}

// nginxChanged restores the state of a restarted nginx, which runs the bootstrap file
// and has no endpoints. Until then nothing is served.
func (c *Controller) nginxChanged(ctx context.Context, event nginx.Event) {
	c.ready.Store(false)
	if c.down = event.Kind == nginx.Died; c.down {
		return
	}
	c.Log.Warn("pushing everything to nginx again", "reason", event.Text)
	c.push(ctx)
	c.applier.forget()
	if c.held = false; c.target != nil {
		c.applier.submit(c.target)
	}
}
