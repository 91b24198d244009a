package render

import (
	"errors"
	"reflect"
	"slices"
	"sync"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// global holds the settings that nginx.conf has once: their blocks, and their values for
// decisions in Go.
type global struct {
	blocks []model.Block
	settings.Settings
}

// defaultSettings replace blocks that are missing or cannot be printed.
var defaultSettings = sync.OnceValue(func() []model.Block {
	values, _ := settings.Read(nil)
	return values.Blocks()
})

// newGlobal adds the defaults of missing blocks.
func newGlobal(blocks []model.Block) *global {
	g := &global{blocks: blocks}
	for _, b := range defaultSettings() {
		g.read(b)
		if findBlock(blocks, b.Name) == nil {
			g.blocks = append(g.blocks[:len(g.blocks):len(g.blocks)], b)
		}
	}
	for _, b := range blocks {
		g.read(b)
	}
	return g
}

// read copies the group of a block to the field of its type, which has the same name.
func (g *global) read(b model.Block) {
	group := reflect.ValueOf(b.Data)
	if field := reflect.ValueOf(&g.Settings).Elem().FieldByName(group.Type().Name()); field.IsValid() && field.Type() == group.Type() {
		field.Set(group)
	}
}

func findBlock(blocks []model.Block, name string) *model.Block {
	for i := range blocks {
		if blocks[i].Name == name {
			return &blocks[i]
		}
	}
	return nil
}

// settings prints the settings in one context. Where a block cannot be printed its default is,
// there and in the contexts after it, as text in one may need what is in another.
func (r *rendering) settings(context string) insertion {
	return func() error {
		for i, b := range r.global.blocks {
			if err := r.setting(b, context); err != nil {
				r.refuse(model.Problem{Object: b.Source, Text: settingText(b, err) + "; the default is used"})
				if known := findBlock(defaultSettings(), b.Name); known != nil {
					r.global.blocks = slices.Clone(r.global.blocks)
					r.global.blocks[i] = *known
					_ = r.setting(*known, context)
				}
			}
		}
		return nil
	}
}

// settingText is the text of an error, with the name of the group in front.
func settingText(b model.Block, err error) string {
	var named *blockError
	if errors.As(err, &named) {
		return named.Error()
	}
	return b.Name + ": " + reason(err)
}

// setting prints and checks a block.
func (r *rendering) setting(b model.Block, context string) error {
	return r.attempt(r.templates.place(contexts[context][0]), func() error { return r.print(b, context) })
}
