package render

import (
	"fmt"
	"slices"

	"sluice/internal/syntax"
)

// place is where in nginx's language a template stands.
type place struct {
	lexer syntax.Lexer
	// stack are the blocks, the innermost last.
	stack []*node
	// tokens is how many tokens of the current directive began.
	tokens counts
	// name is the text of its first token so far; printed is set if a value
	// is printed there.
	name    string
	printed bool
	// words are the texts of its next tokens so far, without what is printed; they are
	// kept where variables that are set are looked at.
	words [2]string
	keeps bool
	// mixed is set where a separator must follow because some ways through end
	// a word and others something else. A ) would not mean the same to all.
	mixed bool
}

func (p *place) clone() *place {
	c := *p
	c.stack = slices.Clone(p.stack)
	return &c
}

func (p *place) inside() *node { return p.stack[len(p.stack)-1] }

// naming reports whether the directive's name is being read.
func (p *place) naming() bool { return p.tokens.max == 1 }

// step takes a byte of text.
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
	if at := p.tokens.max - 2; p.keeps && at >= 0 && at < len(p.words) && p.tokens.min == p.tokens.max && event&syntax.End == 0 && p.lexer.Mode != syntax.Blank {
		p.words[at] += string(ch)
	}
	if event&syntax.End != 0 && p.naming() {
		p.name = string(syntax.Unescape([]byte(p.name)))
	}
	return event
}

// enter learns the block that begins and goes into it.
func (p *place) enter() {
	next := p.inside().block(p.name, p.tokens.plus(-1))
	p.stack = append(p.stack, next)
	p.reset()
}

func (p *place) leave() error {
	if p.tokens.max != 0 {
		return fmt.Errorf("} within the directive %q: want a ; before", p.name)
	}
	if len(p.stack) == 1 {
		return fmt.Errorf("} closes a block that the template did not open")
	}
	p.stack = p.stack[:len(p.stack)-1]
	return nil
}

// reset forgets the directive that ended.
func (p *place) reset() { p.tokens, p.name, p.printed, p.words = counts{}, "", false, [2]string{} }

// joins reports whether the walk can go on from both places in the same way.
func (p *place) joins(o *place) bool {
	return slices.Equal(p.stack, o.stack) && p.name == o.name && p.printed == o.printed && (!setsVariable[p.name] || p.words == o.words) &&
		(p.tokens.min == 0) == (o.tokens.min == 0) && (p.alike(o) || p.ended() && o.ended())
}

// alike reports whether any byte that follows means the same in both.
func (p *place) alike(o *place) bool {
	return p.lexer == o.lexer && (p.lexer.Mode == syntax.Blank || p.naming() == o.naming())
}

// ended reports whether the token ends here if a separator follows.
func (p *place) ended() bool {
	return p.lexer == syntax.Lexer{Mode: syntax.Closed} || p.lexer == syntax.Lexer{Mode: syntax.Bare}
}

// join goes on from both places.
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

// String describes the place for who writes templates.
func (p *place) String() string {
	where := map[syntax.Mode]string{
		syntax.Blank: "between tokens", syntax.Bare: "in a word", syntax.Double: `in "..."`, syntax.Single: "in '...'",
		syntax.Closed: "behind a token in quotes or a value", syntax.Comment: "in a comment",
	}[p.lexer.Mode]
	if p.tokens.max > 0 {
		where += fmt.Sprintf(" of the directive %q", p.name)
	}
	if block := p.inside().name; block != "" {
		where += " in the block " + block
	}
	return where
}
