package migrate

import (
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// look is the state of one Look.
type look struct {
	*lint.Examined
	translate  translate.Options
	controller *controller
	settingsOf func(*networkingv1.Ingress) *settings.Settings
	findings   map[model.ObjectRef][]lint.Finding
	locations  map[model.ObjectRef][]*model.Location
	unplaced   map[model.ObjectRef]map[string]model.Cause
	around     surroundings
	// assumed are the Problems of Secrets that are not read.
	assumed map[model.ObjectRef][]model.Problem
	// ofController are the settings of the controller.
	ofController *settings.Settings
	commons      map[*settings.Settings]*common
}

func newLook(e *lint.Examined, o lint.Options, setup Setup) *look {
	l := &look{
		Examined: e, translate: o.Translate, controller: newController(setup, e, o.Translate),
		settingsOf: translate.Settings(e.Snapshot, o.Translate),
		findings:   map[model.ObjectRef][]lint.Finding{},
		locations:  map[model.ObjectRef][]*model.Location{}, unplaced: map[model.ObjectRef]map[string]model.Cause{},
		around: surroundingsOf(e.Snapshot.Ingresses(), o.Translate.AnnotationsPrefix), assumed: map[model.ObjectRef][]model.Problem{},
		commons: map[*settings.Settings]*common{},
	}
	for _, p := range e.Assumed {
		l.assumed[p.Object] = append(l.assumed[p.Object], p)
	}
	l.ofController, _ = settings.Read(e.Snapshot.ConfigMap(o.Translate.ConfigMap))
	for _, f := range e.Findings {
		l.findings[f.Object] = append(l.findings[f.Object], f)
	}
	for _, server := range e.Config.Static.Servers {
		for _, location := range server.Locations {
			l.place(location)
		}
		for _, internal := range server.Internal {
			l.place(internal.Location)
		}
	}
	for _, list := range e.Config.Unplaced {
		for _, u := range list {
			if l.unplaced[u.Object] == nil {
				l.unplaced[u.Object] = map[string]model.Cause{}
			}
			l.unplaced[u.Object][u.Field] = u.Cause
		}
	}
	return l
}

// place records a location for its rule.
func (l *look) place(location *model.Location) {
	if location.Rule.Field != "" && location.Rule.Kind != model.RuleShadow && location.Rule.Kind != model.RuleError {
		l.locations[location.Rule.Object] = append(l.locations[location.Rule.Object], location)
	}
}

// ingress makes the part of the report about an Ingress.
func (l *look) ingress(object *networkingv1.Ingress) Ingress {
	ref := snapshot.RefOf(object)
	f := l.factsOf(object)
	i := Ingress{Namespace: object.Namespace, Name: object.Name, Place: l.PlaceOf(ref), Status: Ready, Hosts: slices.Sorted(maps.Keys(hostsOf(object)))}
	i.Items = append(l.found(object), l.unread(ref)...)
	fates := l.fates(f, i.Items)
	i.Paths = fates.counts()
	i.Items = append(i.Items, l.unexplained(f, i.Items, fates)...)
	f.items, f.denied = i.Items, i.Paths.Unavailable > 0
	i.Items = append(i.Items, l.quiet(f, i.Items)...)
	if i.Paths.LeftOut > 0 {
		i.Status = LeftOut
	} else if i.Paths.Unavailable > 0 {
		i.Status = Unavailable
	}
	for _, item := range i.Items {
		if rank(item.Status) < rank(i.Status) {
			i.Status = item.Status
		}
	}
	slices.SortStableFunc(i.Items, func(a, b Item) int { return rank(a.Status) - rank(b.Status) })
	return i
}

// unread makes notes about Secrets that are not read, and that count as valid.
func (l *look) unread(ref model.ObjectRef) []Item {
	var notes []Item
	for _, p := range l.assumed[ref] {
		if p.Denies {
			notes = append(notes, Item{Status: Note, Object: ref, Place: l.PlaceOf(ref), Field: p.Field, Text: "its Secret is not read here: with a Secret that is not valid, its paths answer 503"})
		}
	}
	return notes
}

// factsOf gathers what the conditions of rows look at.
func (l *look) factsOf(object *networkingv1.Ingress) *facts {
	ref := snapshot.RefOf(object)
	f := &facts{
		ingress: object, given: map[string]string{}, settings: l.settingsOf(object), options: l.translate, paths: pathsOf(object),
		locations: l.locations[ref], healthPath: l.translate.HealthPath, around: l.around,
		shares: several(hostsOf(object), l.around.hosts), sharesService: several(servicesOf(object), l.around.services),
		otherCanary: several(hostsOf(object), l.around.canaries),
	}
	if f.settings == nil {
		f.settings = l.ofController
	}
	for key, value := range object.Annotations {
		if name, ours := strings.CutPrefix(key, l.translate.AnnotationsPrefix+"/"); ours {
			f.given[name] = value
		}
	}
	f.common = l.commonOf(f.settings)
	f.given = f.common.over(f.given)
	f.locationsOf = map[string][]*model.Location{}
	for _, at := range f.locations {
		f.locationsOf[at.Rule.Field] = append(f.locationsOf[at.Rule.Field], at)
	}
	for i := range f.paths {
		f.paths[i].pattern = slices.ContainsFunc(f.locationsOf[f.paths[i].field], func(at *model.Location) bool { return at.Modifier == model.Pattern })
	}
	return f
}

// pathFates are the paths of an Ingress by field, with their status.
type pathFates struct {
	fields []string
	status map[string]Status
}

func (p pathFates) counts() PathCounts {
	c := PathCounts{All: len(p.fields)}
	for _, field := range p.fields {
		switch p.status[field] {
		case LeftOut:
			c.LeftOut++
		case Unavailable:
			c.Unavailable++
		}
	}
	return c
}

// fates finds out what becomes of each path. A path that is not served, or answers 503,
// with ingress-nginx too is ready.
func (l *look) fates(f *facts, items []Item) pathFates {
	p := pathFates{status: map[string]Status{}}
	for _, one := range f.paths {
		p.fields = append(p.fields, one.field)
	}
	if b := f.ingress.Spec.DefaultBackend; b != nil && !(f.asks("canary") && len(f.ingress.Spec.Rules) > 0) {
		p.fields = append(p.fields, "spec.defaultBackend")
	}
	causes := l.unplaced[snapshot.RefOf(f.ingress)]
	onlyAssumed := len(l.assumed[snapshot.RefOf(f.ingress)]) > 0 && !slices.ContainsFunc(items, func(i Item) bool { return i.Status == Unavailable })
	said := aboutPaths(items)
	for _, field := range p.fields {
		switch status := fateOf(f.locationsOf[field]); {
		case status == Unavailable && onlyAssumed, status == LeftOut && causes[field] != "", isAlike(field, said.of(field)):
			p.status[field] = Ready
		case status == LeftOut && isClosed(field, said.of(field)):
			p.status[field] = Unavailable
		default:
			p.status[field] = status
		}
	}
	return p
}

// saidOf are the items about paths: those of a field, and of what is in it, by the field, and those
// about all paths.
type saidOf struct {
	by  map[string][]Item
	all []Item
}

// aboutPaths divides the items of an Ingress, which can have thousands of them and of paths.
func aboutPaths(items []Item) saidOf {
	said := saidOf{by: map[string][]Item{}}
	for _, item := range items {
		if !strings.HasPrefix(item.Field, "spec.") {
			said.all = append(said.all, item) // an annotation has one field
			continue
		}
		for at, letter := range item.Field + "." {
			if letter == '.' {
				said.by[item.Field[:at]] = append(said.by[item.Field[:at]], item)
			}
		}
	}
	return said
}

// of returns the items about a path.
func (s saidOf) of(field string) []Item { return slices.Concat(s.all, s.by[field]) }

// fateOf returns the status of a path by its locations.
func fateOf(locations []*model.Location) Status {
	status := LeftOut
	for _, at := range locations {
		if at.Return != nil && at.Return.Code == 503 && at.Return.URL == "" {
			return Unavailable
		}
		status = Ready
	}
	return status
}

// isAlike reports whether nothing is said of a path but what holds for ingress-nginx too.
func isAlike(field string, items []Item) bool {
	alike := false
	for _, item := range items {
		switch {
		case item.Status == Unavailable && !strings.HasPrefix(item.Field, "spec."):
			return false
		case item.Status == Note && item.Reason == model.NotFound && strings.HasSuffix(item.Field, "/canary"):
			alike = true // no Ingress has the host of the canary
		case item.Field != field && !strings.HasPrefix(item.Field, field+"."):
		case item.Status != Note:
			return false
		default:
			alike = alike || item.Reason == model.NotFound || item.Reason == model.Conflict || item.Reason == model.Shadowed || item.Reason == model.InvalidValue
		}
	}
	return alike
}

// isClosed reports whether an item says that a path answers 503.
func isClosed(field string, items []Item) bool {
	return slices.ContainsFunc(items, func(i Item) bool {
		return i.Status == Unavailable && (i.Field == field || strings.HasPrefix(i.Field, field+"."))
	})
}

// unexplained makes an item for paths that are not served, or answer 503, and of which no
// item says why.
func (l *look) unexplained(f *facts, items []Item, p pathFates) []Item {
	var added []Item
	for _, status := range []Status{LeftOut, Unavailable} {
		var fields []string
		for _, field := range p.fields {
			if p.status[field] == status {
				fields = append(fields, field)
			}
		}
		explained := slices.ContainsFunc(items, func(i Item) bool { return i.Status == status || i.Status == Different && status == LeftOut })
		if len(fields) == 0 || explained {
			continue
		}
		item := Item{Status: status, Object: snapshot.RefOf(f.ingress), Place: l.PlaceOf(snapshot.RefOf(f.ingress)), Field: fields[0], Text: "no request reaches it; its Ingress is not served as it is"}
		if status == Unavailable {
			item.Text = "it answers 503 because of another object of its host"
			if closing := l.closing(f.ingress.Namespace); closing != nil {
				of := l.item(*closing)
				item.Text = "it answers 503 because of " + strings.TrimSpace(closing.Object.String()) + ": " + closing.Field + ": " + closing.Text
				item.Remedy, item.Difference = of.Remedy, of.Difference
			}
		}
		added = append(added, item)
	}
	return added
}

// closing returns the finding of settings, of the Namespace, or of a class without its own
// settings, that closes paths.
func (l *look) closing(namespace string) *lint.Finding {
	for i, f := range l.Findings {
		if f.Denies && (f.Object.Kind == "ConfigMap" || f.Object.Kind == "Namespace" && f.Object.Name == namespace) || f.Object.Kind == "IngressClass" && f.Reason == model.NotFound {
			return &l.Findings[i]
		}
	}
	return nil
}

// quiet makes items of the rows that hold for an Ingress and that no item names, unless they
// hold for all Ingresses with its settings.
func (l *look) quiet(f *facts, items []Item) []Item {
	var added []Item
	for at, r := range rows {
		d := differences()[at]
		if _, all := f.common.rows[at]; all || r.quiet == nil || d == nil || slices.ContainsFunc(items, func(i Item) bool { return i.Difference == d }) || !r.quiet(f) {
			continue
		}
		added = append(added, Item{Status: Different, Object: snapshot.RefOf(f.ingress), Place: l.PlaceOf(snapshot.RefOf(f.ingress)), Text: d.text(), Remedy: r.remedy, Difference: d})
	}
	return added
}

// text says the difference in a line.
func (d *Difference) text() string {
	return d.What + ": ingress-nginx: " + d.IngressNginx + "; Sluice: " + d.Sluice
}

// everywhere are the rows that concern all Ingresses, by the settings or without any.
func (l *look) everywhere() []Item {
	all := []Item{}
	held := l.commonOf(l.ofController).rows
	for at, r := range rows {
		_, holds := held[at]
		if d := differences()[at]; d != nil && (r.everywhere || holds) {
			all = append(all, Item{Status: Different, Text: d.text(), Remedy: r.remedy, Difference: d})
		}
	}
	return all
}
