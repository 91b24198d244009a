package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	yaml "sigs.k8s.io/yaml/goyaml.v2"

	"sluice/internal/model"
)

// toJSON turns a document into JSON, nil if it is empty. Keys keep their order and
// repetitions, so that strict decoding finds them. Errors are one line and quote no value
// of the document, which can be a private key.
func toJSON(doc document) ([]byte, error) {
	if !utf8.Valid(doc.text) {
		return nil, errors.New("want UTF-8 text (got bytes that are not UTF-8)")
	}
	if first := bytes.TrimLeft(doc.text, " \t\n"); len(first) > 0 && first[0] == '{' && json.Valid(first) {
		return first, nil
	}
	if hidesMarker(doc.text) {
		return nil, errors.New(`want a line feed before "---" (got another kind of line break)`)
	}
	tree, err := parse(doc.text)
	if err != nil {
		return nil, yamlError(err, doc.line)
	}
	if tree == nil {
		return nil, nil
	}
	w := jsonWriter{limit: 4*len(doc.text) + 1<<20}
	if err := w.value(tree); err != nil {
		return nil, err
	}
	return w.out, nil
}

// hidesMarker reports whether a document marker follows a line break that only YAML 1.1
// knows. The parser would end the document there and silently drop the rest.
func hidesMarker(text []byte) bool {
	for _, lineBreak := range []string{"\u0085", "\u2028", "\u2029"} {
		for _, marker := range []string{"---", "..."} {
			if bytes.Contains(text, []byte(lineBreak+marker)) {
				return true
			}
		}
	}
	return false
}

var (
	errNotObject = errors.New("want an object with apiVersion and kind (got something else)")
	errList      = errors.New(`want an object with apiVersion and kind (got a list): put "---" between the objects, or the list under "items" of a List`)
)

// errMore is the error for text after the object, which would be ignored.
var errMore = errors.New(`want "---" on a line between two objects (got more text after the first)`)

