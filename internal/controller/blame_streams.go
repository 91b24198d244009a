package controller

import (
	"errors"

	"sluice/internal/model"
	"sluice/internal/nginx"
)

// passed is a part of the stream level that one object asked for: a stream, or a
// host that is passed through.
type passed struct {
	stream      *model.Stream
	passthrough *model.Passthrough
}

// findStreams looks for culprits at the stream level, whose settings are tried
// first, with nothing on it that users wrote but a port.
func (b *blame) findStreams(s model.Static) {
	all := passedOf(s)
	if b.failed != nil || len(all) == 0 && !s.PassesThrough {
		return
	}
	level := part(s, nil)
	if err := b.test(withPassed(level, bare(all))); err != nil {
		if len(nginx.UnboundPorts(err)) == 0 {
			b.blameSettings(withPassed(level, bare(all)), err)
		}
		return
	}
	err := b.test(withPassed(level, all))
	var refused *nginx.TestError
	if !errors.As(err, &refused) || len(nginx.UnboundPorts(err)) > 0 {
		return // that a port is not free is nobody's mistake
	}
	verdict, failed := nginx.Blame(all, func(some []passed) error { return b.test(withPassed(level, some)) }, b.tests())
	if failed != nil {
		return
	}
	for _, found := range verdict.Culprits {
		b.culprits = append(b.culprits, found.Item.culprit(wordsOf(found.Err)))
	}
	for _, item := range verdict.Undecided {
		c := item.culprit("not tested apart from others that fail: " + err.Error())
		c.undecided = c.stream == ""
		b.culprits = append(b.culprits, c)
	}
}

func passedOf(s model.Static) []passed {
	var all []passed
	for i := range s.Streams {
		all = append(all, passed{stream: &s.Streams[i]})
	}
	for i := range s.Passthroughs {
		all = append(all, passed{passthrough: &s.Passthroughs[i]})
	}
	return all
}

// withPassed is a configuration with these on its stream level.
func withPassed(s model.Static, some []passed) model.Static {
	for _, p := range some {
		if p.stream != nil {
			s.Streams = append(s.Streams, *p.stream)
		} else {
			s.PassesThrough = true
			s.Passthroughs = append(s.Passthroughs, *p.passthrough)
		}
	}
	return s
}

// bare is a stream level that is surely right, but for its settings and its port.
func bare(all []passed) []passed {
	if len(all) == 0 || all[0].stream == nil {
		return []passed{{passthrough: &model.Passthrough{Host: "bare.invalid"}}}
	}
	first := all[0].stream
	return []passed{{stream: &model.Stream{Protocol: first.Protocol, Port: first.Port, Endpoints: []model.Endpoint{{Address: "127.0.0.1", Port: 1}}}}}
}

func (p passed) culprit(text string) culprit {
	if p.stream != nil {
		return culprit{object: p.stream.Source, stream: p.stream.Key(), text: text}
	}
	return culprit{object: p.passthrough.Source, text: text}
}
