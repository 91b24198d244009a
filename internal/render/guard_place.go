package render

import (
	"fmt"
	"slices"
)

// place is where in nginx's language a template stands.
type place struct {
	lexer lexer
	// stack are the blocks, the innermost last.
	stack []*node
	// tokens is how many tokens of the current directive began.
	tokens counts
	// name is the text of its first token so far; printed is set if a value
	// is printed there.
	name    string
	printed bool
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
func (p *place) step(ch byte) event {
	before := p.lexer.mode
	event := p.lexer.step(ch)
	switch {
	case event&begin != 0:
		p.tokens = p.tokens.plus(1)
		if p.naming() && p.lexer.mode == bare {
			p.name = string(ch)
		}
	case event&end == 0 && p.naming() && (before == bare || before == single || before == double):
		p.name += string(ch)
	}
	if event&end != 0 && p.naming() {
		p.name = string(unescape([]byte(p.name)))
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
func (p *place) reset() { p.tokens, p.name, p.printed = counts{}, "", false }

// joins reports whether the walk can go on from both places in the same way.
func (p *place) joins(o *place) bool {
	return slices.Equal(p.stack, o.stack) && p.name == o.name && p.printed == o.printed &&
		(p.tokens.min == 0) == (o.tokens.min == 0) && (p.alike(o) || p.ended() && o.ended())
}

// alike reports whether any byte that follows means the same in both.
func (p *place) alike(o *place) bool {
	return p.lexer == o.lexer && (p.lexer.mode == blank || p.naming() == o.naming())
}

// ended reports whether the token ends here if a separator follows.
func (p *place) ended() bool {
	return p.lexer == lexer{mode: closed} || p.lexer == lexer{mode: bare}
}

// join goes on from both places.
func (p *place) join(o *place) *place {
	joined := p.clone()
	joined.tokens = p.tokens.union(o.tokens)
	if !p.alike(o) {
		joined.lexer, joined.mixed = lexer{mode: closed}, true
	}
	return joined
}

// same reports whether both are the same place.
func (p *place) same(o *place) bool { return p.joins(o) && p.alike(o) && p.tokens == o.tokens }

// String describes the place for who writes templates.
func (p *place) String() string {
	where := map[mode]string{
		blank: "between tokens", bare: "in a word", double: `in "..."`, single: "in '...'",
		closed: "behind a token in quotes or a value", comment: "in a comment",
	}[p.lexer.mode]
	if p.tokens.max > 0 {
		where += fmt.Sprintf(" of the directive %q", p.name)
	}
	if block := p.inside().name; block != "" {
		where += " in the block " + block
	}
	return where
}