// parse reads a text that is one YAML document into a yaml.MapSlice, which keeps order and
// repeated keys. A text with "<<" becomes a map, because a MapSlice cannot merge keys. A
// panic of the parser becomes an error.
func parse(text []byte) (tree any, err error) {
	defer func() {
		if recover() != nil {
			tree, err = nil, errors.New("the YAML parser gives up")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if bytes.Contains(text, []byte("<<")) {
		decoder.SetStrict(true)
		var merged root[map[any]any]
		err = only(decoder, &merged)
		if merged.tree == nil {
			return nil, err
		}
		return merged.tree, err
	}
	var ordered root[yaml.MapSlice]
	err = only(decoder, &ordered)
	if ordered.tree == nil {
		return nil, err
	}
	return ordered.tree, err
}

// root is the object of a document. It rejects lists, because yaml.MapSlice accepts a list
// of objects with "key" and "value".
type root[T any] struct{ tree T }

// UnmarshalYAML implements yaml.Unmarshaler.
func (r *root[T]) UnmarshalYAML(unmarshal func(any) error) error {
	var list []any
	if unmarshal(&list) == nil && list != nil {
		return errList
	}
	return unmarshal(&r.tree)
}

// only decodes one document. It fails if another one follows.
func only(decoder *yaml.Decoder, into any) error {
	err := decoder.Decode(into)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	var more any
	if !errors.Is(decoder.Decode(&more), io.EOF) {
		return errMore
	}
	return nil
}

var (
	yamlLine     = regexp.MustCompile(`line (\d+): `)
	repeatedKey  = regexp.MustCompile(`line (\d+): key (.*) already set in map`)
	unquotedYAML = regexp.MustCompile("`[^`]*`|\"[^\"]*\"|'[^']*'")
)

// yamlError turns an error of the parser into one line, with the line number in the file.
func yamlError(err error, firstLine int) error {
	if errors.Is(err, errMore) || errors.Is(err, errList) {
		return err
	}
	var mismatch *yaml.TypeError
	if errors.As(err, &mismatch) {
		if found := repeatedKey.FindStringSubmatch(mismatch.Error()); found != nil {
			return fmt.Errorf("line %d: want key %s once (got it again)", fileLine(found[1], firstLine), model.Quoted(strings.Trim(found[2], `"`)))
		}
		return errNotObject
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if !yamlLine.MatchString(text) {
		text = "line 1: " + text // the parser leaves out the number of the first line
	}
	text = yamlLine.ReplaceAllStringFunc(text, func(match string) string {
		return fmt.Sprintf("line %d: ", fileLine(yamlLine.FindStringSubmatch(match)[1], firstLine))
	})
	return errors.New("want YAML: near " + model.OneLine(unquotedYAML.ReplaceAllStringFunc(text, short), mostText))
}

// mostText is the maximum length of a message of the parser, in bytes.
const mostText = 1000

// short hides a quote from the document, but keeps quoted punctuation.
func short(quote string) string {
	if len(quote) <= 5 {
		return quote
	}
	return "(text)"
}

// fileLine returns the line of the file for a line of the document.
func fileLine(line string, firstLine int) int {
	n, err := strconv.Atoi(line)
	if err != nil {
		return firstLine
	}
	return firstLine + n - 1
}

// jsonWriter writes the values of the YAML parser as JSON.
type jsonWriter struct {
	out []byte
	// limit is the maximum length of out, because a few aliases can expand to gigabytes.
	limit int
}

func (w *jsonWriter) value(v any) error {
	if len(w.out) > w.limit {
		return errors.New("want a document whose aliases do not multiply it (got one that grows beyond all bounds)")
	}
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case bool, int, int64, uint64:
		w.out = fmt.Append(w.out, v)
	case float64:
		return w.float(v)
	case string:
		return w.text(v)
	case []any:
		return w.list(v)
	case yaml.MapSlice:
		return w.object(v)
	case map[any]any:
		return w.merged(v)
	default:
		return fmt.Errorf("want text, numbers, booleans, lists and objects (got %s)", typeName(v))
	}
	return nil
}

func (w *jsonWriter) float(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("want a number (got one that is infinite or none at all)")
	}
	number, err := json.Marshal(v)
	w.out = append(w.out, number...)
	return err
}

func (w *jsonWriter) list(v []any) error {
	w.out = append(w.out, '[')
	for i, item := range v {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *jsonWriter) object(v yaml.MapSlice) error {
	w.out = append(w.out, '{')
	for i, item := range v {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.key(item.Key); err != nil {
			return err
		}
		if err := w.value(item.Value); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// merged writes a map in any order. The order does not affect decoding.
func (w *jsonWriter) merged(v map[any]any) error {
	items := make(yaml.MapSlice, 0, len(v))
	for key, value := range v {
		items = append(items, yaml.MapItem{Key: key, Value: value})
	}
	return w.object(items)
}

// key writes a key and its colon. Numbers and booleans become text, as in kubectl.
func (w *jsonWriter) key(key any) error {
	var text string
	switch key := key.(type) {
	case string:
		text = key
	case int, int64, uint64, bool:
		text = fmt.Sprint(key)
	default:
		return fmt.Errorf("want keys that are text (got %s): put them in quotes", typeName(key))
	}
	if err := w.text(text); err != nil {
		return err
	}
	w.out = append(w.out, ':')
	return nil
}

// typeName describes the type of a misplaced value.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case float64:
		return "a number with a fraction"
	case []any:
		return "a list"
	case yaml.MapSlice, map[any]any:
		return "an object"
	}
	return "something else"
}

// text writes a JSON string. It rejects binary text (!!binary).
func (w *jsonWriter) text(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("want UTF-8 text (got !!binary bytes that are not UTF-8)")
	}
	quoted, err := json.Marshal(s)
	w.out = append(w.out, quoted...)
	return err
}
