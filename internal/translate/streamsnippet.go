package translate

import (
	"fmt"
	"slices"

	"sluice/internal/claim"
	"sluice/internal/model"
)

const streamSnippet = "stream-snippet"

// withSnippets adds the stream snippets of owners to the streams, the oldest first. It
// leaves out those with a port or a variable that another one has.
func (t *translation) withSnippets(streams []model.Stream, owners []*claim.Owner) []model.Stream {
	defined := map[string]*claim.Owner{}
	for _, owner := range owners {
		text := owner.Annotations.StreamSnippet.Text
		if text == "" || owner.Denial != 0 {
			continue
		}
		variables := text.Variables()
		s := model.Stream{Snippet: string(text), Listens: text.Ports(), Source: owner.Ref, Field: owner.PrefixKey + streamSnippet}
		wrong := t.takenPort(s.Listens, streams)
		for _, name := range variables {
			if other := defined[name]; other != nil && wrong == "" {
				wrong = fmt.Sprintf("want another variable: $%s is that of %s", name, other.Ref)
			}
		}
		if wrong != "" {
			t.report(model.Problem{Object: s.Source, Field: s.Field, Reason: model.Conflict, Text: wrong + "; it is left out"})
			continue
		}
		for _, name := range variables {
			defined[name] = owner
		}
		streams = append(streams, s)
	}
	return streams
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
