package controller

import (
	"bytes"
	"regexp"
	"slices"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/snapshot"
)

// ofTheLine tells the errors that depend on nothing but the line that nginx names:
// whoever wrote the same line is refused for it, too.
var ofTheLine = regexp.MustCompile(`^(pcre2?_compile\(\) failed|invalid |unknown )`)

var names = regexp.MustCompile(`[A-Za-z0-9_-]+`)

// alike looks for those who wrote what nginx refuses of one object. The same line
// is refused wherever it stands. A line of the same namespace that differs in names
// and numbers only makes its owner wait for a test of its own.
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
		if !snapshot.IsIngress(o) || seen[o] || b.runs != nil && b.runs(o) {
			continue
		}
		same := bytes.Equal(l.Text, line)
		if same || !b.patient && o.Namespace == object.Namespace && bytes.Equal(shapeOf(l.Text), shape) {
			seen[o] = true
			b.culprits = append(b.culprits, culprit{object: o, undecided: !same, text: refused.Text})
		}
	}
}

// shapeOf gives a line without its names and numbers.
func shapeOf(line []byte) []byte { return names.ReplaceAllLiteral(line, []byte("x")) }

// byOwner narrows down by owner: first whether what nginx runs anyway passes, then
// which namespaces do. Those of a namespace that does not wait for tests of their
// own, so that the others do not wait for them; an only one is bisected.
func (b *blame) byOwner(s model.Static, err error) {
	groups := b.groups(s)
	switch {
	case len(groups) == 1 && b.runs != nil && b.runs(groups[0][0]):
		b.bisectRunning(s, groups[0], err)
		return
	case len(groups) == 1:
		b.bisect(s, nil, groups[0], err)
		return
	}
	test := func(some [][]model.ObjectRef) error { return b.test(only(s, slices.Concat(some...))) }
	verdict, failed := nginx.Blame(groups, test, b.tests())
	if failed != nil {
		return
	}
	for _, found := range verdict.Culprits {
		switch {
		case b.runs != nil && b.runs(found.Item[0]):
			b.bisectRunning(s, found.Item, found.Err)
		case len(found.Item) == 1, slices.ContainsFunc(found.Item, b.wasAlone):
			b.bisect(s, slices.Concat(verdict.Passing...), found.Item, found.Err)
		default:
			b.postpone(found.Item, found.Err)
		}
	}
	b.postpone(slices.Concat(verdict.Undecided...), err)
}

func (b *blame) wasAlone(o model.ObjectRef) bool { return b.alone != nil && b.alone(o) }

// groups gives the Ingresses of a part: those that run as they are here, and the
// others by namespace, each the oldest first.
func (b *blame) groups(s model.Static) [][]model.ObjectRef {
	present := owners(s)
	var running []model.ObjectRef
	var others [][]model.ObjectRef
	for _, o := range b.oldest() {
		if !present[o] {
			continue
		}
		if b.runs != nil && b.runs(o) {
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

// bisect blames one by one those that fail on top of others that pass. Those that
// it does not get to wait for tests of their own, but for those that passed them.
func (b *blame) bisect(s model.Static, passing, suspects []model.ObjectRef, err error) {
	test := func(some []model.ObjectRef) error { return b.test(only(s, slices.Concat(passing, some))) }
	verdict, failed := nginx.Blame(suspects, test, b.tests())
	if failed != nil {
		return
	}
	for _, found := range verdict.Culprits {
		b.culprits = append(b.culprits, culprit{object: found.Item, text: wordsOf(found.Err)})
	}
	b.postpone(verdict.Undecided, err)
	for i, c := range b.culprits {
		b.culprits[i].undecided = c.undecided && !b.wasAlone(c.object)
	}
}

// bisectRunning blames those of what nginx runs that make it fail nevertheless.
// Those that it does not get to stay.
func (b *blame) bisectRunning(s model.Static, running []model.ObjectRef, err error) {
	b.bisect(s, nil, running, err)
	b.culprits = slices.DeleteFunc(b.culprits, func(c culprit) bool { return c.undecided && b.runs(c.object) })
}

// fewestTests are enough to bisect one out of a chunk.
const fewestTests = 16

// tests is how many tests a bisection may take in the time that is left.
func (b *blame) tests() int {
	if b.until.IsZero() {
		return mostTests
	}
	return min(max(int(time.Until(b.until)/usualTest), fewestTests), mostTests)
}

// usualTest is what the test of a small file takes.
const usualTest = 25 * time.Millisecond
