package pcre

// Shape is what a pattern's text tells of the work that it may be.
type Shape struct {
	// Size is an upper bound of what PCRE2's compiled form takes, in bytes, where
	// it is no more than 60,000.
	Size int
	// Anchored is set if a match can begin at the start of the subject only.
	Anchored bool
}

// ShapeOf reads a pattern and compiles nothing. The error is that of Compile, but
// for patterns that are only too large or that PCRE2 is mistaken about.
func ShapeOf(pattern string) (Shape, error) {
	p := &parser{in: pattern, ended: map[int]int{}}
	tree, err := p.parse()
	if err != nil {
		return Shape{}, err
	}
	return Shape{Size: tree.cost(), Anchored: anchored(tree)}, nil
}
