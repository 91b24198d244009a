package translate

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
)

const streamSnippet = "stream-snippet"

// withSnippets adds the stream snippets of owners to the streams, the oldest first, and that
// of the settings. It leaves out those with a port or a variable that another one has.
func (t *translation) withSnippets(streams []model.Stream, owners []*claim.Owner) []model.Stream {
	snippets := snippetStreams{translation: t, streams: streams, defined: map[string]model.ObjectRef{}}
	if text := t.settings.StreamsSnippet.Text; text != "" {
		source, _ := t.settings.Origin(streamSnippet)
		snippets.variables(text.Variables(), source) // the administrator's count first
	}
	for _, owner := range owners {
		if text := owner.Annotations.StreamSnippet.Text; text != "" && owner.Denial == 0 {
			snippets.add(model.Stream{Snippet: string(text), Listens: text.Ports(), Source: owner.Ref, Field: owner.PrefixKey + streamSnippet}, text.Variables())
		}
	}
	if text := t.settings.StreamsSnippet.Text; text != "" {
		source, _ := t.settings.Origin(streamSnippet)
		snippets.add(model.Stream{Snippet: string(text), Listens: text.Ports(), Source: source, Field: streamSnippet}, text.Variables())
	}
	return snippets.streams
}

// snippetStreams are streams with those of snippets.
type snippetStreams struct {
	*translation
	streams []model.Stream
	// defined are the objects that define a variable.
	defined map[string]model.ObjectRef
}

// variables notes the variables of an object.
func (s *snippetStreams) variables(names []string, of model.ObjectRef) {
	for _, name := range names {
		s.defined[name] = of
	}
}

// add adds a snippet, unless another one has its ports or variables.
func (s *snippetStreams) add(stream model.Stream, variables []string) {
	wrong := s.takenPort(stream.Listens, s.streams)
	for _, name := range variables {
		if other, taken := s.defined[name]; taken && other != stream.Source && wrong == "" {
			wrong = fmt.Sprintf("want another variable: $%s is that of %s", name, other)
		}
	}
	if wrong != "" {
		s.report(model.Problem{Object: stream.Source, Field: stream.Field, Reason: model.Conflict, Text: wrong + "; it is left out"})
		return
	}
	s.variables(variables, stream.Source)
	s.streams = append(s.streams, stream)
}

// takenPort returns the reason why a snippet cannot listen on its ports, "" if it can.
func (t *translation) takenPort(listens []model.StreamPort, streams []model.Stream) string {
	for _, port := range listens {
		if at := slices.IndexFunc(t.options.Reserved, func(r ReservedPort) bool { return r.Number == port.Number }); at >= 0 {
			return fmt.Sprintf("want another port: %d is that of %s", port.Number, t.options.Reserved[at].Use)
		}
		if at := slices.IndexFunc(streams, func(s model.Stream) bool { return slices.Contains(s.Ports(), port) }); at >= 0 {
			return fmt.Sprintf("want another port: %s port %d is that of %s (%s)", port.Protocol, port.Number, streams[at].Source, streams[at].Field)
		}
	}
	return ""
}
