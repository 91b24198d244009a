package controller

import (
	"slices"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/settings"
	"sluice/internal/sift"
)

// settings finds the groups of settings that nginx refuses in a file without any Ingress.
//
// A group that fails gives way to what nginx ran last, as another group may need it: a snippet
// for all locations may name a variable of that for the http level. If nginx refuses all of
// that too, no setting is to blame.
func (s *search) settings() (found []refusedGroup) {
	written := s.written()
	kind := sift.Kind[string]{
		Test: func(kept []string) (*render.File, error) {
			return s.inTime(s.base(slices.DeleteFunc(slices.Clone(written), func(name string) bool { return slices.Contains(kept, name) })))
		},
		Wrote: func(name string, by render.Origin) bool { return by.Behaviour == name },
	}
	kind.Without = func(string) error {
		_, err := kind.Test(nil)
		return err
	}
	if len(written) == 0 {
		s.baseless = kind.Without("") != nil
		return nil
	}
	tried, _ := kind.Sift(written, len(written))
	s.baseless = len(tried.Taken) < len(written)
	for _, refused := range tried.Refused {
		found = append(found, refusedGroup{refused.Suspect, messageOf(refused.Text)})
	}
	return found
}

// written names the groups of which the settings say something else than what nginx ran last,
// or than the defaults.
func (s *search) written() (names []string) {
	if s.plan.configMap == nil {
		return nil
	}
	values, _ := settings.Read(s.plan.configMap)
	for _, block := range values.Blocks() {
		if s.plan.fallen(block.Name) != nil {
			names = append(names, block.Name)
		}
	}
	return names
}

// base renders the plan without Ingresses and services, and with groups of settings replaced.
func (s *search) base(replaced []string) *render.File { return s.plan.render(s.level(replaced)) }

func (s *search) level(replaced []string) model.Static {
	objects := s.plan.served.OnlyIngresses(nil)
	var fallen []fallenGroup
	for _, name := range replaced {
		if to := s.plan.fallen(name); to != nil {
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
