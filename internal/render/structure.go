package render

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// StructureError is the error of text that no template wrote.
type StructureError struct {
	Text string
}

// Error gives the text.
func (e *StructureError) Error() string { return e.Text }

// structure compares rendered text with the grammar of the templates.
type structure struct {
	lexer syntax.Lexer
	stack []*tokens.Node
	// tokens counts the tokens so far of the current directive; name is the first one
	// when it has ended.
	tokens int
	name   string
	// last is the position of the last token so far, and script its value if it may be a
	// Lua file.
	last   int
	script string
	// blocks and directives count those at the outermost level.
	blocks     int
	directives int
}

func newStructure(from *tokens.Node) *structure {
	return &structure{stack: append(make([]*tokens.Node, 0, 8), from)}
}

// checkText checks text for a place in the file. Snippets in it need only be closed.
func checkText(from *tokens.Node, text []byte, raw ...extent) error {
	return newStructure(from).whole(text, raw...)
}

// checkBlock checks text that must be exactly one block.
func checkBlock(from *tokens.Node, text []byte, raw ...extent) error {
	s := newStructure(from)
	if err := s.whole(text, raw...); err != nil {
		return err
	}
	return s.single()
}

// whole checks a whole text.
func (s *structure) whole(text []byte, raw ...extent) error {
	if err := s.feed(text, raw...); err != nil {
		return err
	}
	return s.done()
}

// single refuses everything but exactly one block.
func (s *structure) single() error {
	if s.blocks != 1 || s.directives != 0 {
		return &StructureError{Text: fmt.Sprintf("%d blocks and %d directives where there must be one block", s.blocks, s.directives)}
	}
	return nil
}

// feed checks text that does not end within a token. It skips snippets, which must be
// closed.
func (s *structure) feed(text []byte, raw ...extent) error {
	done := 0
	for _, e := range raw {
		if err := s.read(text[:e.start], done); err != nil {
			return err
		}
		if err := s.pass(text[e.start:e.end]); err != nil {
			return err
		}
		done = e.end
	}
	return s.read(text, done)
}

// pass skips a snippet.
func (s *structure) pass(snippet []byte) *StructureError {
	if s.lexer.Mode != syntax.Blank || s.tokens != 0 {
		return &StructureError{Text: "a snippet within a directive"}
	}
	if _, err := syntax.Parse(snippet); err != nil {
		return &StructureError{Text: "a snippet is not closed: " + err.Error()}
	}
	if !bytes.HasSuffix(snippet, []byte("\n")) {
		return &StructureError{Text: "a snippet without a line end, so that its comment would go on"}
	}
	return nil
}

func (s *structure) read(text []byte, from int) error {
	for i := from; i < len(text); i++ {
		event := s.lexer.Step(text[i])
		if event == 0 {
			continue
		}
		if event&syntax.Begin != 0 {
			s.tokens++
			s.last = i
		}
		if event&syntax.End != 0 {
			s.token(text[s.last:i])
		}
		if event&(syntax.Semicolon|syntax.Open|syntax.Shut|syntax.Wrong) != 0 {
			if err := s.mark(event); err != nil {
				return err
			}
		}
	}
	return nil
}

// token notes a token that has ended.
func (s *structure) token(text []byte) {
	switch {
	case s.tokens == 1:
		s.name = syntax.TokenValue(text)
	case s.tokens == 2 && strings.HasSuffix(s.name, luaFile), s.tokens == 3 && s.name == "set"+luaFile: // which has a variable before the file
		s.script = syntax.TokenValue(text)
	}
}

// luaFile ends the names of directives that run a file.
const luaFile = "_by_lua_file"

// ownScript matches the paths of our Lua files.
var ownScript = regexp.MustCompile(`/sluice/entry/[a-z_]+\.lua$`)

func (s *structure) mark(event syntax.Event) *StructureError {
	inside := s.stack[len(s.stack)-1]
	switch {
	case event&syntax.Wrong != 0:
		return &StructureError{Text: "a character behind a closing quote"}
	case event&syntax.Shut != 0:
		return s.leave()
	case s.tokens == 0:
		return &StructureError{Text: "a separator without a directive"}
	case event&syntax.Open != 0:
		return s.enter(inside)
	}
	return s.directive(inside)
}

func (s *structure) directive(inside *tokens.Node) *StructureError {
	args, known := inside.Leaves[s.name]
	if !known && inside.Printed != nil {
		args, known = *inside.Printed, true
	}
	foreign := strings.HasSuffix(s.name, luaFile) && !ownScript.MatchString(s.script)
	if !known || !args.Holds(s.tokens-1) || foreign {
		return s.unknown(inside, "directive")
	}
	if len(s.stack) == 1 {
		s.directives++
	}
	s.tokens = 0
	return nil
}

func (s *structure) enter(inside *tokens.Node) *StructureError {
	next, known := inside.Blocks[s.name]
	if !known || !next.Head.Holds(s.tokens-1) {
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

func (s *structure) unknown(inside *tokens.Node, kind string) *StructureError {
	where := "at the outermost level"
	if inside.Name != "" {
		where = "in " + inside.Name
	}
	return &StructureError{Text: fmt.Sprintf("no template writes the %s %s with %d arguments %s", kind, model.Quoted(s.name), s.tokens-1, where)}
}

// done refuses text that ends within a directive or a block.
func (s *structure) done() error {
	if s.lexer.Mode != syntax.Blank || s.tokens != 0 || len(s.stack) != 1 {
		return &StructureError{Text: "the end within a directive or block"}
	}
	return nil
}
