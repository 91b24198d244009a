package annotations

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// PathsPrefix is the prefix of annotations for single paths. The name of an annotation
// follows, and each line of the value is "path: value".
//
//	sluice.io/paths.proxy-read-timeout: |
//	  /upload: 600
//	  /api/(.*): 5
//
// A path is written as in the rule. Its value overrides that for the whole Ingress.
const PathsPrefix = OwnPrefix + "paths."

// OwnPrefix is the prefix of annotations that ingress-nginx does not have.
const OwnPrefix = "sluice.io/"

// line is one line of such an annotation.
type line struct {
	name, path, value string
}

// field returns the whole key of the annotation.
func (l line) field() string { return PathsPrefix + l.name }

// byPath holds the annotations for single paths.
type byPath struct {
	// given are their values by the name after PathsPrefix.
	given map[string]string
	// written are the paths of the rules; lengths are the lengths of these, ascending.
	written map[string]bool
	lengths []int
	// lines are the valid lines by path. closed are the names of protections in invalid
	// lines by path.
	lines  map[string][]line
	closed map[string][]string
	// values is a cache of valuesAt.
	values map[string]map[string]string
}

// newByPath returns the annotations for single paths, nil if there are none.
func newByPath(source Source) *byPath {
	var p *byPath
	for key, value := range source.Given {
		if name, ok := strings.CutPrefix(key, PathsPrefix); ok {
			if p == nil {
				p = &byPath{given: map[string]string{}, written: map[string]bool{}, lines: map[string][]line{}, closed: map[string][]string{}}
				for path := range source.Paths {
					p.written[path] = true
				}
				for path := range p.written {
					p.lengths = append(p.lengths, len(path))
				}
				slices.Sort(p.lengths)
				p.lengths = slices.Compact(p.lengths)
			}
			p.given[name] = value
		}
	}
	return p
}

// pathsOf returns the paths of the rules as written, "/" for an empty one.
func pathsOf(ing *networkingv1.Ingress) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, rule := range ing.Spec.Rules {
			if rule.HTTP == nil {
				continue
			}
			for _, p := range rule.HTTP.Paths {
				if !yield(cmp.Or(p.Path, "/")) {
					return
				}
			}
		}
	}
}

// paths returns the paths with their own annotations, sorted.
func (p *byPath) paths() []string {
	if p == nil {
		return nil
	}
	paths := slices.AppendSeq(slices.Collect(maps.Keys(p.lines)), maps.Keys(p.closed))
	slices.Sort(paths)
	return slices.Compact(paths)
}

// at returns the valid lines for a path; closedAt the protections in its invalid ones.
func (p *byPath) at(path string) []line {
	if p == nil {
		return nil
	}
	return p.lines[path]
}

func (p *byPath) closedAt(path string) []string {
	if p == nil {
		return nil
	}
	return p.closed[path]
}

// split returns the longest path of the rules with which a line begins, and its value.
// whole is false if no ": " follows the path.
func (p *byPath) split(text string) (path, value string, whole bool) {
	for _, length := range p.lengths {
		if length > len(text) {
			break
		}
		rest := text[length:]
		if !p.written[text[:length]] || rest != "" && !strings.ContainsRune(": \t", rune(rest[0])) {
			continue
		}
		behind, colon := strings.CutPrefix(rest, ":")
		ends := colon && (behind == "" || behind[0] == ' ' || behind[0] == '\t')
		if ends || !whole {
			path, value, whole = text[:length], strings.TrimSpace(behind), ends
		}
	}
	return path, value, whole
}

// linesOf returns the lines of a value that are not empty.
func linesOf(value string) []string {
	var all []string
	for text := range strings.Lines(value) {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// readLines reads the annotations for single paths and reports invalid lines. If such a
// line should protect, its path is closed, or all paths if its path is unknown.
func (r *reader) readLines() {
	if r.byPath == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.byPath.given)) {
		field, protects, meant := PathsPrefix+name, r.protectsAs(name), r.protection(name)
		b := behaviourOf[name]
		lines := linesOf(r.byPath.given[name])
		switch {
		case b != nil && b.Scope != "":
			text := "it holds for a whole " + b.Scope + ", and cannot differ by path: write " + FieldOf(r.prefix, name)
			if b.withholds() {
				text = r.withhold(text)
			}
			r.closeAll(field, text, meant, protects)
		case len(lines) == 0:
			r.closeAll(field, wantLines+" (got none)", meant, protects)
		}
		if b != nil && b.Scope != "" {
			continue
		}
		for _, text := range lines {
			r.readLine(name, text, meant, protects)
		}
	}
}

const wantLines = `want lines of "path: value", each with a path of the rules as it is written there`

func (r *reader) readLine(name, text, meant string, protects bool) {
	path, value, whole := r.byPath.split(text)
	l := line{name, path, value}
	twice := func(other line) bool { return nameOfKey(other.name) == nameOfKey(name) }
	switch {
	case path == "":
		r.closeAll(l.field(), wantLines+" (got "+model.Quoted(text)+")", meant, protects)
	case !whole:
		r.closePath(l, wantLines+" (got "+model.Quoted(text)+")", meant, protects)
	case docOf[name].ByLine && r.byPath.extend(l):
	case slices.ContainsFunc(r.byPath.lines[path], twice):
		r.closePath(l, "want one line for path "+model.Quoted(path)+" (got two)", meant, protects)
	case behaviourOf[name] == nil:
		r.readUnknown(l)
	default:
		r.byPath.lines[path] = append(r.byPath.lines[path], l)
	}
}

