package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/model"
)

// Statement is one directive of a snippet, or the head of a block.
type Statement struct {
	// Tokens are the values of the tokens; the first is the name of the directive.
	Tokens []string
	// Line is where it begins, from 1. The bytes from Start to End are the directive, from its
	// name to its ";" or "{".
	Line, Start, End int
	// Depth is the number of blocks around it, and Block the name of the innermost one.
	// Opens is set for the head of a block.
	Depth int
	Block string
	Opens bool
}

// Name is the directive's name.
func (s Statement) Name() string { return s.Tokens[0] }

// Error is a mistake in a snippet.
type Error struct {
	// Line is the line of the mistake, from 1.
	Line int
	Text string
}

// Error returns the line and the text.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Parse reads a snippet: complete directives that can stand anywhere. It rejects a
// snippet that would change how nginx reads the text around it, and one whose end
// nginx finds by other rules, such as a block of Lua.
func Parse(text []byte) ([]Statement, error) {
	p := parser{text: text, line: 1, start: -1}
	for i, ch := range text {
		if err := p.step(i, ch); err != nil {
			return nil, err
		}
	}
	return p.all, p.done()
}

// parser is the state of one Parse.
type parser struct {
	lexer Lexer
	text  []byte
	all   []Statement
	// reading is the current directive, empty between two.
	reading Statement
	// open are the heads of the blocks that are open.
	open []Statement
	line int
	// start is the beginning of the current token or comment, -1 for none.
	start int
}

func (p *parser) step(i int, ch byte) error {
	if err := p.character(i, ch); err != nil {
		return err
	}
	before := p.lexer.Mode
	event := p.lexer.Step(ch)
	if event&Begin != 0 || before == Blank && p.lexer.Mode == Comment {
		p.start = i
	}
	if event&Begin != 0 && len(p.reading.Tokens) == 0 {
		p.reading.Line, p.reading.Start = p.line, i
	}
	if event&End != 0 {
		p.reading.Tokens = append(p.reading.Tokens, TokenValue(p.text[p.start:i]))
		p.start = -1
	}
	if before == Comment && p.lexer.Mode == Blank {
		p.start = -1
	}
	if p.start >= 0 && i-p.start >= model.LongestToken {
		return p.wrong(fmt.Sprintf("a token or comment of more than %d bytes", model.LongestToken))
	}
	p.reading.End = i + 1
	if err := p.mark(event, ch); err != nil {
		return err
	}
	if ch == '\n' {
		p.line++
	}
	return nil
}

// character rejects invisible characters, which nginx reads differently than an
// editor.
func (p *parser) character(i int, ch byte) error {
	switch {
	case ch == '\n', ch == '\t', ch == '\r' && i+1 < len(p.text) && p.text[i+1] == '\n':
		return nil
	case ch < utf8.RuneSelf && unicode.IsControl(rune(ch)):
		return p.wrong("the control character " + strconv.QuoteToASCII(string(rune(ch))))
	}
	return nil
}

// mark processes the end of a directive or a block.
func (p *parser) mark(event Event, ch byte) error {
	switch {
	case event&Wrong != 0:
		return p.wrong(fmt.Sprintf("%s directly behind a closing quote", strconv.QuoteToASCII(string(rune(ch)))))
	case event&Shut != 0:
		return p.shut()
	case event&(Semicolon|Open) == 0:
		return nil
	case len(p.reading.Tokens) == 0:
		return p.wrong(fmt.Sprintf("a %q without a directive", rune(ch)))
	}
	p.reading.Depth, p.reading.Opens = len(p.open), event&Open != 0
	if len(p.open) > 0 {
		p.reading.Block = p.open[len(p.open)-1].Name()
	}
	if event&Open != 0 {
		if strings.HasSuffix(p.reading.Name(), "_by_lua_block") {
			return p.wrong("a block of Lua, whose end nginx finds by other rules")
		}
		p.open = append(p.open, p.reading)
	}
	p.all, p.reading = append(p.all, p.reading), Statement{}
	return nil
}

func (p *parser) shut() error {
	switch {
	case len(p.reading.Tokens) > 0:
		return p.wrong(fmt.Sprintf(`a "}" in the directive %s, which lacks its ";"`, shown(p.reading.Name())))
	case len(p.open) == 0:
		return p.wrong(`a "}" that closes nothing`)
	}
	p.open = p.open[:len(p.open)-1]
	return nil
}

// done rejects open blocks at the end. A comment ends with the snippet.
func (p *parser) done() error {
	switch {
	case p.lexer.Mode == Double, p.lexer.Mode == Single:
		return p.wrong("a quote that nothing closes")
	case p.lexer.Mode == Bare && len(p.reading.Tokens) == 0:
		return &Error{p.reading.Line, fmt.Sprintf(`the directive %s lacks its ";"`, shown(TokenValue(p.text[p.start:])))}
	case p.lexer.Mode == Bare, len(p.reading.Tokens) > 0:
		return &Error{p.reading.Line, fmt.Sprintf(`the directive %s lacks its ";"`, shown(p.reading.Name()))}
	case len(p.open) > 0:
		last := p.open[len(p.open)-1]
		return &Error{last.Line, fmt.Sprintf(`no "}" closes the block %s`, shown(last.Name()))}
	case !utf8.Valid(p.text):
		return p.wrong("text that is not UTF-8")
	}
	return nil
}

func (p *parser) wrong(text string) error { return &Error{p.line, text} }

// shown quotes a name for a message.
func shown(name string) string { return strconv.QuoteToASCII(model.OneLine(name, 60)) }
