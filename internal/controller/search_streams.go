package controller

import (
	"slices"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/sift"
)

// streamPart is a part of the stream level that one object asked for: a stream, or a host
// that is passed through.
type streamPart struct {
	stream      *model.Stream
	passthrough *model.Passthrough
}

// streams finds those of the stream level that nginx refuses, though it takes the settings
// with nothing of users at that level except a port.
func (s *search) streams() (found []culprit) {
	all := streamParts(s.plan.config.Static)
	if s.failed != nil || len(all) == 0 {
		return nil
	}
	level := s.level(nil)
	level.Streams, level.Passthroughs = nil, nil
	test := func(some []streamPart) (*render.File, error) {
		file, err := s.inTime(s.plan.render(withParts(level, some)))
		if len(nginx.UnboundPorts(err)) > 0 {
			err = nil // a port in use is no mistake of an object
		}
		return file, err
	}
	kind := sift.Kind[streamPart]{
		Test: test,
		Without: func(streamPart) error {
			_, err := test(bare(all))
			return err
		},
		Wrote: streamPart.wrote,
	}
	tried, _ := kind.Sift(all, len(all))
	for _, refused := range tried.Refused {
		found = append(found, refused.Suspect.culprit(refused.Text))
	}
	return found
}

// wrote reports whether a part wrote the lines of an origin.
func (p streamPart) wrote(by render.Origin) bool {
	if p.stream != nil {
		return by.Object == p.stream.Source && by.Stream == p.stream.Key()
	}
	return by.Object == p.passthrough.Source && by.Host == p.passthrough.Host
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
