// Package decode reads manifests as strictly as an API server. The input is YAML
// or JSON; the output are objects, a DecodeError for each mistake, which names
// file, document, object and field, and a Note for each object that is passed over.
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

// FromYAML reads manifests: YAML or JSON documents, List kinds included. name
// is the file's name, for errors and notes. It is as strict as an API server:
// unknown fields, repeated keys, wrong types and values that an API server would
// refuse are errors, all of type *DecodeError (joined by errors.Join where there
// are several). What is good is returned beside the errors. Kinds that Sluice
// does not read are passed over with a Note.
func FromYAML(name string, data []byte) (snapshot.Objects, []snapshot.Note, error) {
	return new(Reader).Read(name, data)
}

// Errors takes apart what FromYAML and Reader.Read return as error.
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

// header is what says how to read the rest of an object.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

// place is where an object is written, for errors and notes.
type place struct {
	file     string
	document int
	// item is the path of an element of a List, such as "items[3]".
	item string
	// header is that of the object.
	header header
}

// batch gathers what documents give.
type batch struct {
	objects snapshot.Objects
	notes   []snapshot.Note
	errs    []error
}

// document reads one document.
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

// template finds what Helm replaces where a line or a value begins, which is hardly
// ever YAML.
var template = regexp.MustCompile(`(?m)^[ \t]*(?:- +)*(?:[^\s:#]+: *)?\{\{`)

const notRendered = "want a manifest (got a template of Helm): give the output of `helm template`"

// maxDepth bounds Lists within Lists.
const maxDepth = 4

// object reads an object, which may be a List. What defaults has goes for what
// the object does not say of itself.
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
	_ = decodeLoosely(raw, &h) // strict decoding tells what is wrong
	if h.Kind == "" && h.APIVersion == "" {
		h.Kind, h.APIVersion = defaults.Kind, defaults.APIVersion
	}
	at.header = h
	known, list := kinds[h.Kind], kindOfItems(h)
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

// passedOver says of an object that it is not read.
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

// kindOfItems gives what the items of a List are if they do not say it, and nil
// for what is no List of something that is read.
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

// listOf is any kind of list.
type listOf struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   json.RawMessage   `json:"metadata"`
	Items      []json.RawMessage `json:"items"`
}

// list reads the items of a List, each for itself.
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

// fail reports the faults of an object. Those of a template are one: no field that is
// checked can have what Helm replaces.
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

// object names the object as far as it names itself.
func (h header) object() string {
	name := h.Metadata.Name
	if known := kinds[h.Kind]; known != nil && known.namespaced && name != "" {
		name = snapshot.Name{Namespace: orDefault(h.Metadata.Namespace), Name: name}.String()
	}
	return strings.TrimSpace(h.Kind + " " + name)
}
