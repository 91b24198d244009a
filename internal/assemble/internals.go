package assemble

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/model"
)

// internals collects the internal locations of a server, each content once. The zero
// value is ready to use.
type internals struct {
	found []*model.Internal
	// by is for adding, by path: a host can have thousands. Only paths for subrequests begin with
	// "/", so a path has one modifier.
	by map[string]*model.Internal
}

// add returns the path of an internal location with this content: its kind, a word such
// as "mirror", and a hash of the content. The suffix is for a balancer that reads the
// path. Owners with the same content share the location.
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
	if other := i.by[path]; other != nil {
		if !slices.Contains(other.Owners, l.Rule.Object) {
			other.Owners = append(other.Owners, l.Rule.Object)
		}
		return path
	}
	added := *l
	added.Modifier, added.Path = modifier, path
	internal := &model.Internal{Location: &added, Owners: []model.ObjectRef{l.Rule.Object}}
	if i.by == nil {
		i.by = map[string]*model.Internal{}
	}
	i.found, i.by[path] = append(i.found, internal), internal
	return path
}

// has reports whether there is a named location with a name.
func (i *internals) has(name string) bool {
	l := i.by[name]
	return l != nil && l.Modifier == model.Named
}

// printedOf is the part of a rule that nginx.conf contains: the path of a named
// location, and the owner if it proxies. A subrequest sets no variables.
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

// hashOf returns a short hash of plain structs, by their JSON.
func hashOf(content any) string {
	text, err := json.Marshal(content)
	if err != nil {
		panic("assemble: the content is not a plain value: " + err.Error())
	}
	return model.SHA256(string(text))[:16]
}

// sorted returns the locations by modifier and path, with sorted owners.
func (i *internals) sorted() []*model.Internal {
	for _, l := range i.found {
		slices.SortFunc(l.Owners, model.ObjectRef.Compare)
	}
	slices.SortFunc(i.found, func(a, b *model.Internal) int {
		return cmp.Or(strings.Compare(string(a.Modifier), string(b.Modifier)), strings.Compare(a.Path, b.Path))
	})
	return i.found
}
