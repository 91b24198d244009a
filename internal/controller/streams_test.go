package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/selfsigned"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

func streamsOf(ports ...int) []model.Stream {
	var all []model.Stream
	for _, port := range ports {
		all = append(all, model.Stream{Protocol: model.TCP, Port: port, Field: fmt.Sprint(port), Endpoints: []model.Endpoint{{Address: fmt.Sprintf("10.0.0.%d", port), Port: 1}},
			Source: model.ObjectRef{Kind: "ConfigMap", Namespace: "sluice", Name: "tcp"}})
	}
	return all
}

func portsOf(streams []model.Stream) []int {
	var ports []int
	for _, s := range streams {
		ports = append(ports, s.Port)
	}
	return ports
}

func planOf(streams ...model.Stream) *plan {
	return &plan{config: model.Config{Static: model.Static{Streams: streams}}}
}

// streamsIn returns a guard for which all ports are free.
func streamsIn(t *testing.T) *streamGuard {
	t.Helper()
	q := quarantine.New(harmless, time.Now)
	return &streamGuard{quarantine: q, ahead: true, listening: func(model.Protocol, int) error { return nil }}
}

// served returns the ports of the streams that a plan serves.
func (g *streamGuard) served(all []model.Stream, others ...*plan) []int {
	p := planOf(all...)
	g.screen(p, others...)
	return portsOf(p.config.Static.Streams)
}

// refuse makes nginx reject a stream of a plan, and reports whether the stream is
// removed now.
func (g *streamGuard) refuse(p *plan, key, text string) bool {
	object := model.ObjectRef{Kind: "ConfigMap", Namespace: "sluice", Name: "tcp"}
	f, ok := p.finding(culprit{object: object, stream: key, text: text}, nil)
	return ok && g.quarantine.Refuse(g.quarantine.Turn(), f)
}

func (g *streamGuard) problems() []model.Problem {
	return (&Controller{quarantine: g.quarantine}).refusals()
}

// TestPortsAreCheckedBeforeTheyAreServed, except those that nginx may hold.
func TestPortsAreCheckedBeforeTheyAreServed(t *testing.T) {
	t.Parallel()
	g := streamsIn(t)
	errs := map[int]error{1: fmt.Errorf("listen: %w", syscall.EADDRINUSE), 2: syscall.EACCES, 3: syscall.EADDRINUSE, 4: syscall.EAFNOSUPPORT}
	g.listening = func(_ model.Protocol, port int) error { return errs[port] }
	all := streamsOf(1, 2, 3, 4, 5)
	if got := g.served(all, nil, planOf(streamsOf(3)...)); !slices.Equal(got, []int{3, 4, 5}) {
		t.Fatalf("%v are served", got)
	}
	problems := g.problems()
	if len(problems) != 2 || problems[0].Field != "1" || problems[1].Field != "2" || !strings.Contains(problems[1].Text, "NET_BIND_SERVICE") {
		t.Errorf("problems: %v", problems)
	}
	if g.look == nil || g.freed() {
		t.Error("the ports are not looked at again, or found free")
	}
	delete(errs, 1)
	if !g.freed() {
		t.Error("the port that is free is not found")
	}
	if got := g.served(all); !slices.Equal(got, []int{1, 4, 5}) {
		t.Errorf("%v are served, after port 1 is free and 3 is not nginx's", got)
	}
	another := streamsIn(t)
	another.ahead, another.listening = false, g.listening
	if got := another.served(all); len(got) != len(all) {
		t.Errorf("where nginx is another's, only %v are served", got)
	}
	if g.served(nil); len(g.problems()) > 0 || g.look != nil {
		t.Error("what is gone is still kept out")
	}
}

// TestRefusedStreamsAreRemovedUntilTheyChange, and no longer.
func TestRefusedStreamsAreRemovedUntilTheyChange(t *testing.T) {
	t.Parallel()
	g := streamsIn(t)
	all := streamsOf(1, 2)
	p := planOf(all...)
	if !g.refuse(p, "tcp-2", "bad\n") || g.refuse(p, "tcp-2", "") || g.refuse(p, "tcp-3", "") {
		t.Error("it is kept out twice, or not at all")
	}
	if got := g.served(streamsOf(1, 2)); !slices.Equal(got, []int{1}) {
		t.Errorf("%v are served", got)
	}
	if problems := g.problems(); len(problems) != 1 || problems[0].Reason != model.Refused || problems[0].Field != "2" || strings.Contains(problems[0].Text, "\n") {
		t.Errorf("problems: %v", problems)
	}
	all[1].Endpoints = []model.Endpoint{{Address: "10.0.0.9", Port: 1}}
	if got := g.served(all); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("%v are served after a change", got)
	}
}

