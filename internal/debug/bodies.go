package debug

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strings"

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

// list returns a list as JSON, which is never null.
func list[T any](elements []T) (body, error) { return jsonList[T](elements), nil }

// jsonList is a list that is written element by element, because the text of a large list
// would need several times its size.
type jsonList[T any] []T

func (jsonList[T]) contentType() string { return jsonBody{}.contentType() }

func (l jsonList[T]) write(w io.Writer) error {
	end := "\n]\n"
	if len(l) == 0 {
		end = "]\n"
	}
	return writeElements(w, "[", slices.Values(l), jsonLayout{"\n  ", "  ", end})
}

// jsonLayout is the layout of a list: the text before each element, the indent within
// elements, and the text after the last one.
type jsonLayout struct{ before, indent, end string }

// writeElements writes JSON element by element, after its beginning.
func writeElements[T any](w io.Writer, begin string, elements iter.Seq[T], layout jsonLayout) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(layout.indent, layout.indent)
	text := begin
	for element := range elements {
		out.Reset()
		if err := encoder.Encode(element); err != nil {
			return err
		}
		if _, err := io.WriteString(w, text+layout.before+strings.TrimSuffix(out.String(), "\n")); err != nil {
			return err
		}
		text = ","
	}
	_, err := io.WriteString(w, strings.TrimSuffix(text, ",")+layout.end)
	return err
}

// filled returns an empty list for nil, for JSON.
func filled[T any](elements []T) []T {
	if elements == nil {
		return []T{}
	}
	return elements
}

// mostShown limits the length of a text. The longest token of nginx.conf fits, with every
// byte escaped.
const mostShown = 32 << 10

// shown makes a text of users safe to show: one printable line.
func shown(text string) string { return model.OneLine(text, mostShown) }

func shownAll(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = shown(text)
	}
	return all
}
