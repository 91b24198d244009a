package controller

import (
	"errors"
	"slices"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/settings"
)

// blameSettings finds the groups of settings that nginx rejects, in a part without any
// Ingress: the group that wrote the line that nginx named, or else by leaving groups
// out.
//
// A group that fails gives way to what nginx ran last, as another group may need it: a snippet
// for all locations may name a variable of that for the http level.
func (b *blame) blameSettings(s model.Static, err error) {
	for range len(s.Blocks) {
		var refused *nginx.TestError
		if !errors.As(err, &refused) {
			return
		}
		name := b.groupOfLine(s, refused)
		if name == "" {
			b.bisectSettings(s)
			return
		}
		b.settings = append(b.settings, refusedGroup{name, messageOf(refused.Text)})
		s.Blocks = b.withGood(s.Blocks, []string{name})
		if err = b.test(s); err == nil {
			return
		}
	}
}

// groupOfLine returns the group that wrote the line that nginx named, "" if none did.
func (b *blame) groupOfLine(s model.Static, refused *nginx.TestError) string {
	origin, ok := b.render(s).Origin(refused.Line)
	if !ok || b.isRefused(origin.Behaviour) || !slices.ContainsFunc(s.Blocks, func(block model.Block) bool { return block.Name == origin.Behaviour }) {
		return ""
	}
	return origin.Behaviour
}

func (b *blame) isRefused(group string) bool {
	return slices.ContainsFunc(b.settings, func(g refusedGroup) bool { return g.block == group })
}

// bisectSettings blames groups by replacing others with what nginx ran last. If nginx
// rejects all of that too, no setting is to blame.
func (b *blame) bisectSettings(s model.Static) {
	var names []string
	for _, block := range s.Blocks {
		if !b.isRefused(block.Name) {
			names = append(names, block.Name)
		}
	}
	verdict, failed := search(b, names, func(some []string) error {
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(some, name) })
		tried := s
		tried.Blocks = b.withGood(s.Blocks, others)
		return b.test(tried)
	}, mostTests)
	if failed != nil {
		return
	}
	for _, found := range verdict.Culprits {
		b.settings = append(b.settings, refusedGroup{found.Item, messageOf(wordsOf(found.Err))})
	}
}

// withGood replaces some groups with those that nginx ran last, or else with their defaults.
func (b *blame) withGood(blocks []model.Block, names []string) []model.Block {
	last, _ := settings.Read(b.good)
	defaults, _ := settings.Read(nil)
	good := append(last.Blocks(), defaults.Blocks()...)
	changed := slices.Clone(blocks)
	for i, block := range changed {
		if at := slices.IndexFunc(good, func(d model.Block) bool { return d.Name == block.Name }); at >= 0 && slices.Contains(names, block.Name) {
			changed[i] = good[at]
		}
	}
	return changed
}
