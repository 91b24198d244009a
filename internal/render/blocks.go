package render

import (
	"bytes"
	"slices"

	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/tokens"
)

// print executes a block's template for a context, if it has one. The text has the
// block's origin and ends with a line end.
func (r *rendering) print(b model.Block, context string) error {
	known := r.templates.behaviours[b.Name]
	if known == nil {
		if consumedByGo[b.Name] {
			return nil
		}
		return &blockError{b, &tokens.Refusal{Want: "a behaviour that has a template", Got: b.Name}}
	}
	tmpl := known.contexts[context]
	if tmpl == nil {
		return nil
	}
	before, start := r.page.now(), r.page.Len()
	r.page.from(Origin{Object: b.Source, Behaviour: b.Name, Host: before.Host})
	data := b.Data
	if logging, ok := data.(model.Logging); ok && r.skips {
		data = logging.Skipping()
	}
	if err := r.page.execute(tmpl, data); err != nil {
		return &blockError{b, err}
	}
	if err := r.checkRaw(start); err != nil {
		return &blockError{b, err}
	}
	if indents[context] == inLocationTabs && len(r.page.rawIn(start, r.page.Len())) == 0 {
		text := r.speaks.translate(r.withOtherForms(r.overruled(b.Name, bytes.Clone(r.page.Bytes()[start:]))))
		r.page.Truncate(start)
		r.page.Buffer.Write(text)
	}
	if len(r.more.headers) > 0 && len(r.page.rawIn(start, r.page.Len())) == 0 {
		text := r.asMore(bytes.Clone(r.page.Bytes()[start:]))
		r.page.Truncate(start)
		r.page.Buffer.Write(text)
	}
	r.page.indent(start, indents[context])
	r.page.from(before)
	return nil
}

// indents are the tabs before each line of a context.
var indents = map[string]string{
	"events": "\t", "upstream": "\t", "every-server": "\t", "catchall": "\t", "server": "\t",
	"first": inLocationTabs, "location": inLocationTabs, "answer": inLocationTabs, "redirect": inLocationTabs,
}

const inLocationTabs = "\t\t"

// consumedByGo are the blocks without templates. Other templates print their values,
// together with those of the Environment.
var consumedByGo = map[string]bool{"listen": true, "memory": true, "hash": true, "forwarded": true, "patterns": true, "opentelemetry": true, "geoip": true, "no-endpoints": true, settings.DebugHeaderBlock: true}

// blockList prints the blocks of a server or a location. If one of their directives would
// end the inheritance of others, it repeats those first.
type blockList struct {
	*rendering
	context string
	blocks  []model.Block
	// outside are the inherited directives; insert sets own to those printed here.
	outside []inheritable
	own     []inheritable
	// beside are the directives of the location's own template.
	beside []inheritable
	// unlike are the directives that it cannot inherit: it repeats all of outside.
	unlike []string
}

func (b *blockList) insert() error {
	b.own = nil
	if len(b.beside) == 0 && len(b.unlike) == 0 && len(b.more.headers) == 0 && !b.repeats() {
		return b.printAll()
	}
	before, start := b.page.here(), b.page.Len()
	if err := b.printAll(); err != nil {
		return err
	}
	b.own = append(inheritables(b.page.Bytes()[start:]), b.beside...)
	own, instead := b.replaceInherited(b.own)
	missing := lost(b.outside, own, b.unlike...)
	if b.own = own; len(missing)+len(instead) == 0 {
		return nil
	}
	b.page.back(before)
	for _, text := range append(b.textsOf(missing), instead...) {
		b.page.WriteString(indents[b.context] + text + "\n")
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

// first prints the same blocks in the context "first", before any answer.
func (b *blockList) first() error { return b.printIn("first") }

// repeats reports whether a block may end the inheritance of directives.
func (b *blockList) repeats() bool {
	return slices.ContainsFunc(b.blocks, func(block model.Block) bool {
		known := b.templates.behaviours[block.Name]
		return known != nil && known.repeats
	})
}
