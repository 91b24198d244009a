package controller

import (
	"bytes"
	"regexp"
	"slices"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
)

// ofTheLine matches errors that depend only on the line that nginx names: everyone who
// wrote the same line is rejected for it.
var ofTheLine = regexp.MustCompile(`^(pcre2?_compile\(\) failed|invalid |unknown )`)

var names = regexp.MustCompile(`[A-Za-z0-9_-]+`)

// alike finds the Ingresses with the same line as a rejected one. A line of the same
// namespace that differs only in names and numbers makes its Ingress wait for a
// separate test.
func (b *blame) alike(file *render.File, refused *nginx.TestError, object model.ObjectRef) {
	if !ofTheLine.MatchString(refused.Text) {
		return
	}
	var line, shape []byte
	for l := range file.Lines() {
		if l.Number == refused.Line {
			line, shape = l.Text, shapeOf(l.Text)
			break
		}
	}
	seen := map[model.ObjectRef]bool{object: true}
	for l := range file.Lines() {
		o := l.Object
		if !mayOwn(o) || seen[o] || b.runs(o) {
			continue
		}
		same := bytes.Equal(l.Text, line)
		if same || !b.patient && o.Namespace == object.Namespace && bytes.Equal(shapeOf(l.Text), shape) {
			seen[o] = true
			b.culprits = append(b.culprits, culprit{object: o, undecided: !same, text: refused.Text})
		}
	}
}

// shapeOf returns a line without its names and numbers.
func shapeOf(line []byte) []byte { return names.ReplaceAllLiteral(line, []byte("x")) }

// byOwner tests first whether the objects that nginx already runs pass, and then which
// namespaces pass. If only one fails, it is bisected. If several fail, their Ingresses
// wait for separate tests, so that the other namespaces do not wait for them.
func (b *blame) byOwner(s model.Static, err error) {
	groups := b.groups(s)
	switch {
	case len(groups) == 1 && b.runs(groups[0][0]):
		b.bisectRunning(s, groups[0], err)
		return
	case len(groups) == 1:
		b.bisect(s, nil, groups[0], err)
		return
	}
	test := func(some [][]model.ObjectRef) error { return b.test(only(s, slices.Concat(some...))) }
	verdict, failed := search(b, groups, test, b.tests())
	if failed != nil {
		return
	}
	for _, found := range verdict.Culprits {
		switch {
		case b.runs(found.Item[0]):
			b.bisectRunning(s, found.Item, found.Err)
		case len(found.Item) == 1, slices.ContainsFunc(found.Item, b.passedAlone):
			b.bisect(s, slices.Concat(verdict.Passing...), found.Item, found.Err)
		default:
			b.postpone(found.Item, found.Err)
		}
	}
	b.postpone(slices.Concat(verdict.Undecided...), err)
}

// groups returns the Ingresses of a part: first those that nginx already runs in this
// form, then the others by namespace. Each group has the oldest first.
func (b *blame) groups(s model.Static) [][]model.ObjectRef {
	present := owners(s)
	var running []model.ObjectRef
	var others [][]model.ObjectRef
	for _, o := range b.oldest() {
		if !present[o] {
			continue
		}
		if b.runs(o) {
			running = append(running, o)
			continue
		}
		at := slices.IndexFunc(others, func(g []model.ObjectRef) bool { return g[0].Namespace == o.Namespace })
		if at < 0 {
			others = append(others, []model.ObjectRef{o})
			continue
		}
		others[at] = append(others[at], o)
	}
	if len(running) > 0 {
		return append([][]model.ObjectRef{running}, others...)
	}
	return others
}

// bisect blames each Ingress that fails together with those that pass. Those that it
// does not reach wait for separate tests, except those that passed one.
func (b *blame) bisect(s model.Static, passing, suspects []model.ObjectRef, err error) {
	test := func(some []model.ObjectRef) error { return b.test(only(s, slices.Concat(passing, some))) }
	verdict, failed := search(b, suspects, test, b.tests())
	if failed != nil {
		return
	}
	for _, found := range verdict.Culprits {
		b.culprits = append(b.culprits, culprit{object: found.Item, text: wordsOf(found.Err)})
	}
	b.postpone(verdict.Undecided, err)
	for i, c := range b.culprits {
		b.culprits[i].undecided = c.undecided && !b.passedAlone(c.object)
	}
}

// bisectRunning blames Ingresses that nginx runs and that fail nevertheless. Those that
// it does not reach stay.
func (b *blame) bisectRunning(s model.Static, running []model.ObjectRef, err error) {
	b.bisect(s, nil, running, err)
	b.culprits = slices.DeleteFunc(b.culprits, func(c culprit) bool { return c.undecided && b.runs(c.object) })
}

// fewestTests is enough to find one culprit in a chunk.
const fewestTests = 16

// tests is the number of tests that a bisection may use in the remaining time.
func (b *blame) tests() int {
	if b.until.IsZero() {
		return mostTests
	}
	return min(max(int(time.Until(b.until)/usualTest), fewestTests), mostTests)
}

// usualTest is the usual duration of a test of a small file.
const usualTest = 25 * time.Millisecond
