package syntax

// Directive is one directive of rendered text, or the head of a block.
type Directive struct {
	Name string
	// Arg is the first argument, "" for none.
	Arg string
	// Block is the name of the enclosing block, and Depth its nesting.
	Block string
	Depth int
	// Start and End are its position in the text, including the separator.
	Start, End int
	Opens      bool
}

// Directives calls visit with each directive of a text. The text must have passed the
// structure check.
func Directives(text []byte, visit func(Directive)) {
	var lex Lexer
	var blocks []string
	var d Directive
	tokens, first := 0, 0
	for i, ch := range text {
		event := lex.Step(ch)
		if event&Begin != 0 {
			if tokens++; tokens == 1 {
				d = Directive{Start: i, Depth: len(blocks)}
			}
			first = i
		}
		if event&End != 0 {
			switch tokens {
			case 1:
				d.Name = TokenValue(text[first:i])
			case 2:
				d.Arg = TokenValue(text[first:i])
			}
		}
		if event&Shut != 0 && len(blocks) > 0 {
			blocks = blocks[:len(blocks)-1]
		}
		if event&(Semicolon|Open) != 0 {
			d.End, d.Opens, tokens = i+1, event&Open != 0, 0
			if n := len(blocks); n > 0 {
				d.Block = blocks[n-1]
			}
			visit(d)
			if d.Opens {
				blocks = append(blocks, d.Name)
			}
		}
	}
}
