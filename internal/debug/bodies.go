package debug

import (
	"bytes"
	"encoding/json"
	"io"
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

// list gives a list as JSON, and none as [].
func list[T any](elements []T) (body, error) { return jsonList[T](elements), nil }

// jsonList is a list that is written element by element: as one value, the text of
// a large one would be held several times.
type jsonList[T any] []T

func (jsonList[T]) contentType() string { return jsonBody{}.contentType() }

func (l jsonList[T]) write(w io.Writer) error {
	if len(l) == 0 {
		_, err := io.WriteString(w, "[]\n")
		return err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("  ", "  ")
	separator := "[\n  "
	for i := range l {
		out.Reset()
		if err := encoder.Encode(&l[i]); err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator+strings.TrimSuffix(out.String(), "\n")); err != nil {
			return err
		}
		separator = ",\n  "
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

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
