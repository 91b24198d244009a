// Package decode reads manifests as strictly as an API server. It takes YAML or JSON. It
// returns objects, a DecodeError for each mistake with file, document, object and field,
// and a Note for each skipped object.
//
//	objects, notes, err := decode.FromYAML("shop.yaml", data)
package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/snapshot"
)

// FromYAML is Reader.Read of a new Reader, for callers that read a file once, such as tests.
// It reads manifests: YAML or JSON documents, including Lists. name is the name of
// the file, for errors and notes. Unknown fields, repeated keys, wrong types and values
// that an API server rejects are errors of type *snapshot.DecodeError, joined by
// errors.Join if there are several. The valid objects are returned as well. Objects of
// kinds that Sluice does not read are skipped with a Note.
func FromYAML(name string, data []byte) (snapshot.Objects, []snapshot.Note, error) {
	return new(Reader).Read(name, data)
}

// Errors returns the single errors in an error of FromYAML or Reader.Read.
func Errors(err error) []error {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &joined):
		return joined.Unwrap()
	}
	return []error{err}
}

// header holds the fields that decide how to read the rest of an object.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// place is the place of an object in the manifests, for errors and notes.
type place struct {
	file     string
	document int
	// item is the path of an element of a List, such as "items[3]".
	item   string
	header header
}

// batch collects the results of documents.
type batch struct {
	// namespace is that of objects without one, empty for the default.
	namespace string

	objects snapshot.Objects
	notes   []snapshot.Note
	errs    []error
}

func (b *batch) document(file string, doc document) {
	at := place{file: file, document: doc.number}
	raw, err := toJSON(doc)
	switch {
	case err != nil && template.Match(doc.text):
		b.fail(at, []fault{{text: notRendered}})
	case err != nil:
		b.fail(at, []fault{{text: err.Error()}})
	case raw != nil:
		b.object(at, raw, header{})
	}
}

// template matches an action of a Helm template at the start of a line or a value, where
// YAML hardly ever has one.
var template = regexp.MustCompile(`(?m)^[ \t]*(?:- +)*(?:[^\s:#]+: *)?\{\{`)

const notRendered = "want a manifest (got a template of Helm): give the output of `helm template`"

// maxDepth is the maximum nesting of Lists.
const maxDepth = 4

// object reads an object, which can be a List. defaults has the kind and version of an
// object without them.
func (b *batch) object(at place, raw []byte, defaults header) {
	switch raw[0] {
	case '{':
	case '[':
		b.fail(at, []fault{{text: errList.Error()}})
		return
	default:
		b.fail(at, []fault{{text: errNotObject.Error()}})
		return
	}
	var h header
	_ = decodeLoosely(raw, &h) // strict decoding reports errors
	if h.Kind == "" && h.APIVersion == "" {
		h.Kind, h.APIVersion = defaults.Kind, defaults.APIVersion
	}
	known, list := kinds[h.Kind], kindOfItems(h)
	if known != nil && known.namespaced && h.Metadata.Namespace == "" {
		h.Metadata.Namespace = b.namespace
	}
	at.header = h
	switch {
	case h.Kind == "":
		b.fail(at, []fault{missing("kind", "the kind of the object, such as Ingress")})
	case h.APIVersion == "":
		b.fail(at, []fault{missing("apiVersion", "the version of the kind, such as networking.k8s.io/v1")})
	case known != nil && known.apiVersion == h.APIVersion:
		known.read(b, at, raw)
	case list != nil:
		b.list(at, raw, *list)
	default:
		b.note(at, passedOver(h))
		b.controller(at, raw)
	}
}

// passedOver returns the note about a skipped object.
func passedOver(h header) snapshot.Note {
	if known := kinds[h.Kind]; known != nil {
		n := snapshot.Note{Text: fmt.Sprintf("passed over: %s %s; what is read is %s", h.Kind, h.APIVersion, known.apiVersion)}
		if known.isBuiltIn(h.APIVersion) {
			n.Field = "apiVersion"
		}
		return n
	}
	if strings.EqualFold(h.Kind, "List") && h.APIVersion == "v1" {
		return snapshot.Note{Field: "kind", Text: "passed over: " + h.Kind + " v1; what is read is List v1"}
	}
	if name := meant(h); name != "" {
		return snapshot.Note{Field: "kind", Text: fmt.Sprintf("passed over: %s %s; what is read is %s %s", h.Kind, h.APIVersion, name, kinds[name].apiVersion)}
	}
	return snapshot.Note{Text: "passed over: kind " + h.Kind}
}

// kindOfItems returns the kind and version of the items of a List that have none
// themselves; nil if h is no List of a kind that Sluice reads.
func kindOfItems(h header) *header {
	kind, isList := strings.CutSuffix(h.Kind, "List")
	if !isList {
		return nil
	}
	if kind == "" && h.APIVersion == "v1" {
		return &header{}
	}
	if known := kinds[kind]; known != nil && known.apiVersion == h.APIVersion {
		return &header{Kind: kind, APIVersion: h.APIVersion}
	}
	return nil
}

// listOf is a List of any kind.
type listOf struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   json.RawMessage   `json:"metadata"`
	Items      []json.RawMessage `json:"items"`
}

func (b *batch) list(at place, raw []byte, defaults header) {
	if strings.Count(at.item, "items[") >= maxDepth {
		b.fail(at, []fault{{"items", fmt.Sprintf("want at most %d Lists within each other", maxDepth)}})
		return
	}
	list, faults := decode[listOf](raw, false)
	if len(faults) > 0 {
		b.fail(at, faults)
		return
	}
	for i, element := range list.Items {
		inner := place{file: at.file, document: at.document, item: join(at.item, fmt.Sprintf("items[%d]", i))}
		b.object(inner, element, defaults)
	}
}

func (b *batch) note(at place, n snapshot.Note) {
	n.File, n.Document, n.Object = at.file, at.document, at.header.object()
	b.notes = append(b.notes, n)
}

// fail reports the faults of an object. If they show that it is a template of Helm, it
// reports only that.
func (b *batch) fail(at place, faults []fault) {
	if strings.Contains(at.header.Metadata.Name, "{{") || slices.ContainsFunc(faults, func(f fault) bool { return strings.Contains(f.text, "{{") }) {
		faults = []fault{{text: notRendered}}
	}
	for _, f := range faults {
		b.errs = append(b.errs, &snapshot.DecodeError{
			File: at.file, Document: at.document, Object: at.header.object(), Field: join(at.item, f.field), Text: f.text,
		})
	}
}

// object returns the kind and name of the object, as far as it has them.
func (h header) object() string {
	name := h.Metadata.Name
	if known := kinds[h.Kind]; known != nil && known.namespaced && name != "" {
		name = snapshot.Name{Namespace: orDefault(h.Metadata.Namespace), Name: name}.String()
	}
	return strings.TrimSpace(h.Kind + " " + name)
}
