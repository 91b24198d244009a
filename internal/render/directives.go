package render

import "math/bits"

// directive is one directive of rendered text, or the head of a block.
type directive struct {
	name string
	// arg is the first argument, "" for none.
	arg string
	// block is the name of the block that it is in, depth how deep that is.
	block string
	depth int
	// start and end are where it is in the text, separator included.
	start, end int
	opens      bool
}

// directives calls visit with each directive of text that has passed the
// structure check.
func directives(text []byte, visit func(directive)) {
	var lex lexer
	var blocks []string
	var d directive
	tokens, first := 0, 0
	for i, ch := range text {
		event := lex.step(ch)
		if event&begin != 0 {
			if tokens++; tokens == 1 {
				d = directive{start: i, depth: len(blocks)}
			}
			first = i
		}
		if event&end != 0 {
			switch tokens {
			case 1:
				d.name = tokenValue(text[first:i])
			case 2:
				d.arg = tokenValue(text[first:i])
			}
		}
		if event&shut != 0 && len(blocks) > 0 {
			blocks = blocks[:len(blocks)-1]
		}
		if event&(semicolon|open) != 0 {
			d.end, d.opens, tokens = i+1, event&open != 0, 0
			if n := len(blocks); n > 0 {
				d.block = blocks[n-1]
			}
			visit(d)
			if d.opens {
				blocks = append(blocks, d.name)
			}
		}
	}
}

// powerOfTwo is the least power of two that is not below n.
func powerOfTwo(n int) int {
	if n < 2 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}
