package injection

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	kubejson "sigs.k8s.io/json"
	yaml "sigs.k8s.io/yaml/goyaml.v2"
)

// manifest is an object as a tree of JSON, with a stand-in for the one text that
// changes from case to case: to write the object anew for each takes long.
type manifest struct{ tree any }

// standIn is a text that no object holds.
const standIn = "stand-in-for-a-value"

// newManifest takes the object that a place belongs to. It sets the place.
func newManifest(p place, object any) *manifest {
	p.set(standIn)
	text, err := json.Marshal(object)
	if err != nil || strings.Count(string(text), standIn) != 1 {
		return &manifest{} // such as the data of a Secret, which are base64
	}
	tree, err := treeOf(object)
	if err != nil {
		return &manifest{}
	}
	return &manifest{tree: tree}
}

// with gives the YAML of the object with a value; object is what has it already.
// An empty text may be left out of JSON.
func (m *manifest) with(value string, object any) ([]byte, error) {
	if m.tree != nil && value != "" {
		return yaml.Marshal(replaced(m.tree, string([]rune(value)))) // JSON is valid UTF-8
	}
	tree, err := treeOf(object)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(tree)
}

func treeOf(object any) (tree any, err error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return tree, kubejson.UnmarshalCaseSensitivePreserveInts(text, &tree)
}

// replaced gives a copy of a tree with a value in the place of the stand-in.
func replaced(tree any, value string) any {
	switch tree := tree.(type) {
	case string:
		return strings.Replace(tree, standIn, value, 1)
	case []any:
		list := make([]any, len(tree))
		for i, item := range tree {
			list[i] = replaced(item, value)
		}
		return list
	case map[string]any:
		fields := make(map[string]any, len(tree))
		for key, item := range tree {
			fields[strings.Replace(key, standIn, value, 1)] = replaced(item, value)
		}
		return fields
	}
	return tree
}

// What is written by way of a stand-in is what is written of the object itself.
func TestManifest(t *testing.T) {
	t.Parallel()
	objects := worldObjects(t)
	fast := 0
	for _, s := range subjects(objects) {
		object := s.take(objects).(runtime.Object).DeepCopyObject()
		for at := range placesOf(object, nil) {
			copied := object.DeepCopyObject()
			p := placesOf(copied, nil)[at]
			m := newManifest(p, copied)
			for _, value := range []string{"", "x", "\xff\n", "<&>\u2028\x7f", "80", "stand"} {
				p.set(value)
				got, err := m.with(value, copied)
				want, fault := (&manifest{}).with(value, copied)
				if string(got) != string(want) || err != nil || fault != nil {
					t.Errorf("%s, %s = %q: %v, %v\n%s\nwant\n%s", s, p.path, value, err, fault, got, want)
				}
			}
			if m.tree != nil {
				fast++
			}
		}
	}
	if fast < 500 {
		t.Errorf("only %d places have a stand-in", fast)
	}
}
