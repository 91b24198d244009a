package translate

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// reduced is an Ingress read again with less, for lack of room.
type reduced struct {
	problem model.Problem
	owner   *owner
}

// reduced returns an Ingress as make reads it again, with a Problem that says what it has no room
// for. It is remembered by the field of the Problem, with the Ingress that it stands for, until
// the Problem or an object that it names is another.
func (t *translation) reduced(ing *owner, p model.Problem, make func() *owner) *owner {
	known, ok := ing.reduced[p.Field]
	if ok && known.problem == p && !known.owner.reads.outdated(t.snap) {
		return known.owner
	}
	read := make()
	read.tellOf(ing)
	read.Problems = append(read.Problems, p)
	if ing.reduced == nil {
		ing.reduced = map[string]reduced{}
	}
	ing.reduced[p.Field] = reduced{p, read}
	return read
}

// closedBy returns an Ingress with all paths closed, for a Problem.
func (t *translation) closedBy(ing *owner, p model.Problem) *owner {
	return t.reduced(ing, p, func() *owner { return t.read(ing.object, ing.Settings, max(ing.Denial, claim.DenyButSnippet)) })
}

// without returns an Ingress without the annotations with some keys, for lack of the room that the
// text speaks of. field is the one to report.
func (t *translation) without(ing *owner, keys []string, field, text string) *owner {
	p := model.Problem{Object: ing.Ref, Field: field, Reason: model.NoRoom, Text: text}
	return t.reduced(ing, p, func() *owner {
		object := ing.object.DeepCopy()
		maps.DeleteFunc(object.Annotations, func(key, _ string) bool {
			path, byPath := strings.CutPrefix(key, annotations.PathsPrefix)
			return byPath && slices.Contains(keys, path) || slices.ContainsFunc(keys, func(of string) bool { return annotations.FieldOf(ing.PrefixKey, of) == key })
		})
		return t.read(object, ing.Settings, ing.Denial)
	})
}

// tellOf adds what an Ingress had no room for when it was read before.
func (i *owner) tellOf(before *owner) {
	for _, p := range before.Problems {
		if p.Reason == model.NoRoom && !slices.Contains(i.Problems, p) {
			i.Problems = append(i.Problems, p)
		}
	}
}
