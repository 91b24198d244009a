package migrate

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// common is what Ingresses with the same settings have in common.
type common struct {
	// defaults and fixed are the annotations that they get.
	defaults, fixed map[string]string
	// rows hold for each of them: for an Ingress without annotations and paths of its own. The
	// object is the one that gives the row: the ConfigMap of a class, the Namespace, or none
	// for the settings and flags of the controller.
	rows map[int]model.ObjectRef
}

// commonOf returns what Ingresses with these settings have in common. Rows are those of the
// least specific object that gives them.
func (l *look) commonOf(s *settings.Settings) *common {
	if c := l.commons[s]; c != nil {
		return c
	}
	c := &common{defaults: map[string]string{}, fixed: map[string]string{}, rows: map[int]model.ObjectRef{}}
	l.commons[s] = c
	origins := s.Origins()
	for i, object := range slices.Backward(origins) {
		of := s
		if i == len(origins)-1 {
			of, object = s.Controller(), model.ObjectRef{}
		}
		for _, layer := range s.Layers() {
			if layer.Object == origins[i] {
				c.add(layer, l.translate.AnnotationsPrefix)
			}
		}
		f, setup := l.plain(of, c), l.controllerWith(object, of)
		for at, r := range rows {
			_, known := c.rows[at]
			if !known && (r.quiet != nil && r.quiet(f) || r.controller != nil && r.controller(setup)) {
				c.rows[at] = object
			}
		}
	}
	return c
}

// plain are the facts of an Ingress that has nothing of its own.
func (l *look) plain(s *settings.Settings, c *common) *facts {
	return &facts{ingress: &networkingv1.Ingress{}, given: c.over(map[string]string{}), settings: s, options: l.translate, healthPath: l.translate.HealthPath}
}

// add adds the lines of a layer, which package annotations checks. Layers come from the least
// specific to the most specific: this default wins, and an earlier fixed value.
func (c *common) add(layer settings.Layer, prefix string) {
	for line := range strings.Lines(layer.Text) {
		name, value, _ := strings.Cut(line, ":")
		name, value = strings.TrimPrefix(strings.TrimSpace(name), prefix+"/"), strings.TrimSpace(value)
		_, isFixed := c.fixed[name]
		switch {
		case strings.HasPrefix(name, "#") || strings.Contains(name, "/"):
		case !layer.Fixed:
			c.defaults[name] = value
		case !isFixed:
			c.fixed[name] = value
		}
	}
}

// over adds the annotations to those of an Ingress, which win over defaults only.
func (c *common) over(own map[string]string) map[string]string {
	if len(c.defaults)+len(c.fixed) == 0 {
		return own
	}
	all := maps.Clone(c.defaults)
	maps.Copy(all, own)
	maps.Copy(all, c.fixed)
	return all
}

// controllerWith is the setup with the settings of a class over those of the controller.
func (l *look) controllerWith(object model.ObjectRef, s *settings.Settings) *controller {
	m := l.Snapshot.ConfigMap(snapshot.Name{Namespace: object.Namespace, Name: object.Name})
	if s == s.Controller() || m == nil {
		return l.controller
	}
	of := *l.controller
	of.data = maps.Clone(of.data)
	for key, value := range m.Data {
		if from, _ := s.Origin(key); from == object {
			of.data[key] = value
		}
	}
	return &of
}

// ofLayers makes items of the rows that classes and Namespaces give to their Ingresses.
func (l *look) ofLayers() []Item {
	type place struct {
		row    int
		object model.ObjectRef
	}
	made := map[place]bool{}
	for _, c := range l.commons {
		for at, object := range c.rows {
			made[place{at, object}] = true
		}
	}
	places := slices.SortedFunc(maps.Keys(made), func(a, b place) int { return cmp.Or(a.object.Compare(b.object), a.row-b.row) })
	var items []Item
	for _, p := range places {
		if p.object == (model.ObjectRef{}) {
			continue // everywhere has it
		}
		if d := differences()[p.row]; d != nil {
			items = append(items, Item{Status: Different, Object: p.object, Place: l.PlaceOf(p.object), Text: d.text(), Remedy: rows[p.row].remedy, Difference: d})
		}
	}
	return items
}
