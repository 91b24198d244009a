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

// costs is what an invalid value costs.
type costs string

const (
	costsItself costs = "itself"
	costsAll    costs = "all"
)

// field is one tagged field, parsed once per type.
type field struct {
	Doc
	index    []int
	validate string
	empty    emptyMeans
	// zeroIfInvalid, instead and gone are the tags of these names; the first is invalid:"zero".
	zeroIfInvalid bool
	instead       string
	gone          []string
	costs         costs
	// parsedDefault is the value of the tag default. It is not valid if there is none, or
	// if two copies of it would share memory.
	parsedDefault reflect.Value
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
	is := func(name string) bool { return tag.Get(name) == "true" }
	f := &field{
		index: index, validate: tag.Get("validate"), empty: emptyMeans(tag.Get("empty")), zeroIfInvalid: tag.Get("invalid") == "zero",
		costs: costs(tag.Get("costs")), instead: tag.Get("instead"), gone: strings.Fields(tag.Get("gone")),
	}
	f.Doc = Doc{
		Key: tag.Get("key"), Default: tag.Get("default"), From: tag.Get("from"), Doc: tag.Get("doc"), Needs: tag.Get("needs"), Allowed: tag.Get("allowed"),
		Type: kindOf(member.Type).name, ByLine: kindOf(member.Type).byLine, Valid: want(member.Type, f.validate), Field: member,
		Own: is("own"), Protects: is("protects"), Closes: is("closes"), Withholds: is("withholds"), Secret: is("secret"),
		Permits: tag.Get("permits") != "", Strictly: tag.Get("permits") == "strictly",
		Off: append([]string(nil), strings.Fields(tag.Get("off"))...), Undone: append([]string(nil), strings.Fields(tag.Get("undone"))...), EmptyIsOff: f.empty == emptyZero, EmptyIsUnset: f.empty == emptyUnset,
	}
	if f.costs == "" {
		f.costs = costsItself
		if f.Protects || f.Closes || f.Withholds {
			f.costs = costsAll
		}
	}
	if alias := tag.Get("alias"); alias != "" {
		f.Aliases = strings.Split(alias, ",")
	}
	f.Names = append([]string{f.Key}, f.Aliases...)
	mustParse(member.Name+": risk", &f.Risk, tag.Get("risk"))
	if unit := tag.Get("unit"); unit != "" {
		f.Valid = strings.Replace(f.Valid, wholeNumber, wholeNumber+" of "+unit, 1)
	}
	f.mustBeSound(member)
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

// mustBeSound panics if a tag can never work, so that the first test of the type finds
// it.
func (f *field) mustBeSound(member reflect.StructField) {
	if !slices.Contains([]emptyMeans{emptyUnset, emptyZero, emptyInvalid}, f.empty) {
		panic(fmt.Sprintf("keys: %s: empty:%q is not unset, zero or invalid", member.Name, f.empty))
	}
	if f.costs != costsItself && f.costs != costsAll {
		panic(fmt.Sprintf("keys: %s: costs:%q is not itself or all", member.Name, f.costs))
	}
	if f.Type == "" {
		panic(fmt.Sprintf("keys: %s: fields cannot have the type %s", member.Name, member.Type))
	}
	if permits := member.Tag.Get("permits"); !slices.Contains([]string{"", "true", "strictly"}, permits) {
		panic(fmt.Sprintf("keys: %s: permits:%q is not true or strictly", member.Name, permits))
	}
	if f.zeroIfInvalid && f.instead == "" {
		panic(fmt.Sprintf("keys: %s: the tag instead must describe the effect of an invalid value", member.Name))
	}
	if f.Default == "" {
		return
	}
	value := reflect.New(member.Type).Elem()
	if err := f.set(value, f.Default); err != nil {
		panic(fmt.Sprintf("keys: %s: default %q: %v", member.Name, f.Default, err))
	}
	switch member.Type.Kind() {
	case reflect.Bool, reflect.Int, reflect.String:
		f.parsedDefault = value
	}
}
