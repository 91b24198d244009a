package controller

import (
	"slices"

	"sluice/internal/model"
	"sluice/internal/nginx"
)

// streamPart is a part of the stream level that one object asked for: a stream, or a host
// that is passed through.
type streamPart struct {
	stream      *model.Stream
	passthrough *model.Passthrough
}

// streams finds those of the stream level that nginx refuses. It tests the settings first,
// with nothing of users at that level except a port.
func (s *search) streams() (found []culprit) {
	static := s.plan.config.Static
	all := streamParts(static)
	if s.failed != nil || len(all) == 0 {
		return nil
	}
	level := s.level(nil)
	level.Streams, level.Passthroughs = nil, nil
	if s.test(s.plan.render(withParts(level, bare(all)))) != nil {
		return nil
	}
	test := func(some, _ []streamPart) error {
		err := s.testInTime(s.plan.render(withParts(level, some)))
		if len(nginx.UnboundPorts(err)) > 0 {
			return nil // a port in use is no mistake of an object
		}
		return err
	}
	tried, _ := sift(all, len(all), atMost(mostTests), test)
	for _, failed := range tried.refused {
		found = append(found, failed.item.culprit(wordsOf(failed.err)))
	}
	return found
}

func streamParts(s model.Static) []streamPart {
	var all []streamPart
	for i := range s.Streams {
		all = append(all, streamPart{stream: &s.Streams[i]})
	}
	for i := range s.Passthroughs {
		all = append(all, streamPart{passthrough: &s.Passthroughs[i]})
	}
	return all
}

// withParts returns a configuration with these parts at the stream level.
func withParts(s model.Static, some []streamPart) model.Static {
	s.Streams, s.Passthroughs = slices.Clone(s.Streams), slices.Clone(s.Passthroughs)
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

// bare is a stream level that is valid, except perhaps for the settings and the port.
func bare(all []streamPart) []streamPart {
	if len(all) == 0 || all[0].stream == nil || all[0].stream.Snippet != "" {
		return []streamPart{{passthrough: &model.Passthrough{Host: "bare.invalid"}}}
	}
	first := all[0].stream
	return []streamPart{{stream: &model.Stream{Protocol: first.Protocol, Port: first.Port, Endpoints: []model.Endpoint{{Address: "127.0.0.1", Port: 1}}}}}
}

func (p streamPart) culprit(text string) culprit {
	if p.stream != nil {
		return culprit{object: p.stream.Source, stream: p.stream.Key(), text: text}
	}
	return culprit{object: p.passthrough.Source, text: text}
}
