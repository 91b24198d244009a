package tokens

import (
	"errors"
	"fmt"
	"strconv"
	"text/template/parse"

	"sluice/internal/syntax"
)

// InsertName is the function that inserts rendered text into a template. Only package
// render can make its argument.
const InsertName = "insert"

// RawName is the function that prints a snippet unchanged. Package annotations drops
// snippets unless the administrator allows them.
const RawName = "raw"

// RawMark marks both ends of a snippet between the function and the page. No printer and
// no template can write it.
const RawMark = "\x00"

// action chooses the printer of a value, and moves the place behind it.
func (w *Walker) action(n *parse.ActionNode, at *place, fail func(string) error) error {
	if len(n.Pipe.Decl) > 0 {
		return nil // {{ $x := ... }} prints nothing.
	}
	name := lastFunction(n.Pipe)
	err := error(nil)
	switch {
	case name == RawName:
		err = w.snippet(at)
	case name == InsertName:
		err = atStart(name, at)
	case at.lexer.Mode == syntax.Blank:
		err = w.token(n.Pipe, name, at)
	case at.lexer.Mode == syntax.Bare:
		err = w.part(n.Pipe, name, at)
	default:
		err = fmt.Errorf("a value is printed %s: print it where a token starts", at)
	}
	if err != nil {
		return fail(err.Error())
	}
	return nil
}

// snippet takes a place for a snippet.
func (w *Walker) snippet(at *place) error {
	if err := atStart(RawName, at); err != nil {
		return err
	}
	if w.OnLeaf != nil {
		w.OnLeaf(RawName)
	}
	if w.OnRaw == nil {
		return nil
	}
	blocks := make([]string, 0, len(at.stack))
	for _, node := range at.stack {
		blocks = append(blocks, node.Name)
	}
	return w.OnRaw(blocks)
}

func atStart(name string, at *place) error {
	if at.lexer.Mode != syntax.Blank || at.tokens.Max != 0 {
		return fmt.Errorf("%s %s: want it where a directive can start", name, at)
	}
	return nil
}

// lastFunction returns the last function of a pipeline, "" for none.
func lastFunction(pipe *parse.PipeNode) string {
	last := pipe.Cmds[len(pipe.Cmds)-1]
	if identifier, ok := last.Args[0].(*parse.IdentifierNode); ok {
		return identifier.Ident
	}
	return ""
}

// token handles a value that is a whole token.
func (w *Walker) token(pipe *parse.PipeNode, name string, at *place) error {
	at.tokens = at.tokens.plus(1)
	if at.naming() {
		if !at.inside().takesValues() {
			return errors.New("the name of a directive is printed")
		}
		at.printed = true
	}
	if _, ok := w.printers[name]; !ok {
		name = "word"
		pass(pipe, name)
	}
	if name == "variable" && w.Own != "" {
		w.Families[w.Own] = true
		if err := allow(pipe, w.Own); err != nil {
			return err
		}
	}
	switch name {
	case "str", "literal", "regex", "logformat", "jsonformat", "streamformat", "verbatim", "header", "url", "parameter", "mapkey", "mappattern", "variables", "path", "lines":
		at.lexer.Mode = syntax.Closed
	default:
		at.lexer.Mode = syntax.Bare
	}
	return nil
}

// part handles a value within a word.
func (w *Walker) part(pipe *parse.PipeNode, name string, at *place) error {
	switch {
	case at.lexer.Escaped || at.lexer.Variable:
		return errors.New("a value is printed directly behind a backslash or a $")
	case at.naming():
		return errors.New("a part of the name of a directive is printed")
	}
	switch _, prints := w.printers[name]; {
	case name == "part":
	case name == "word":
		last := pipe.Cmds[len(pipe.Cmds)-1].Args[0].(*parse.IdentifierNode)
		last.Ident = "part"
	case prints:
		return fmt.Errorf("%s prints whole tokens, and this is within a word", name)
	default:
		pass(pipe, "part")
	}
	return nil
}

// allow lets the printer of a variable print those of a behaviour too.
func allow(pipe *parse.PipeNode, own string) error {
	last := pipe.Cmds[len(pipe.Cmds)-1]
	if len(last.Args) == 1 {
		last.Args = append(last.Args, &parse.StringNode{NodeType: parse.NodeString, Pos: pipe.Pos, Quoted: strconv.Quote(own), Text: own})
	}
	if given, ok := last.Args[1].(*parse.StringNode); !ok || given.Text != own {
		return errors.New("two behaviours print a variable by one template")
	}
	return nil
}

// pass appends a function to a pipeline.
func pass(pipe *parse.PipeNode, function string) {
	identifier := parse.NewIdentifier(function).SetPos(pipe.Pos)
	pipe.Cmds = append(pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pipe.Pos, Args: []parse.Node{identifier}})
}
