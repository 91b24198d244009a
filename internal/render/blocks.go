package render

import (
	"sluice/internal/model"
)

// print executes a block's template for a context, if it has one. What it
// prints carries the block's origin and ends with a line end.
func (r *rendering) print(b model.Block, context string) error {
	known := r.templates.behaviours[b.Name]
	if known == nil {
		if consumedByGo[b.Name] {
			return nil
		}
		return &blockError{b, &Refusal{Want: "a behaviour that has a template", Got: b.Name}}
	}
	tmpl := known.contexts[context]
	if tmpl == nil {
		return nil
	}
	before, start := r.page.now(), r.page.Len()
	r.page.from(Origin{Object: b.Source, Behaviour: b.Name, Host: before.Host})
	if err := r.page.execute(tmpl, b.Data); err != nil {
		return &blockError{b, err}
	}
	if err := r.checkRaw(start); err != nil {
		return &blockError{b, err}
	}
	r.page.indent(start, indents[context])
	r.page.from(before)
	return nil
}

// indents are the tabs before what is printed in a context.
var indents = map[string]string{"events": "\t", "upstream": "\t", "catchall": "\t", "server": "\t", "first": "\t\t", "location": "\t\t", "answer": "\t\t", "redirect": "\t\t"}

// consumedByGo are the blocks that have no template of their own: what is printed of
// them depends on more than them.
var consumedByGo = map[string]bool{"listen": true, "memory": true, "hash": true, "forwarded": true, "patterns": true, model.EscapedURI: true}

// blockList prints what behaviours say in a server or a location. If one of
// them would cut off what is inherited, that is said again first.
type blockList struct {
	*rendering
	context string
	blocks  []model.Block
	// outside is what is inherited; own is filled with what is said here.
	outside []said
	own     []said
	// beside is what the template of the location says itself.
	beside []said
}

func (b *blockList) insert() error {
	b.own = nil
	if len(b.beside) == 0 && !b.repeats() {
		return b.printAll()
	}
	before, start := b.page.here(), b.page.Len()
	if err := b.printAll(); err != nil {
		return err
	}
	b.own = append(saidIn(b.page.Bytes()[start:]), b.beside...)
	missing := lost(b.outside, b.own)
	if len(missing) == 0 {
		return nil
	}
	b.page.back(before)
	for _, s := range missing {
		b.page.WriteString(indents[b.context] + s.text + "\n")
	}
	return b.printAll()
}

func (b *blockList) printAll() error {
	if b.context == "location" {
		return b.printIn("location", "answer", "redirect")
	}
	return b.printIn(b.context)
}

func (b *blockList) printIn(contexts ...string) error {
	for _, block := range b.blocks {
		for _, context := range contexts {
			if err := b.print(block, context); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstBlocks prints what the same blocks say before anything is answered.
type firstBlocks struct{ *blockList }

func (f firstBlocks) insert() error { return f.printIn("first") }

func (b *blockList) repeats() bool {
	for _, block := range b.blocks {
		if known := b.templates.behaviours[block.Name]; known != nil && known.repeats {
			return true
		}
	}
	return false
}
