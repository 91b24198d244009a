package assemble

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/model"
)

// internals gathers the internal locations of a server, each content once. The zero
// value is ready.
type internals struct {
	found []*model.Internal
}

// add gives the path of an internal location with this content, which has the kind,
// a word such as "mirror", and a hash of the content in it. What follows in suffix is
// for a balancer that goes by the path. Owners that ask for the same share it.
func (i *internals) add(modifier model.Modifier, kind, suffix string, l *model.Location) (path string) {
	content := *l
	content.Modifier, content.Path, content.Rule = modifier, "", printedOf(modifier, l)
	content.Blocks = slices.Clone(l.Blocks)
	for at := range content.Blocks {
		content.Blocks[at].Source = model.ObjectRef{}
	}
	path = kind + "-" + hashOf(content)
	if modifier == model.Equal {
		path = model.InternalPrefix + path + suffix
	}
	for _, other := range i.found {
		if other.Modifier == modifier && other.Path == path {
			if !slices.Contains(other.Owners, l.Rule.Object) {
				other.Owners = append(other.Owners, l.Rule.Object)
			}
			return path
		}
	}
	added := *l
	added.Modifier, added.Path = modifier, path
	i.found = append(i.found, &model.Internal{Location: &added, Owners: []model.ObjectRef{l.Rule.Object}})
	return path
}

// printedOf is the part of a location's rule that nginx.conf has: of a named location
// the path, and the owner of what it proxies to. A subrequest sets no variables.
func printedOf(modifier model.Modifier, l *model.Location) model.Rule {
	if modifier != model.Named {
		return model.Rule{}
	}
	rule := model.Rule{Path: l.Rule.Path, Kind: l.Rule.Kind}
	if l.Proxy != nil {
		rule.Object = l.Rule.Object
	}
	return rule
}

// hashOf names a content of plain structs, so that JSON has all of it.
func hashOf(content any) string {
	text, err := json.Marshal(content)
	if err != nil {
		panic("assemble: a content that is no plain value: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:16]
}

// sorted gives what was added, by modifier and path, with sorted owners.
func (i *internals) sorted() []*model.Internal {
	for _, l := range i.found {
		slices.SortFunc(l.Owners, model.ObjectRef.Compare)
	}
	slices.SortFunc(i.found, func(a, b *model.Internal) int {
		return cmp.Or(strings.Compare(string(a.Modifier), string(b.Modifier)), strings.Compare(a.Path, b.Path))
	})
	return i.found
}
