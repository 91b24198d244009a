package controller

import (
	"errors"
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

// findStreams finds culprits at the stream level. It tests the settings first, with
// nothing of users at that level except a port.
func (b *blame) findStreams(s model.Static) {
	all := slices.DeleteFunc(streamParts(s), func(p streamPart) bool { return b.blamed(p.culprit("").subject()) })
	if b.failed != nil || len(all) == 0 && !s.PassesThrough {
		return
	}
	level := part(s, nil)
	if err := b.test(withParts(level, bare(all))); err != nil {
		if len(nginx.UnboundPorts(err)) == 0 {
			b.blameSettings(withParts(level, bare(all)), err)
		}
		return
	}
	err := b.test(withParts(level, all))
	var refused *nginx.TestError
	if !errors.As(err, &refused) || len(nginx.UnboundPorts(err)) > 0 {
		return // a port in use is no mistake of an object
	}
	verdict, failed := search(b, all, func(some []streamPart) error { return b.test(withParts(level, some)) }, b.tests())
	if failed != nil {
		return
	}
	for _, found := range verdict.Culprits {
		b.culprits = append(b.culprits, found.Item.culprit(wordsOf(found.Err)))
	}
	for _, item := range verdict.Undecided {
		c := item.culprit("not tested separately from others that fail: " + err.Error())
		c.undecided = c.stream == ""
		b.culprits = append(b.culprits, c)
	}
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
