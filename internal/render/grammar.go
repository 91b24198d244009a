package render

import "math"

// unbounded is the greatest number of arguments where a template repeats one.
const unbounded = math.MaxInt

// counts is a range of numbers of arguments.
type counts struct{ min, max int }

func (c counts) holds(n int) bool { return c.min <= n && n <= c.max }

// union is the range from the least to the most of both.
func (c counts) union(o counts) counts { return counts{min(c.min, o.min), max(c.max, o.max)} }

// plus adds to both ends.
func (c counts) plus(n int) counts {
	if c.max == unbounded {
		return counts{c.min + n, unbounded}
	}
	return counts{c.min + n, c.max + n}
}

// node is what the templates can write within one kind of block: which
// directives and which blocks, with how many arguments. The nodes are a tree
// along nginx's blocks; blocks of one name in one place share a node.
type node struct {
	// name is the block's directive, "" for the file itself.
	name   string
	leaves map[string]counts
	blocks map[string]*node
	// head is how many arguments the block itself has.
	head counts
	// printed is set where a template prints the name of a directive, as the
	// key of a map.
	printed *counts
}

func newNode(name string) *node {
	return &node{name: name, leaves: map[string]counts{}, blocks: map[string]*node{}}
}

// takesValues reports whether what looks like a directive in the block is a
// value, so that a template may print it.
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

// block learns a block and gives its node.
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

// at gives the node of a path of blocks, made if it is not there.
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