// TestPortThatNginxCannotListenOn: it is not a port that nginx already serves with
// another protocol.
func TestPortThatNginxCannotListenOn(t *testing.T) {
	t.Parallel()
	g := streamsIn(t)
	all := append(streamsOf(1, 2), model.Stream{Protocol: model.UDP, Port: 2})
	err := fmt.Errorf("apply: %w", &nginx.TestError{Raw: "nginx: [emerg] bind() to [::]:2 failed (13: Permission denied)\nbind() to 192.0.2.1:1 failed (99: Cannot assign requested address)\n"})
	if !g.refusePorts(outcome{plan: planOf(all...), err: err}, planOf(all[2])) || len(g.problems()) != 1 || g.problems()[0].Reason != model.Conflict || g.problems()[0].Field != "2" {
		t.Errorf("kept out: %v", g.problems())
	}
	if g.refusePorts(outcome{plan: planOf(all...), err: errors.New("bind() to 0.0.0.0:1 failed (98: Address already in use)")}, nil) {
		t.Error("an error that is not nginx's is taken for one")
	}
}

// refusing rejects files that contain certain texts.
type refusing []string

func (r refusing) Test(ctx context.Context, conf io.WriterTo) error { return r.TestApart(ctx, conf) }

func (r refusing) TestApart(_ context.Context, conf io.WriterTo) error {
	var text strings.Builder
	if _, err := conf.WriteTo(&text); err != nil {
		return err
	}
	for _, bad := range r {
		if strings.Contains(text.String(), bad) {
			return &nginx.TestError{Text: "refused for " + bad}
		}
	}
	return nil
}

// TestBlameOnTheStreamLevel finds the rejected service, host or settings.
func TestBlameOnTheStreamLevel(t *testing.T) {
	t.Parallel()
	set, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	e := render.Environment{HTTPPort: 80, HTTPSPort: 443, StateDir: "/state", Lua: "/lua", Capabilities: render.Capabilities{Stream: true, SSLPreread: true}}
	web := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}
	s := model.Static{Streams: streamsOf(1, 2, 3), PassesThrough: true, Passthroughs: []model.Passthrough{{Host: "a.example", Source: web}, {Host: "b.example"}}}
	proxied := settingsOf("")
	proxied.Data = map[string]string{"proxy-stream-responses": "7"}
	values, _ := settings.Read(proxied)
	certificate, err := selfsigned.Certificate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.Blocks = values.Blocks()
	for _, test := range []struct {
		static   model.Static
		bad      refusing
		culprits []string
		settings bool
	}{
		{s, refusing{"10.0.0.2:"}, []string{"tcp-2"}, false},
		{s, refusing{"10.0.0.1:", "10.0.0.3:", "passed-a.example"}, []string{"tcp-1", "tcp-3", "Ingress shop/web"}, false},
		{s, refusing{"proxy_responses 7"}, nil, true},
		{model.Static{PassesThrough: true, Blocks: s.Blocks}, refusing{"proxy_responses 7"}, nil, true},
		{s, refusing{"proxy_responses"}, nil, false}, // the defaults are refused, too
		{s, refusing{"no such text"}, nil, false},
		{model.Static{Blocks: s.Blocks}, refusing{"proxy_responses"}, nil, false},
	} {
		p := &plan{served: snap(t), configMap: proxied, rounds: mostRounds, config: model.Config{Static: test.static}, options: translate.Options{Passthrough: true, ConfigMap: snapshot.NameOf(proxied)},
			render: func(s model.Static) *render.File {
				file, _ := set.Render(s, e, nil)
				return file
			}}
		p.served = p.served.WithConfigMap(proxied)
		p.options.FallbackCertificate = certificate
		b, o := &search{ctx: t.Context(), process: test.bad, plan: p}, outcome{}
		whole := p.render(test.static)
		b.find(&o, whole, b.test(whole))
		var found []string
		for _, c := range o.culprits {
			if c.stream == "" {
				c.stream = c.object.String()
			}
			found = append(found, c.stream)
		}
		if !slices.Equal(found, test.culprits) || (len(o.settings) > 0) != test.settings || b.failed != nil {
			t.Errorf("%v: blamed are %v, settings %v", test.bad, found, o.settings)
		}
	}
}