// extend adds the value of a line to that of an earlier line for the same annotation and
// path. It returns false if there is none.
func (p *byPath) extend(l line) bool {
	for i := range p.lines[l.path] {
		if earlier := &p.lines[l.path][i]; earlier.name == l.name {
			earlier.value += "\n" + l.value
			return true
		}
	}
	return false
}

// readUnknown reports a line of an annotation that nothing reads.
func (r *reader) readUnknown(l line) {
	v := r.catalog.Judge(l.name, r.lookupBeside(l))
	if v.Fate == keys.Withheld {
		r.of.withheld = true
	}
	text := forPath(l.path, v.Text)
	if v.Fate == keys.Denied {
		r.byPath.closed[l.path] = append(r.byPath.closed[l.path], v.Meant)
	}
	r.problem(l.field(), v.Reason, text, v.Fate == keys.Denied)
}

// lookupBeside finds the value of a key at the path of a line: in another line, or else in
// the annotations of the Ingress.
func (r *reader) lookupBeside(l line) func(key string) (string, bool) {
	return func(key string) (string, bool) {
		if key == l.name {
			return l.value, true
		}
		if value, found := r.byPath.valuesAt(l.path)[nameOfKey(key)]; found {
			return value, true
		}
		return r.lookup(key)
	}
}

// valuesAt returns the values of the lines for a path, by key.
func (p *byPath) valuesAt(path string) map[string]string {
	if p.values == nil {
		p.values = map[string]map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(p.given)) {
			for _, text := range linesOf(p.given[name]) {
				at, value, _ := p.split(text)
				if p.values[at] == nil {
					p.values[at] = map[string]string{}
				}
				p.values[at][nameOfKey(name)] = value
			}
		}
	}
	return p.values[path]
}

// protectsAs reports whether an annotation protects, also if its name is misspelled.
func (r *reader) protectsAs(name string) bool {
	return r.catalog.Closes(name, anyValue) || r.catalog.Closes(r.catalog.Meant(name), anyValue)
}

// anyValue is a value that turns every key on.
const anyValue = "x"

// protection returns the name of an annotation in Protects.
func (r *reader) protection(name string) string {
	if b := behaviourOf[name]; b != nil {
		return b.Name
	}
	if r.catalog.Has(name) {
		return name
	}
	return r.catalog.Meant(name)
}

// closeAll reports a line with an unknown path.
func (r *reader) closeAll(field, text, meant string, protects bool) {
	if protects {
		r.general.protects = append(r.general.protects, meant)
		r.general.denied = true
	}
	r.problem(field, model.InvalidValue, text, protects)
}

// closePath reports an invalid line.
func (r *reader) closePath(l line, text, meant string, protects bool) {
	if protects {
		r.byPath.closed[l.path] = append(r.byPath.closed[l.path], meant)
	}
	r.problem(l.field(), model.InvalidValue, text, protects)
}

// forPath adds the path to a text.
func forPath(path, text string) string { return fmt.Sprintf("path %s: %s", model.Quoted(path), text) }

// at returns the reader of one path, whose annotations override those of the Ingress.
func (r *reader) at(path string) *reader {
	own := *r
	own.path, own.given, own.instead, own.fields, own.unsound = path, maps.Clone(r.given), nil, map[string]string{}, nil
	for _, l := range r.byPath.at(path) {
		doc := docOf[l.name]
		for _, alias := range doc.Aliases {
			delete(own.given, alias)
		}
		own.given[doc.Key], own.fields[doc.Key] = l.value, l.field()
	}
	return &own
}

// readPaths reads the annotations for single paths. outcomes are those of the Ingress,
// which apply to behaviours without an annotation for the path.
func (r *reader) readPaths(all *Annotations, outcomes []outcome) {
	paths := append(r.byPath.paths(), r.exemptPaths(outcomes)...)
	if len(paths) == 0 {
		return
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	r.of.paths, r.of.byPath = paths, make(map[string]*Annotations, len(paths))
	for _, path := range paths {
		own := r.at(path)
		changed := slices.Clone(outcomes)
		for i, b := range behaviours {
			switch {
			case b.authenticates() && r.isExempt(path):
				own.exempt(b)
				changed[i] = outcome{group: reflect.New(b.group)}
			case own.isWritten(b):
				changed[i] = own.read(b)
			}
		}
		a := own.assemble(all, changed)
		if names := r.byPath.closedAt(path); len(names) > 0 {
			a.denied, a.protects = true, append(slices.Clip(a.protects), names...)
		}
		r.of.byPath[path] = a
	}
}

// isWritten reports whether the path has a line for a key of the behaviour.
func (r *reader) isWritten(b *behaviour) bool {
	return slices.ContainsFunc(b.Keys, func(d keys.Doc) bool { return r.fields[d.Key] != "" })
}

// isSaidByPath reports whether one of several keys is given for any path.
func (r *reader) isSaidByPath(keys string) bool {
	return r.byPath != nil && slices.ContainsFunc(strings.Fields(keys), func(key string) bool { return r.byPath.given[key] != "" })
}

// behaviourOf and docOf are the behaviours and the keys by the names of annotations,
// including aliases.
var behaviourOf, docOf = byName(behaviours)

func byName(behaviours []*behaviour) (map[string]*behaviour, map[string]keys.Doc) {
	of, docs := map[string]*behaviour{}, map[string]keys.Doc{}
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			for _, name := range doc.Names {
				of[name], docs[name] = b, doc
			}
		}
	}
	return of, docs
}

// nameOfKey returns the key of an alias, and other names unchanged.
func nameOfKey(name string) string {
	if doc, ok := docOf[name]; ok {
		return doc.Key
	}
	return name
}
