package controller

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/ports"
	"sluice/internal/quarantine"
)

// streamGuard keeps TCP and UDP services out of nginx.conf that are in quarantine:
// those that nginx refuses, and those whose port it cannot listen on. Everything else
// goes on without them.
type streamGuard struct {
	quarantine *quarantine.Quarantine
	// ahead is set if the ports of new streams are looked at before nginx gets
	// them. It is not where nginx is run by something else, as it may hold them.
	ahead bool
	// listening reports why nobody can listen on a port, nil if one can; a test
	// gives another than ports.Try.
	listening func(model.Protocol, int) error
	// look is when the ports that were not free are looked at again; nil if all
	// are.
	look <-chan time.Time
}

// portInterval is the time between two looks at a port that is not free.
const portInterval = 2 * time.Second

func streamSubject(s *model.Stream) quarantine.Subject {
	return quarantine.Subject{ObjectRef: s.Source, Part: s.Key()}
}

// screen takes the streams out of a plan that are in quarantine. The ports of new ones
// are looked at, as nginx takes seconds to give a port up: new are those that no other
// plan has that nginx may run.
func (g *streamGuard) screen(p *plan, others ...*plan) {
	streams := p.config.Static.Streams
	find := func(s quarantine.Subject) *model.Stream {
		at := slices.IndexFunc(streams, func(o model.Stream) bool { return streamSubject(&o) == s })
		if at < 0 {
			return nil
		}
		return &streams[at]
	}
	g.quarantine.Release(is[*model.Stream], func(s quarantine.Subject) quarantine.Form {
		if s.Part == "" {
			return p.look(s)
		}
		return orNone(find(s))
	})
	g.releasePorts(find)
	p.config.Static.Streams = nil
	for i := range streams {
		s := &streams[i]
		if g.quarantine.Of(streamSubject(s)) == nil && g.ahead && !mayListen(s, others) {
			if err := g.listening(s.Protocol, s.Port); ports.Blocked(err) {
				g.withholdPort(s, err)
			}
		}
		if g.quarantine.Of(streamSubject(s)) == nil {
			p.config.Static.Streams = append(p.config.Static.Streams, *s)
		}
	}
	g.lookLater()
}

// releasePorts ends the refusals for ports that are free by now, and those of streams
// that are gone.
func (g *streamGuard) releasePorts(find func(quarantine.Subject) *model.Stream) bool {
	return g.quarantine.Release(is[busyForm], func(s quarantine.Subject) quarantine.Form {
		if found := find(s); found != nil && ports.Blocked(g.listening(found.Protocol, found.Port)) {
			return busyForm{found}
		}
		return nil
	})
}

// mayListen reports whether a plan that nginx may run has the stream.
func mayListen(s *model.Stream, plans []*plan) bool {
	return slices.ContainsFunc(plans, func(p *plan) bool {
		return p != nil && slices.ContainsFunc(p.config.Static.Streams, func(o model.Stream) bool { return o.Key() == s.Key() })
	})
}

// withholdPort keeps a stream out as long as its port is not free.
func (g *streamGuard) withholdPort(s *model.Stream, err error) bool {
	text := fmt.Sprintf("another process listens on %s port %d: stop it or choose another port; until then the service is not served", s.Protocol, s.Port)
	if errors.Is(err, syscall.EACCES) {
		text = fmt.Sprintf("no permission to listen on %s port %d: choose a port above 1023 or grant NET_BIND_SERVICE; until then the service is not served", s.Protocol, s.Port)
	}
	return g.quarantine.Refuse(g.quarantine.Turn(), quarantine.Finding{Subject: streamSubject(s), Refused: busyForm{s}, Verdict: quarantine.Verdict{Text: text, Final: true}})
}

// refusePorts keeps those streams of a plan out whose ports nginx could not
// listen on, and reports whether there are any. nginx does not say the protocol:
// what it runs already is not meant, and of two that are new the one that is
// kept out without need is back after the next look.
func (g *streamGuard) refusePorts(o outcome, running *plan) bool {
	found := false
	for _, unbound := range nginx.UnboundPorts(o.err) {
		for i := range o.plan.config.Static.Streams {
			if s := &o.plan.config.Static.Streams[i]; s.Port == unbound.Port && !mayListen(s, []*plan{running}) {
				found = g.withholdPort(s, unbound.Errno) || found
			}
		}
	}
	g.lookLater()
	return found
}

// freed reports whether a port is free by now for which a stream was kept out.
func (g *streamGuard) freed() bool {
	found := g.releasePorts(func(s quarantine.Subject) *model.Stream { return g.quarantine.Of(s).Refused.(busyForm).Stream })
	g.look = nil
	g.lookLater()
	return found
}

func (g *streamGuard) lookLater() {
	waiting := false
	for r := range g.quarantine.All() {
		waiting = waiting || is[busyForm](r.Refused)
	}
	switch {
	case !waiting:
		g.look = nil
	case g.look == nil:
		g.look = time.After(portInterval)
	}
}
