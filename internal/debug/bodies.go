package debug

import (
	"encoding/json"
	"io"

	"sluice/internal/model"
)

// jsonBody is a value as JSON, indented for people.
type jsonBody struct{ value any }

func (jsonBody) contentType() string { return "application/json" }

func (b jsonBody) write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(b.value)
}

// textBody is text for people.
type textBody func(io.Writer) error

func (textBody) contentType() string { return "text/plain; charset=utf-8" }

func (b textBody) write(w io.Writer) error { return b(w) }

// list gives a list as JSON, and none as [].
func list[T any](elements []T) (body, error) { return jsonBody{filled(elements)}, nil }

// filled gives a list that is not null.
func filled[T any](elements []T) []T {
	if elements == nil {
		return []T{}
	}
	return elements
}

// mostShown is the most bytes of a text: more than a token of nginx.conf may have,
// with each of its bytes escaped.
const mostShown = 32 << 10

// shown makes a text that users wrote fit to be shown: one printable line.
func shown(text string) string { return model.OneLine(text, mostShown) }

// shownAll does so with each text of a list.
func shownAll(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = shown(text)
	}
	return all
}
