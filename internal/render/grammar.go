package render

import "math"

// unbounded is the maximum of arguments if a template repeats one.
const unbounded = math.MaxInt

// counts is a range of numbers of arguments.
type counts struct{ min, max int }

func (c counts) holds(n int) bool { return c.min <= n && n <= c.max }

// union is the range from the least to the most of both.
func (c counts) union(o counts) counts { return counts{min(c.min, o.min), max(c.max, o.max)} }

// plus adds n to both ends.
func (c counts) plus(n int) counts {
	if c.max == unbounded {
		return counts{c.min + n, unbounded}
	}
	return counts{c.min + n, c.max + n}
}

// node is the grammar of one kind of block: its directives and blocks with their numbers
// of arguments. The nodes are a tree like nginx's blocks. Blocks of one name in one place
// share a node.
type node struct {
	// name is the block's directive, "" for the file itself.
	name   string
	leaves map[string]counts
	blocks map[string]*node
	// head counts the arguments of the block itself.
	head counts
	// printed is set if a template prints the names of directives: the keys of a map.
	printed *counts
}

func newNode(name string) *node {
	return &node{name: name, leaves: map[string]counts{}, blocks: map[string]*node{}}
}

// takesValues reports whether the names of directives in the block are values, which a
// template may print.
func (n *node) takesValues() bool {
	switch n.name {
	case "map", "geo", "split_clients":
		return true
	}
	return false
}

// leaf learns a directive.
func (n *node) leaf(name string, args counts) {
	if known, ok := n.leaves[name]; ok {
		args = args.union(known)
	}
	n.leaves[name] = args
}

// value learns a directive whose name is printed.
func (n *node) value(args counts) {
	if n.printed != nil {
		args = args.union(*n.printed)
	}
	n.printed = &args
}

// block learns a block, and returns its node.
func (n *node) block(name string, args counts) *node {
	known, ok := n.blocks[name]
	if !ok {
		known = newNode(name)
		known.head = args
		n.blocks[name] = known
	}
	known.head = known.head.union(args)
	return known
}

// at returns the node of a path of blocks. It adds missing ones.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		next, ok := n.blocks[name]
		if !ok {
			next = newNode(name)
			next.head = counts{unbounded, 0}
			n.blocks[name] = next
		}
		n = next
	}
	return n
}
