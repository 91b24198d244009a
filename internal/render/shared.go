package render

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// sharedText is the text of a block at the http level, printed once for all equal texts.
type sharedText struct {
	text   string
	parts  []sharedPart
	origin Origin
}

// sharedPart is a directive of shared text.
type sharedPart struct {
	// head begins its block, including "{"; "" at the outermost level.
	head string
	text string
}

// sharedBlocks prints the shared text of blocks.
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
		same := func(other sharedText) bool { return other.text == text }
		if strings.TrimSpace(text) == "" || slices.ContainsFunc(s.out.shared, same) {
			continue
		}
		if err := checkText(s.templates.grammar.At(inHTTP...), []byte(text)); err != nil {
			return &blockError{b, err}
		}
		s.out.shared = append(s.out.shared, sharedText{text: text, parts: partsOf(text), origin: Origin{Object: b.Source, Behaviour: b.Name}})
	}
	return nil
}

// partsOf splits shared text into its directives. A text with nested blocks is one part.
func partsOf(text string) []sharedPart {
	var parts []sharedPart
	head, nested := "", false
	syntax.Directives([]byte(text), func(d syntax.Directive) {
		part := text[d.Start:d.End]
		switch {
		case d.Opens && d.Depth > 0:
			nested = true
		case d.Opens:
			head = part
			parts = append(parts, sharedPart{head: head})
		case d.Depth > 0:
			parts = append(parts, sharedPart{head: head, text: part})
		default:
			parts = append(parts, sharedPart{text: part})
		}
	})
	if nested {
		return []sharedPart{{text: strings.TrimSuffix(text, "\n")}}
	}
	return parts
}

// shared prints the shared text of all servers. Blocks with the same head become one, with
// each directive once, so that one map can have the lines of many locations.
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
			r.page.from(b.lines[0].origin)
			r.page.WriteString(b.head + "\n")
		}
		for _, line := range b.lines {
			if line.text != "" {
				r.page.from(line.origin)
				r.page.WriteString(tabs + line.text + "\n")
			}
		}
		if b.head != "" {
			r.page.from(b.lines[0].origin)
			r.page.WriteString("}\n")
		}
	}
	return r.page.cut()
}

// merger merges shared texts, in the order of add.
type merger struct {
	texts  map[string]bool
	parts  map[sharedPart]bool
	blocks map[string]*mergedBlock
	order  []*mergedBlock
}

// mergedBlock has all lines with one head.
type mergedBlock struct {
	head  string
	lines []sharedLine
}

// sharedLine is a directive with its first origin.
type sharedLine struct {
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
		block.lines = append(block.lines, sharedLine{part.text, t.origin})
	}
}
