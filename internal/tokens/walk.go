package tokens

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"sluice/internal/syntax"
)

// Walker follows the parse trees of templates with nginx's lexer. It refuses a template
// that prints a value where no printer is safe, appends the printer `word` to every
// value without one, and learns the grammar of the templates.
//
// Its rules:
//   - At the start of a token, any printer is allowed.
//   - Within a word, a value has no printer, or `word`. It is then restricted to
//     letters, digits and _.:/-.
//   - Within quotes, in a comment, or behind a $ or a backslash, no value is allowed.
//   - A behaviour sets only variables that begin with its own name.
//   - The name of a directive is never a value, except in map, geo and split_clients
//     blocks.
//   - All branches of an if, with or range end in the same place.
type Walker struct {
	trees    map[string]*parse.Tree
	printers map[string]printer
	// Reached are the templates that are in use.
	Reached map[string]bool
	// calling are the templates on the way to the current one, to find loops.
	calling []*parse.Tree
	// Own begins the names of the current behaviour's variables; empty outside of one.
	Own string
	// OnLeaf is called with each directive of a root, and with raw for a snippet.
	OnLeaf func(name string)
	// OnRaw is called with the blocks around each snippet, the innermost last.
	OnRaw func(blocks []string) error
	// Used are the variables that the templates name.
	Used map[string]bool
	// Families begin the names of the variables that behaviours print.
	Families map[string]bool
}

// NewWalker returns a walker for templates, by their names.
func NewWalker(trees map[string]*parse.Tree) *Walker {
	return &Walker{trees: trees, printers: Printers(), Reached: map[string]bool{}, Used: map[string]bool{}, Families: map[string]bool{}}
}

// WalkRoot walks a template that Go executes.
func (w *Walker) WalkRoot(name string, inside *Node) error {
	tree := w.trees[name]
	if tree == nil {
		return fmt.Errorf("template %q is missing", name)
	}
	start := &place{stack: []*Node{inside}, keeps: w.Own != ""}
	end, err := w.call(name, start, func(text string) error { return fmt.Errorf("template %q: %s", name, text) })
	if err != nil {
		return err
	}
	if !end.same(start) {
		return fmt.Errorf("template %q ends %s: want it to end where a directive can start, in the block it began in", name, end)
	}
	return nil
}

// call walks a template that begins at a place.
func (w *Walker) call(name string, at *place, fail func(string) error) (*place, error) {
	tree := w.trees[name]
	if tree == nil {
		return nil, fail(fmt.Sprintf("there is no template %q", name))
	}
	if slices.Contains(w.calling, tree) {
		return nil, fail(fmt.Sprintf("template %q calls itself", name))
	}
	w.Reached[name] = true
	w.calling = append(w.calling, tree)
	end, err := w.list(tree, tree.Root, at)
	w.calling = w.calling[:len(w.calling)-1]
	return end, err
}

