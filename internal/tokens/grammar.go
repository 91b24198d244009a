package tokens

import "math"

// unbounded is the maximum of arguments if a template repeats one.
const unbounded = math.MaxInt

// Counts is a range of numbers of arguments.
type Counts struct{ Min, Max int }

// Holds reports whether a directive may have n arguments.
func (c Counts) Holds(n int) bool { return c.Min <= n && n <= c.Max }

// union is the range from the least to the most of both.
func (c Counts) union(o Counts) Counts { return Counts{min(c.Min, o.Min), max(c.Max, o.Max)} }

// plus adds n to both ends.
func (c Counts) plus(n int) Counts {
	if c.Max == unbounded {
		return Counts{c.Min + n, unbounded}
	}
	return Counts{c.Min + n, c.Max + n}
}

// Node is the grammar of one kind of block: its directives and blocks with their numbers
// of arguments. The nodes are a tree like nginx's blocks. Blocks of one name in one place
// share a node.
type Node struct {
	// Name is the block's directive, "" for the file itself.
	Name   string
	Leaves map[string]Counts
	Blocks map[string]*Node
	// Head counts the arguments of the block itself.
	Head Counts
	// Printed is set if a template prints the names of directives: the keys of a map.
	Printed *Counts
}

// NewNode returns the grammar of a block without directives.
func NewNode(name string) *Node {
	return &Node{Name: name, Leaves: map[string]Counts{}, Blocks: map[string]*Node{}}
}

// takesValues reports whether the names of directives in the block are values, which a
// template may print.
func (n *Node) takesValues() bool {
	switch n.Name {
	case "map", "geo", "split_clients":
		return true
	}
	return false
}

// Leaf learns a directive.
func (n *Node) Leaf(name string, args Counts) {
	if known, ok := n.Leaves[name]; ok {
		args = args.union(known)
	}
	n.Leaves[name] = args
}

// Value learns a directive whose name is printed.
func (n *Node) Value(args Counts) {
	if n.Printed != nil {
		args = args.union(*n.Printed)
	}
	n.Printed = &args
}

// Block learns a block, and returns its node.
func (n *Node) Block(name string, args Counts) *Node {
	known, ok := n.Blocks[name]
	if !ok {
		known = NewNode(name)
		known.Head = args
		n.Blocks[name] = known
	}
	known.Head = known.Head.union(args)
	return known
}

// At returns the node of a path of blocks. It adds missing ones.
func (n *Node) At(path ...string) *Node {
	for _, name := range path {
		next, ok := n.Blocks[name]
		if !ok {
			next = NewNode(name)
			next.Head = Counts{unbounded, 0}
			n.Blocks[name] = next
		}
		n = next
	}
	return n
}
