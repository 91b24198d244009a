package controller

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
)

// streamGuard keeps TCP and UDP services out of nginx.conf that nginx cannot
// serve: those whose port it cannot listen on, until the port is free, and those
// that it refuses, until they change. Everything else goes on without them.
type streamGuard struct {
	out map[string]withheld // by the key of the stream
	// ahead is set if the ports of new streams are looked at before nginx gets
	// them. It is not where nginx is run by something else, as it may hold them.
	ahead bool
	// listening reports why nobody can listen on a port, nil if one can; a test
	// gives another than tryListen.
	listening func(model.Protocol, int) error
	// look is when the ports that were not free are looked at again; nil if all
	// are.
	look <-chan time.Time
}

// withheld is a stream that is kept out.
type withheld struct {
	stream  model.Stream
	problem model.Problem
	// port is set if it is for its port.
	port bool
}

// portInterval is the time between two looks at a port that is not free.
const portInterval = 2 * time.Second

func newStreamGuard(ahead bool) *streamGuard {
	return &streamGuard{out: map[string]withheld{}, ahead: ahead, listening: tryListen}
}

// screen gives the streams without those that are kept out. The ports of new
// ones are looked at, as nginx takes seconds to give a port up: new are those
// that no plan has that nginx may run.
func (g *streamGuard) screen(streams []model.Stream, plans []*plan) []model.Stream {
	for key, was := range g.out {
		at := slices.IndexFunc(streams, func(s model.Stream) bool { return s.Key() == key })
		if at < 0 || !was.port && !reflect.DeepEqual(streams[at], was.stream) {
			delete(g.out, key)
		}
	}
	var served []model.Stream
	for _, s := range streams {
		if _, out := g.out[s.Key()]; !out && g.ahead && !mayListen(s, plans) {
			if err := g.listening(s.Protocol, s.Port); blocked(err) {
				g.withholdPort(s, err)
			}
		}
		if _, out := g.out[s.Key()]; !out {
			served = append(served, s)
		}
	}
	g.lookLater()
	return served
}

// mayListen reports whether a plan that nginx may run has the stream.
func mayListen(s model.Stream, plans []*plan) bool {
	return slices.ContainsFunc(plans, func(p *plan) bool {
		return p != nil && slices.ContainsFunc(p.config.Static.Streams, func(o model.Stream) bool { return o.Key() == s.Key() })
	})
}

// blocked reports whether an error of listening is about the port. What else
// goes wrong here, as with the family of addresses, nginx may do in another way.
func blocked(err error) bool {
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES)
}

// withholdPort keeps a stream out for its port.
func (g *streamGuard) withholdPort(s model.Stream, err error) {
	text := fmt.Sprintf("another process listens on %s port %d: stop it or choose another port; until then the service is not served", s.Protocol, s.Port)
	if errors.Is(err, syscall.EACCES) {
		text = fmt.Sprintf("no permission to listen on %s port %d: choose a port above 1023 or grant NET_BIND_SERVICE; until then the service is not served", s.Protocol, s.Port)
	}
	g.out[s.Key()] = withheld{s, model.Problem{Object: s.Source, Field: s.Field, Reason: model.Conflict, Text: text}, true}
}

// refusePorts keeps those streams of a plan out whose ports nginx could not
// listen on, and reports whether there are any. nginx does not say the protocol:
// what it runs already is not meant, and of two that are new the one that is
// kept out without need is back after the next look.
func (g *streamGuard) refusePorts(o outcome, running *plan) bool {
	found := false
	for _, unbound := range nginx.UnboundPorts(o.err) {
		for _, s := range o.plan.config.Static.Streams {
			if s.Port == unbound.Port && !mayListen(s, []*plan{running}) {
				g.withholdPort(s, unbound.Errno)
				found = true
			}
		}
	}
	g.lookLater()
	return found
}

// refuse keeps a stream out that nginx refuses, and reports whether that changes
// anything.
func (g *streamGuard) refuse(p *plan, found culprit) bool {
	at := slices.IndexFunc(p.config.Static.Streams, func(s model.Stream) bool { return s.Key() == found.stream })
	if _, out := g.out[found.stream]; out || at < 0 {
		return false
	}
	s := p.config.Static.Streams[at]
	text := "nginx refuses it: the service is not served (" + messageOf(found.text) + ")"
	g.out[found.stream] = withheld{s, model.Problem{Object: s.Source, Field: s.Field, Reason: model.Refused, Text: text}, false}
	return true
}

// freed takes the streams back whose port is free by now, and reports whether
// there are any.
func (g *streamGuard) freed() bool {
	found := false
	for key, was := range g.out {
		if was.port && !blocked(g.listening(was.stream.Protocol, was.stream.Port)) {
			delete(g.out, key)
			found = true
		}
	}
	g.look = nil
	g.lookLater()
	return found
}

func (g *streamGuard) lookLater() {
	waiting := false
	for _, was := range g.out {
		waiting = waiting || was.port
	}
	switch {
	case !waiting:
		g.look = nil
	case g.look == nil:
		g.look = time.After(portInterval)
	}
}

// problems tells what is kept out, in a fixed order.
func (g *streamGuard) problems() []model.Problem {
	var problems []model.Problem
	for _, was := range g.out {
		problems = append(problems, was.problem)
	}
	slices.SortFunc(problems, func(a, b model.Problem) int {
		return cmp.Or(a.Object.Compare(b.Object), strings.Compare(a.Field, b.Field))
	})
	return problems
}
