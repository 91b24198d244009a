package render

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// sharedText is what a block prints at http level, once for all equal bytes.
type sharedText struct {
	text   string
	parts  []sharedPart
	origin Origin
}

// sharedPart is a directive of shared text, or of a block in it.
type sharedPart struct {
	// head is that of the block with its "{", "" at the outermost level.
	head string
	text string
}

// sharedBlocks prints what blocks say at http level.
func (s *serverRendering) sharedBlocks(blocks []model.Block) error {
	for _, b := range blocks {
		known := s.templates.behaviours[b.Name]
		if known == nil || known.contexts["shared"] == nil {
			continue
		}
		before, start := s.page.here(), s.page.Len()
		err := s.print(b, "shared")
		text := string(s.page.Bytes()[start:])
		s.page.back(before)
		if err != nil {
			return err
		}
		said := func(other sharedText) bool { return other.text == text }
		if strings.TrimSpace(text) == "" || slices.ContainsFunc(s.out.shared, said) {
			continue
		}
		if err := checkText(s.templates.grammar.at(inHTTP...), []byte(text)); err != nil {
			return &blockError{b, err}
		}
		s.out.shared = append(s.out.shared, sharedText{text: text, parts: partsOf(text), origin: Origin{Object: b.Source, Behaviour: b.Name}})
	}
	return nil
}

// partsOf cuts shared text into its directives. Blocks that hold blocks are not
// cut: then the whole text is one part.
func partsOf(text string) []sharedPart {
	var parts []sharedPart
	head, nested := "", false
	syntax.Directives([]byte(text), func(d syntax.Directive) {
		said := text[d.Start:d.End]
		switch {
		case d.Opens && d.Depth > 0:
			nested = true
		case d.Opens:
			head = said
			parts = append(parts, sharedPart{head: head})
		case d.Depth > 0:
			parts = append(parts, sharedPart{head: head, text: said})
		default:
			parts = append(parts, sharedPart{text: said})
		}
	})
	if nested {
		return []sharedPart{{text: strings.TrimSuffix(text, "\n")}}
	}
	return parts
}

// shared prints what blocks of servers and locations say at http level, once
// for all equal texts. Blocks of one head become one block, with each of their
// directives once: so a map can hold what many locations say.
func (r *rendering) shared(servers []*rendered) *chunk {
	m := merger{texts: map[string]bool{}, parts: map[sharedPart]bool{}, blocks: map[string]*mergedBlock{}}
	for _, s := range servers {
		for _, text := range s.shared {
			m.add(text)
		}
	}
	for _, b := range m.order {
		tabs := ""
		if b.head != "" {
			tabs = "\t"
			r.page.from(b.said[0].origin)
			r.page.WriteString(b.head + "\n")
		}
		for _, line := range b.said {
			if line.text != "" {
				r.page.from(line.origin)
				r.page.WriteString(tabs + line.text + "\n")
			}
		}
		if b.head != "" {
			r.page.from(b.said[0].origin)
			r.page.WriteString("}\n")
		}
	}
	return r.page.cut()
}

// merger puts shared texts together, in the order in which they come.
type merger struct {
	texts  map[string]bool
	parts  map[sharedPart]bool
	blocks map[string]*mergedBlock
	order  []*mergedBlock
}

// mergedBlock is all that was said under one head.
type mergedBlock struct {
	head string
	said []saidBy
}

// saidBy is a directive and who said it first.
type saidBy struct {
	text   string
	origin Origin
}

func (m *merger) add(t sharedText) {
	if m.texts[t.text] {
		return
	}
	m.texts[t.text] = true
	for _, part := range t.parts {
		if m.parts[part] {
			continue
		}
		m.parts[part] = true
		block := m.blocks[part.head]
		if block == nil {
			block = &mergedBlock{head: part.head}
			m.blocks[part.head] = block
			m.order = append(m.order, block)
		}
		block.said = append(block.said, saidBy{part.text, t.origin})
	}
}
