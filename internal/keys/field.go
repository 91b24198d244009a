package keys

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

type emptyMeans string

const (
	emptyUnset   emptyMeans = ""
	emptyZero    emptyMeans = "zero"
	emptyInvalid emptyMeans = "invalid"
)

// field is one tagged field, parsed once per type.
type field struct {
	Doc
	index    []int
	names    []string // the key, then the aliases
	validate string
	empty    emptyMeans
	empties  bool // by a value that is not valid
	alone    bool
	instead  string
	gone     []string
	want     string
}

var parsed sync.Map // reflect.Type -> []*field

func fieldsOf(t reflect.Type) []*field {
	if known, ok := parsed.Load(t); ok {
		return known.([]*field)
	}
	fields := appendFields(nil, t, nil)
	parsed.Store(t, fields)
	return fields
}

func appendFields(fields []*field, t reflect.Type, index []int) []*field {
	for i := range t.NumField() {
		member := t.Field(i)
		at := append(slices.Clone(index), i)
		switch {
		case !member.IsExported():
		case member.Tag.Get("key") != "":
			fields = append(fields, newField(member, at))
		case member.Type.Kind() == reflect.Struct:
			fields = appendFields(fields, member.Type, at)
		}
	}
	return fields
}

func newField(member reflect.StructField, index []int) *field {
	tag := member.Tag
	f := &field{index: index, validate: tag.Get("validate"), empty: emptyMeans(tag.Get("empty")), empties: tag.Get("invalid") == "zero", alone: tag.Get("alone") == "true", instead: tag.Get("instead"), gone: strings.Fields(tag.Get("gone"))}
	f.Doc = Doc{
		Key: tag.Get("key"), Default: tag.Get("default"), From: tag.Get("from"), Doc: tag.Get("doc"), Needs: tag.Get("needs"),
		Protects: tag.Get("protects") == "true", Closes: tag.Get("closes") == "true", Allowed: tag.Get("allowed"), Withholds: tag.Get("withholds") == "true", EmptyIsOff: tag.Get("empty") == "zero", EmptyIsUnset: tag.Get("empty") == "", Off: append([]string(nil), strings.Fields(tag.Get("off"))...), Undone: append([]string(nil), strings.Fields(tag.Get("undone"))...),
	}
	if alias := tag.Get("alias"); alias != "" {
		f.Aliases = strings.Split(alias, ",")
	}
	f.names = append([]string{f.Key}, f.Aliases...)
	mustParse(member.Name+": risk", &f.Risk, tag.Get("risk"))
	f.Type = kindOf(member.Type).name
	f.want = want(member.Type, f.validate)
	if unit := tag.Get("unit"); unit != "" {
		f.want = strings.Replace(f.want, wholeNumber, wholeNumber+" of "+unit, 1)
	}
	f.Valid = f.want
	f.mustBeSound(member)
	f.Edges = sync.OnceValue(func() []string { return f.edges(member.Type) })
	return f
}

var unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

func mustParse(what string, dst encoding.TextUnmarshaler, text string) {
	if text == "" {
		return
	}
	if err := dst.UnmarshalText([]byte(text)); err != nil {
		panic(fmt.Sprintf("keys: %s %q: %v", what, text, err))
	}
}

// mustBeSound panics for a tag that could never work, so that the first test
// which touches the type finds it.
func (f *field) mustBeSound(member reflect.StructField) {
	if !slices.Contains([]emptyMeans{emptyUnset, emptyZero, emptyInvalid}, f.empty) {
		panic(fmt.Sprintf("keys: %s: empty:%q is not unset, zero or invalid", member.Name, f.empty))
	}
	if f.Type == "" {
		panic(fmt.Sprintf("keys: %s: a field cannot be of type %s", member.Name, member.Type))
	}
	if f.empties && f.instead == "" {
		panic(fmt.Sprintf("keys: %s: no tag instead says what a bad value leaves", member.Name))
	}
	if f.Default == "" {
		return
	}
	if err := f.set(reflect.New(member.Type).Elem(), f.Default); err != nil {
		panic(fmt.Sprintf("keys: %s: default %q: %v", member.Name, f.Default, err))
	}
}
