package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"sluice/internal/syntax"
)

// guard walks the parse trees of templates along nginx's lexer. It refuses a
// template that prints where no printer is safe, appends the printer `word` to
// every value that has none, and learns what the templates can write.
//
// Its rules:
//   - where a token may start, any printer;
//   - within a word, only values without a printer or with `word`, which then
//     are restricted to letters, digits and _.:/-;
//   - within quotes, in a comment, or behind a $ or a backslash: nothing;
//   - a behaviour sets only variables that begin with its own name;
//   - the name of a directive is never printed, but for the values of map, geo
//     and split_clients blocks;
//   - both ways through an if, with or range end in the same place.
type guard struct {
	trees    map[string]*parse.Tree
	printers map[string]printer
	// reached are the templates that something runs.
	reached map[string]bool
	// calling are the templates that the walk is in, to find loops.
	calling []*parse.Tree
	// own begins the variables of the behaviour that is walked, empty outside of one.
	own string
	// onLeaf is told each directive of a root, and raw for a snippet.
	onLeaf func(name string)
	// used are the variables that the templates name.
	used map[string]bool
	// families are the beginnings of the names of variables that behaviours print.
	families map[string]bool
}

// walkRoot walks a template that is executed by itself within a block.
func (g *guard) walkRoot(name string, inside *node) error {
	tree := g.trees[name]
	if tree == nil {
		return fmt.Errorf("template %q is missing", name)
	}
	start := &place{stack: []*node{inside}, keeps: g.own != ""}
	end, err := g.call(name, start, func(text string) error { return fmt.Errorf("template %q: %s", name, text) })
	if err != nil {
		return err
	}
	if !end.same(start) {
		return fmt.Errorf("template %q ends %s: want it to end where a directive can start, in the block it began in", name, end)
	}
	return nil
}

// call walks a template from a place.
func (g *guard) call(name string, at *place, fail func(string) error) (*place, error) {
	tree := g.trees[name]
	if tree == nil {
		return nil, fail(fmt.Sprintf("there is no template %q", name))
	}
	if slices.Contains(g.calling, tree) {
		return nil, fail(fmt.Sprintf("template %q calls itself", name))
	}
	g.reached[name] = true
	g.calling = append(g.calling, tree)
	end, err := g.list(tree, tree.Root, at)
	g.calling = g.calling[:len(g.calling)-1]
	return end, err
}

// list walks nodes one after the other. It does not change at.
func (g *guard) list(tree *parse.Tree, list *parse.ListNode, at *place) (*place, error) {
	at = at.clone()
	if list == nil {
		return at, nil
	}
	for _, n := range list.Nodes {
		next, err := g.node(tree, n, at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (g *guard) node(tree *parse.Tree, n parse.Node, at *place) (*place, error) {
	fail := func(text string) error { return failure(tree, n, text) }
	switch n := n.(type) {
	case *parse.TextNode:
		return at, g.text(n, at, fail)
	case *parse.ActionNode:
		return at, g.action(n, at, fail)
	case *parse.TemplateNode:
		return g.call(n.Name, at, fail)
	case *parse.IfNode:
		return g.branches(tree, &n.BranchNode, at, fail)
	case *parse.WithNode:
		return g.branches(tree, &n.BranchNode, at, fail)
	case *parse.RangeNode:
		return g.loop(tree, &n.BranchNode, at, fail)
	case *parse.CommentNode:
		return at, nil
	}
	return nil, fail("break and continue are not supported")
}

// failure says where in the template's file something is wrong.
func failure(tree *parse.Tree, n parse.Node, text string) error {
	location, _ := tree.ErrorContext(n)
	return fmt.Errorf("%s: %s", location, text)
}

func (g *guard) branches(tree *parse.Tree, b *parse.BranchNode, at *place, fail func(string) error) (*place, error) {
	yes, err := g.list(tree, b.List, at)
	if err != nil {
		return nil, err
	}
	no, err := g.list(tree, b.ElseList, at)
	if err != nil {
		return nil, err
	}
	return join(yes, no, fail)
}

// loop walks a body that runs any number of times.
func (g *guard) loop(tree *parse.Tree, b *parse.BranchNode, at *place, fail func(string) error) (*place, error) {
	once, err := g.list(tree, b.List, at)
	if err != nil {
		return nil, err
	}
	if once.tokens.max > at.tokens.max {
		once.tokens.max = unbounded
	}
	again, err := join(at, once, fail)
	if err != nil || b.ElseList == nil {
		return again, err
	}
	none, err := g.list(tree, b.ElseList, at)
	if err != nil {
		return nil, err
	}
	return join(again, none, fail)
}

func join(a, b *place, fail func(string) error) (*place, error) {
	if !a.joins(b) {
		return nil, fail(fmt.Sprintf("the ways through this end in different places, %s and %s: close the token or the directive in each of them", a, b))
	}
	return a.join(b), nil
}

// text walks literal text.
func (g *guard) text(n *parse.TextNode, at *place, fail func(string) error) error {
	for _, name := range syntax.Variables(n.Text) {
		g.used[name] = true
	}
	for _, ch := range n.Text {
		if err := g.step(ch, at); err != nil {
			return fail(err.Error())
		}
	}
	return nil
}

func (g *guard) step(ch byte, at *place) error {
	event, mixed := at.step(ch), at.mixed
	at.mixed = false
	switch {
	case ch == rawMark[0]:
		return errors.New("NUL")
	case ch == '\n' && (at.lexer.Mode == syntax.Double || at.lexer.Mode == syntax.Single):
		return errors.New("a line ends within quotes")
	case event&syntax.Wrong != 0 || mixed && ch == ')':
		return fmt.Errorf("%q stands directly behind a token in quotes or a value", ch)
	case event&(syntax.Semicolon|syntax.Open) != 0 && at.tokens.min == 0:
		return fmt.Errorf("%q without a directive", ch)
	case event&syntax.Semicolon != 0:
		err := g.sets(at, 1)
		g.leaf(at)
		return err
	case event&syntax.Open != 0:
		if at.printed {
			return errors.New("the name of a block is printed")
		}
		if err := g.sets(at, at.tokens.max-1); err != nil {
			return err
		}
		at.enter()
	case event&syntax.Shut != 0:
		return at.leave()
	}
	return nil
}

// sets refuses a directive of a behaviour that sets a variable which is not its own.
// The variable is the token at some place behind the name.
func (g *guard) sets(at *place, token int) error {
	if g.own == "" || !setsVariable[at.name] || token < 1 || token > len(at.words) {
		return nil
	}
	if name := at.words[token-1]; name != "" && !strings.HasPrefix(name, "$"+g.own) {
		return fmt.Errorf("%s sets %s: want a variable that begins with $%s", at.name, name, g.own)
	}
	return nil
}

// setsVariable are the directives that set a variable: set and auth_request_set their
// first argument, the blocks their last.
var setsVariable = map[string]bool{"set": true, "auth_request_set": true, "map": true, "geo": true, "split_clients": true}

func (g *guard) leaf(at *place) {
	inside := at.inside()
	if at.printed {
		inside.value(at.tokens.plus(-1))
	} else {
		inside.leaf(at.name, at.tokens.plus(-1))
		if g.onLeaf != nil {
			g.onLeaf(at.name)
		}
	}
	at.reset()
}
