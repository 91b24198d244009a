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

// streamGuard removes TCP and UDP services in quarantine from nginx.conf: those that
// nginx rejects, and those whose port it cannot listen on. Everything else is served
// without them.
type streamGuard struct {
	quarantine *quarantine.Quarantine
	// ahead is set if the ports of new streams are checked before nginx gets them. It
	// is not set for an external nginx, which may hold the ports itself.
	ahead bool
	// listening returns the reason why nobody can listen on a port, nil if one can. It
	// is ports.Try except in tests.
	listening func(model.Protocol, int) error
	// look fires when the ports in use are checked again; nil if there are none.
	look <-chan time.Time
}

// portInterval is the time between two checks of a port in use.
const portInterval = 2 * time.Second

func streamSubject(s *model.Stream) quarantine.Subject {
	return quarantine.Subject{ObjectRef: s.Source, Part: s.Key()}
}

// screen removes the streams in quarantine from a plan. It checks the ports of new
// streams, because nginx takes seconds to give up a port in use: new are those that are
// in no other plan that nginx may run.
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
		if g.quarantine.Of(streamSubject(s)) == nil && g.ahead {
			g.tryPorts(s, others)
		}
		if g.quarantine.Of(streamSubject(s)) == nil {
			p.config.Static.Streams = append(p.config.Static.Streams, *s)
		}
	}
	g.lookLater()
}

// releasePorts ends the refusals of ports that are free now, and of streams that are
// gone.
func (g *streamGuard) releasePorts(find func(quarantine.Subject) *model.Stream) bool {
	return g.quarantine.Release(is[busyForm], func(s quarantine.Subject) quarantine.Form {
		if found := find(s); found != nil && slices.ContainsFunc(found.Ports(), func(p model.StreamPort) bool { return ports.Blocked(g.listening(p.Protocol, p.Number)) }) {
			return busyForm{found}
		}
		return nil
	})
}

// tryPorts removes a stream with a port that nginx cannot listen on. others are the plans
// that nginx may run.
func (g *streamGuard) tryPorts(s *model.Stream, others []*plan) {
	for _, port := range s.Ports() {
		if mayListen(port, others) {
			continue
		}
		if err := g.listening(port.Protocol, port.Number); ports.Blocked(err) {
			g.withholdPort(s, port, err)
			return
		}
	}
}

// mayListen reports whether one of the plans that nginx may run has a stream on the port.
func mayListen(port model.StreamPort, plans []*plan) bool {
	return slices.ContainsFunc(plans, func(p *plan) bool {
		return p != nil && slices.ContainsFunc(p.config.Static.Streams, func(o model.Stream) bool { return slices.Contains(o.Ports(), port) })
	})
}

// withholdPort removes a stream until its port is free.
func (g *streamGuard) withholdPort(s *model.Stream, port model.StreamPort, err error) bool {
	text := fmt.Sprintf("another process listens on %s port %d: stop it or choose another port; until then the service is not served", port.Protocol, port.Number)
	if errors.Is(err, syscall.EACCES) {
		text = fmt.Sprintf("no permission to listen on %s port %d: choose a port above 1023 or grant NET_BIND_SERVICE; until then the service is not served", port.Protocol, port.Number)
	}
	return g.quarantine.Refuse(g.quarantine.Turn(), quarantine.Finding{Subject: streamSubject(s), Refused: busyForm{s}, Verdict: quarantine.Verdict{Text: text}})
}

// refusePorts removes the streams of a plan whose ports nginx could not listen on, and
// reports whether there are any. nginx does not name the protocol. So refusePorts skips
// running streams, and if it removes one of two new streams without need, the next
// check restores it.
func (g *streamGuard) refusePorts(o outcome, running *plan) bool {
	found := false
	for _, unbound := range nginx.UnboundPorts(o.err) {
		for i := range o.plan.config.Static.Streams {
			s := &o.plan.config.Static.Streams[i]
			for _, port := range s.Ports() {
				if port.Number == unbound.Port && !mayListen(port, []*plan{running}) {
					found = g.withholdPort(s, port, unbound.Errno) || found
				}
			}
		}
	}
	g.lookLater()
	return found
}

// freed reports whether the port of a removed stream is free now.
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
