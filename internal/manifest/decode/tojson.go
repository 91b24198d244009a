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

	"sluice/internal/snapshot"
)

// toJSON turns a document into JSON. Keys keep their order and repetitions, so
// that strict decoding finds them. An empty document gives nil. Errors are one
// line and quote nothing of the document, which may be a key.
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

// hidesMarker reports whether a document marker follows one of the line breaks
// of YAML 1.1 that no other tool knows: the parser would end the document there
// and the rest would be lost unseen.
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

// errMore is the error of a text that goes on after its object: nobody would read the
// rest.
var errMore = errors.New(`want "---" on a line between two objects (got more text after the first)`)

// parse reads one YAML document, and nothing after it, into a yaml.MapSlice, which
// keeps order and repeated keys, or into a map where keys are merged ("<<"), which a
// MapSlice cannot do. A parser of hostile text may panic; that is an error here.
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

// root is the object of a document. A list is refused: a yaml.MapSlice would take
// one of objects with "key" and "value".
type root[T any] struct{ tree T }

// UnmarshalYAML is called by the parser.
func (r *root[T]) UnmarshalYAML(unmarshal func(any) error) error {
	var list []any
	if unmarshal(&list) == nil && list != nil {
		return errList
	}
	return unmarshal(&r.tree)
}

// only decodes one document and makes sure that nothing follows it.
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

// yamlError makes one line of what the parser says, with the line of the file.
func yamlError(err error, firstLine int) error {
	if errors.Is(err, errMore) || errors.Is(err, errList) {
		return err
	}
	var mismatch *yaml.TypeError
	if errors.As(err, &mismatch) {
		if found := repeatedKey.FindStringSubmatch(mismatch.Error()); found != nil {
			return fmt.Errorf("line %d: want key %s once (got it again)", fileLine(found[1], firstLine), snapshot.Quoted(strings.Trim(found[2], `"`)))
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

// mostText bounds the words of the parser, in bytes.
const mostText = 1000

// short spares the punctuation that the parser quotes and hides text of the
// document.
func short(quote string) string {
	if len(quote) <= 5 {
		return quote
	}
	return "(text)"
}

// fileLine turns a line of a document into one of its file.
func fileLine(line string, firstLine int) int {
	n, err := strconv.Atoi(line)
	if err != nil {
		return firstLine
	}
	return firstLine + n - 1
}

// jsonWriter writes what a YAML parser gives as JSON.
type jsonWriter struct {
	out []byte
	// limit bounds the length of out: a few aliases can stand for gigabytes.
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

// merged writes a map in any order: what is decoded from it does not depend on
// the order.
func (w *jsonWriter) merged(v map[any]any) error {
	items := make(yaml.MapSlice, 0, len(v))
	for key, value := range v {
		items = append(items, yaml.MapItem{Key: key, Value: value})
	}
	return w.object(items)
}

// key writes a key and its colon. Numbers and booleans become text, as kubectl
// has them.
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

// typeName says what a value is that has no place where it is.
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

// text writes a JSON string. Binary text (!!binary) has no place in it.
func (w *jsonWriter) text(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("want UTF-8 text (got !!binary bytes that are not UTF-8)")
	}
	quoted, err := json.Marshal(s)
	w.out = append(w.out, quoted...)
	return err
}
