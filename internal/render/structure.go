package render

import (
	"fmt"
	"strconv"
)

// StructureError says that rendered text has something that no template wrote.
type StructureError struct {
	// Offset is where, in bytes from the start of the checked text.
	Offset int
	Text   string
}

// Error gives the text.
func (e *StructureError) Error() string { return e.Text }

// structure follows rendered text along the tree of what templates can write.
type structure struct {
	lexer lexer
	stack []*node
	// tokens are the tokens so far of the directive that is being read; first
	// is where the first one begins and name its value once it ended.
	tokens int
	first  int
	name   string
	// blocks are the blocks that ended at the outermost level.
	blocks int
	others int
}

func newStructure(from *node) *structure {
	return &structure{stack: append(make([]*node, 0, 8), from)}
}

// checkText checks text that is to stand in a block of the given kind.
func checkText(from *node, text []byte) error {
	s := newStructure(from)
	if err := s.feed(text); err != nil {
		return err
	}
	return s.done(len(text))
}

// checkBlock checks text that must be exactly one block.
func checkBlock(from *node, text []byte) error {
	s := newStructure(from)
	if err := s.feed(text); err != nil {
		return err
	}
	if err := s.done(len(text)); err != nil {
		return err
	}
	return s.single()
}

// single refuses everything but exactly one block.
func (s *structure) single() error {
	if s.blocks != 1 || s.others != 0 {
		return &StructureError{Text: fmt.Sprintf("%d blocks and %d directives where there must be one block", s.blocks, s.others)}
	}
	return nil
}

// feed takes whole directives: text may not end within a token.
func (s *structure) feed(text []byte) error {
	for i := 0; i < len(text); i++ {
		event := s.lexer.step(text[i])
		if event == 0 {
			continue
		}
		if event&begin != 0 {
			if s.tokens++; s.tokens == 1 {
				s.first = i
			}
		}
		if event&end != 0 && s.tokens == 1 {
			s.name = tokenValue(text[s.first:i])
		}
		if event&(semicolon|open|shut|wrong) != 0 {
			if err := s.mark(event); err != nil {
				err.Offset = i
				return err
			}
		}
	}
	return nil
}

// tokenValue is the value of a token that ended; the closing quote is missing.
func tokenValue(raw []byte) string {
	if len(raw) > 0 && (raw[0] == '"' || raw[0] == '\'') {
		raw = raw[1:]
	}
	for _, ch := range raw {
		if ch == '\\' {
			return string(unescape(raw))
		}
	}
	return string(raw)
}

func (s *structure) mark(event event) *StructureError {
	inside := s.stack[len(s.stack)-1]
	switch {
	case event&wrong != 0:
		return &StructureError{Text: "a character behind a closing quote"}
	case event&shut != 0:
		return s.leave()
	case s.tokens == 0:
		return &StructureError{Text: "a separator without a directive"}
	case event&open != 0:
		return s.enter(inside)
	}
	return s.directive(inside)
}

func (s *structure) directive(inside *node) *StructureError {
	args, known := inside.leaves[s.name]
	if !known && inside.printed != nil {
		args, known = *inside.printed, true
	}
	if !known || !args.holds(s.tokens-1) {
		return s.unknown(inside, "directive")
	}
	if len(s.stack) == 1 {
		s.others++
	}
	s.tokens = 0
	return nil
}

func (s *structure) enter(inside *node) *StructureError {
	next, known := inside.blocks[s.name]
	if !known || !next.head.holds(s.tokens-1) {
		return s.unknown(inside, "block")
	}
	s.stack = append(s.stack, next)
	s.tokens = 0
	return nil
}

func (s *structure) leave() *StructureError {
	if s.tokens != 0 || len(s.stack) == 1 {
		return &StructureError{Text: "a closing brace that closes nothing"}
	}
	if s.stack = s.stack[:len(s.stack)-1]; len(s.stack) == 1 {
		s.blocks++
	}
	return nil
}

func (s *structure) unknown(inside *node, kind string) *StructureError {
	name := s.name
	if len(name) > 60 {
		name = name[:60] + "..."
	}
	where := "at the outermost level"
	if inside.name != "" {
		where = "in " + inside.name
	}
	return &StructureError{Text: fmt.Sprintf("no template writes the %s %s with %d arguments %s", kind, strconv.QuoteToASCII(name), s.tokens-1, where)}
}

// done reports what is still open at the end.
func (s *structure) done(offset int) error {
	if s.lexer.mode != blank || s.tokens != 0 || len(s.stack) != 1 {
		return &StructureError{Offset: offset, Text: "the end within a directive or block"}
	}
	return nil
}
