package diff

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/route"
)

// otherContent is the value of a behaviour whose keys are equal, but not the objects that
// they name.
const otherContent = "other content"

// effects compares everything of two rows besides the backend.
func (c *comparison) effects(old, now *route.Row) []Effect {
	var all []Effect
	add := func(behaviour, key, a, b string) {
		if a != b {
			all = append(all, Effect{behaviour, key, a, b})
		}
	}
	add("match", "", old.Match, now.Match)
	add("object", "", old.Object.String(), now.Object.String())
	add("https-redirect", "", redirectOf(old), redirectOf(now))
	add("canary", "", c.splitOf(c.before, old), c.splitOf(c.after, now))
	all = append(all, c.keys(old, now)...)
	told := func(behaviour string) bool {
		return slices.ContainsFunc(all, func(e Effect) bool { return e.Behaviour == behaviour })
	}
	if !told("rewrite") {
		add("rewrite", "", rewriteOf(old), rewriteOf(now))
	}
	for _, name := range blocksThatDiffer(old, now) {
		if !told(name) {
			all = append(all, Effect{Behaviour: name, New: otherContent})
		}
	}
	if !reflect.DeepEqual(old.Server.TLS, now.Server.TLS) && len(all) == 0 {
		all = append(all, Effect{Behaviour: "tls", New: otherContent})
	}
	return all
}

// keys compares the keys of all behaviours. Of a behaviour that comes or goes, keys with their
// defaults are not told.
func (c *comparison) keys(old, now *route.Row) []Effect {
	type key struct{ behaviour, name string }
	var order []key
	values := [2]map[key]explain.Key{{}, {}}
	read := func(at int, behaviours []explain.Behaviour) {
		for _, b := range behaviours {
			keys := b.Keys
			if len(keys) == 0 {
				keys = []explain.Key{{Value: "on"}}
			}
			for _, k := range keys {
				of := key{b.Name, k.Key}
				if _, known := values[0][of]; !known && !slices.Contains(order, of) {
					order = append(order, of)
				}
				values[at][of] = k
			}
		}
	}
	read(0, c.before.behaviours(old.Server, old.Location))
	read(1, c.after.behaviours(now.Server, now.Location))
	var all []Effect
	for _, of := range order {
		a, inOld := values[0][of]
		b, inNew := values[1][of]
		whole := inOld && inNew || cmp.Or(a.Source, b.Source) != explain.FromDefault
		if whole && a.Value != b.Value {
			all = append(all, Effect{of.behaviour, of.name, a.Value, b.Value})
		}
	}
	return all
}

// blocksThatDiffer returns the names of the blocks with other content.
func blocksThatDiffer(old, now *route.Row) []string {
	var names []string
	before, after := append(slices.Clone(old.Location.Blocks), old.Server.Blocks...), append(slices.Clone(now.Location.Blocks), now.Server.Blocks...)
	same := func(b model.Block, others []model.Block) bool {
		return slices.ContainsFunc(others, func(o model.Block) bool { return o.Name == b.Name && reflect.DeepEqual(o.Data, b.Data) })
	}
	for i, b := range slices.Concat(before, after) {
		others := after
		if i >= len(before) {
			others = before
		}
		if !same(b, others) && !slices.Contains(names, b.Name) {
			names = append(names, b.Name)
		}
	}
	return names
}

func redirectOf(row *route.Row) string {
	for _, r := range []*model.Redirect{row.Server.RedirectToHTTPS, row.Location.RedirectToHTTPS} {
		if r != nil && r.Port != 0 {
			return fmt.Sprintf("%d to port %d", r.Code, r.Port)
		}
		if r != nil {
			return strconv.Itoa(r.Code)
		}
	}
	return ""
}

func rewriteOf(row *route.Row) string {
	if r := row.Location.Rewrite; r != nil {
		return r.Pattern + " to " + r.Target
	}
	return ""
}