// list walks nodes one after the other. It does not change at.
func (w *Walker) list(tree *parse.Tree, list *parse.ListNode, at *place) (*place, error) {
	at = at.clone()
	if list == nil {
		return at, nil
	}
	for _, n := range list.Nodes {
		next, err := w.node(tree, n, at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (w *Walker) node(tree *parse.Tree, n parse.Node, at *place) (*place, error) {
	fail := func(text string) error { return failure(tree, n, text) }
	switch n := n.(type) {
	case *parse.TextNode:
		return at, w.text(n, at, fail)
	case *parse.ActionNode:
		return at, w.action(n, at, fail)
	case *parse.TemplateNode:
		return w.call(n.Name, at, fail)
	case *parse.IfNode:
		return w.branches(tree, &n.BranchNode, at, fail)
	case *parse.WithNode:
		return w.branches(tree, &n.BranchNode, at, fail)
	case *parse.RangeNode:
		return w.loop(tree, &n.BranchNode, at, fail)
	case *parse.CommentNode:
		return at, nil
	}
	return nil, fail("break and continue are not supported")
}

// failure returns an error with the position in the template's file.
func failure(tree *parse.Tree, n parse.Node, text string) error {
	location, _ := tree.ErrorContext(n)
	return fmt.Errorf("%s: %s", location, text)
}

func (w *Walker) branches(tree *parse.Tree, b *parse.BranchNode, at *place, fail func(string) error) (*place, error) {
	yes, err := w.list(tree, b.List, at)
	if err != nil {
		return nil, err
	}
	no, err := w.list(tree, b.ElseList, at)
	if err != nil {
		return nil, err
	}
	return join(yes, no, fail)
}

// loop walks a body that runs any number of times.
func (w *Walker) loop(tree *parse.Tree, b *parse.BranchNode, at *place, fail func(string) error) (*place, error) {
	once, err := w.list(tree, b.List, at)
	if err != nil {
		return nil, err
	}
	if once.tokens.Max > at.tokens.Max {
		once.tokens.Max = unbounded
	}
	again, err := join(at, once, fail)
	if err != nil || b.ElseList == nil {
		return again, err
	}
	none, err := w.list(tree, b.ElseList, at)
	if err != nil {
		return nil, err
	}
	return join(again, none, fail)
}

func join(a, b *place, fail func(string) error) (*place, error) {
	if !a.joins(b) {
		return nil, fail(fmt.Sprintf("the branches end in different places, %s and %s: close the token or the directive in each of them", a, b))
	}
	return a.join(b), nil
}

// text walks literal text.
func (w *Walker) text(n *parse.TextNode, at *place, fail func(string) error) error {
	for _, name := range slices.Concat(syntax.Variables(n.Text), syntax.Groups(n.Text)) {
		w.Used[name] = true
	}
	for _, ch := range n.Text {
		if err := w.step(ch, at); err != nil {
			return fail(err.Error())
		}
	}
	return nil
}

func (w *Walker) step(ch byte, at *place) error {
	event, mixed := at.step(ch), at.mixed
	at.mixed = false
	switch {
	case ch == RawMark[0]:
		return errors.New("NUL")
	case ch == '\n' && (at.lexer.Mode == syntax.Double || at.lexer.Mode == syntax.Single):
		return errors.New("a line ends within quotes")
	case event&syntax.Wrong != 0 || mixed && ch == ')':
		return fmt.Errorf("%q stands directly behind a token in quotes or a value", ch)
	case event&(syntax.Semicolon|syntax.Open) != 0 && at.tokens.Min == 0:
		return fmt.Errorf("%q without a directive", ch)
	case event&syntax.Semicolon != 0:
		err := w.sets(at, 1)
		w.leaf(at)
		return err
	case event&syntax.Open != 0:
		if at.printed {
			return errors.New("the name of a block is printed")
		}
		if err := w.sets(at, at.tokens.Max-1); err != nil {
			return err
		}
		at.enter()
	case event&syntax.Shut != 0:
		return at.leave()
	}
	return nil
}

// sets refuses a directive of a behaviour that sets a variable of others. token is the
// place of the variable behind the name of the directive, from 1.
func (w *Walker) sets(at *place, token int) error {
	if w.Own == "" || !setsVariable[at.name] || token < 1 || token > len(at.words) {
		return nil
	}
	if name := at.words[token-1]; name != "" && !strings.HasPrefix(name, "$"+w.Own) {
		return fmt.Errorf("%s sets %s: want a variable that begins with $%s", at.name, name, w.Own)
	}
	return nil
}

// setsVariable are the directives that set a variable: the first argument of set and
// auth_request_set, and the last argument of the blocks.
var setsVariable = map[string]bool{"set": true, "auth_request_set": true, "map": true, "geo": true, "split_clients": true}

func (w *Walker) leaf(at *place) {
	inside := at.inside()
	if at.printed {
		inside.Value(at.tokens.plus(-1))
	} else {
		inside.Leaf(at.name, at.tokens.plus(-1))
		if w.OnLeaf != nil {
			w.OnLeaf(at.name)
		}
	}
	at.reset()
}
