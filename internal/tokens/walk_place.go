package tokens

import (
	"fmt"
	"slices"

	"sluice/internal/syntax"
)

// place is a position of a walk in nginx's language.
type place struct {
	lexer syntax.Lexer
	// stack are the blocks, the innermost last.
	stack []*Node
	// tokens counts the tokens of the current directive, complete or not.
	tokens Counts
	// name is the text of the first token so far; printed is set if it has a value.
	name    string
	printed bool
	// words are the texts of the next two tokens so far, without values; only kept if
	// keeps is set.
	words [2]string
	keeps bool
	// mixed is set if some branches end a word and others another token. A separator
	// must follow, because a ) would mean different things.
	mixed bool
}

func (p *place) clone() *place {
	c := *p
	c.stack = slices.Clone(p.stack)
	return &c
}

func (p *place) inside() *Node { return p.stack[len(p.stack)-1] }

// naming reports whether the place is in the name of a directive.
func (p *place) naming() bool { return p.tokens.Max == 1 }

// step processes a byte of text.
func (p *place) step(ch byte) syntax.Event {
	before := p.lexer.Mode
	event := p.lexer.Step(ch)
	switch {
	case event&syntax.Begin != 0:
		p.tokens = p.tokens.plus(1)
		if p.naming() && p.lexer.Mode == syntax.Bare {
			p.name = string(ch)
		}
	case event&syntax.End == 0 && p.naming() && (before == syntax.Bare || before == syntax.Single || before == syntax.Double):
		p.name += string(ch)
	}
	if at := p.tokens.Max - 2; p.keeps && at >= 0 && at < len(p.words) && p.tokens.Min == p.tokens.Max && event&syntax.End == 0 && p.lexer.Mode != syntax.Blank {
		p.words[at] += string(ch)
	}
	if event&syntax.End != 0 && p.naming() {
		p.name = string(syntax.Unescape([]byte(p.name)))
	}
	return event
}

// enter learns a block, and moves into it.
func (p *place) enter() {
	next := p.inside().Block(p.name, p.tokens.plus(-1))
	p.stack = append(p.stack, next)
	p.reset()
}

func (p *place) leave() error {
	if p.tokens.Max != 0 {
		return fmt.Errorf("} within the directive %q: want a ; before it", p.name)
	}
	if len(p.stack) == 1 {
		return fmt.Errorf("} closes a block that the template did not open")
	}
	p.stack = p.stack[:len(p.stack)-1]
	return nil
}

// reset begins another directive.
func (p *place) reset() { p.tokens, p.name, p.printed, p.words = Counts{}, "", false, [2]string{} }

// joins reports whether one walk can continue from both places.
func (p *place) joins(o *place) bool {
	return slices.Equal(p.stack, o.stack) && p.name == o.name && p.printed == o.printed && (!setsVariable[p.name] || p.words == o.words) &&
		(p.tokens.Min == 0) == (o.tokens.Min == 0) && (p.alike(o) || p.ended() && o.ended())
}

// alike reports whether any following byte means the same in both places.
func (p *place) alike(o *place) bool {
	return p.lexer == o.lexer && (p.lexer.Mode == syntax.Blank || p.naming() == o.naming())
}

// ended reports whether a separator would end the token.
func (p *place) ended() bool {
	return p.lexer == syntax.Lexer{Mode: syntax.Closed} || p.lexer == syntax.Lexer{Mode: syntax.Bare}
}

// join returns the place of a walk that continues from both places.
func (p *place) join(o *place) *place {
	joined := p.clone()
	joined.tokens = p.tokens.union(o.tokens)
	if !p.alike(o) {
		joined.lexer, joined.mixed = syntax.Lexer{Mode: syntax.Closed}, true
	}
	return joined
}

// same reports whether both are the same place.
func (p *place) same(o *place) bool { return p.joins(o) && p.alike(o) && p.tokens == o.tokens }

// String describes the place to authors of templates.
func (p *place) String() string {
	where := map[syntax.Mode]string{
		syntax.Blank: "between tokens", syntax.Bare: "in a word", syntax.Double: `in "..."`, syntax.Single: "in '...'",
		syntax.Closed: "behind a token in quotes or a value", syntax.Comment: "in a comment",
	}[p.lexer.Mode]
	if p.tokens.Max > 0 {
		where += fmt.Sprintf(" of the directive %q", p.name)
	}
	if block := p.inside().Name; block != "" {
		where += " in the block " + block
	}
	return where
}
