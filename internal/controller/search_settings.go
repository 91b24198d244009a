package controller

import (
	"slices"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/settings"
)

// mostTests limits the tests of one search for settings or streams.
const mostTests = 400

// settings finds the groups of settings that nginx refuses in a file without any Ingress:
// the group that wrote the line that nginx named, or else by leaving groups out.
//
// A group that fails gives way to what nginx ran last, as another group may need it: a snippet
// for all locations may name a variable of that for the http level.
func (s *search) settings() (found []refusedGroup) {
	file := s.base(nil)
	err := s.test(file)
	if s.baseless = refusalOf(err) != nil; s.plan.configMap == nil {
		return nil
	}
	written := s.written()
	for range written {
		refused := refusalOf(err)
		if refused == nil {
			return found
		}
		_, origin := lineOf(file, refused.Line)
		name := origin.Behaviour
		if isRefused(found, name) || !slices.Contains(written, name) {
			return s.siftSettings(written, found)
		}
		found = append(found, refusedGroup{name, messageOf(refused.Text)})
		file = s.base(found)
		err = s.test(file)
	}
	return found
}

// written names the groups of which the settings say something else than what nginx ran last,
// or than the defaults.
func (s *search) written() (names []string) {
	values, _ := settings.Read(s.plan.configMap)
	for _, block := range values.Blocks() {
		if s.fallen(block.Name) != nil {
			names = append(names, block.Name)
		}
	}
	return names
}

// fallen returns what a group falls back to, nil if that is the same.
func (s *search) fallen(name string) *fallenGroup {
	for _, good := range []*fallenGroup{{name, s.plan.good}, {name, nil}} {
		if !sameSettings(fallBack(s.plan.configMap, []fallenGroup{*good}), s.plan.configMap) {
			return good
		}
	}
	return nil
}

func isRefused(groups []refusedGroup, name string) bool {
	return slices.ContainsFunc(groups, func(g refusedGroup) bool { return g.block == name })
}

// siftSettings finds groups by replacing others with what nginx ran last. If nginx refuses
// all of that too, no setting is to blame.
func (s *search) siftSettings(written []string, found []refusedGroup) []refusedGroup {
	names := slices.DeleteFunc(slices.Clone(written), func(name string) bool { return isRefused(found, name) })
	test := func(all, _ []string) error {
		replaced := slices.Clone(found)
		for _, name := range names {
			if !slices.Contains(all, name) {
				replaced = append(replaced, refusedGroup{block: name})
			}
		}
		return s.testInTime(s.base(replaced))
	}
	if test(nil, nil) != nil {
		return found
	}
	tried, _ := sift(names, len(names), atMost(mostTests), test)
	for _, failed := range tried.refused {
		found = append(found, refusedGroup{failed.item, messageOf(wordsOf(failed.err))})
	}
	return found
}

// base renders the plan without Ingresses and services, and with groups of settings replaced.
func (s *search) base(replaced []refusedGroup) *render.File { return s.plan.render(s.level(replaced)) }

func (s *search) level(replaced []refusedGroup) model.Static {
	objects := s.plan.served.OnlyIngresses(nil)
	var fallen []fallenGroup
	for _, group := range replaced {
		if to := s.fallen(group.block); to != nil {
			fallen = append(fallen, *to)
		}
	}
	if len(fallen) > 0 {
		objects = objects.WithConfigMap(fallBack(s.plan.configMap, fallen))
	}
	static := translated(objects, s.plan.options)
	if len(static.Servers) == 0 || len(static.Servers[0].Locations) == 0 {
		static.Servers = part(static, nil).Servers
	}
	return static
}
