package render

// mode is where nginx's tokeniser stands.
type mode uint8

const (
	blank   mode = iota // between tokens
	bare                // inside a token without quotes
	double              // inside "..."
	single              // inside '...'
	closed              // right behind a closing quote
	comment             // behind a # up to the end of the line
)

// event is what one byte means to who reads tokens; several bits may be set.
type event uint8

const (
	begin     event = 1 << iota // the byte is the first one of a token
	end                         // the token ended before the byte
	semicolon                   // a directive ended
	open                        // a block starts
	shut                        // a block ends
	wrong                       // nginx refuses the byte here
)

// lexer splits bytes into tokens exactly as nginx does: an escape hides any
// byte, "${" does not open a block, and after a closing quote only a separator
// may come. Its zero value stands at the start of a file.
// Source: ngx_conf_read_token in nginx's src/core/ngx_conf_file.c.
type lexer struct {
	mode     mode
	escaped  bool // the byte before was a backslash
	variable bool // the byte before was a $
}

// step takes one byte.
func (l *lexer) step(ch byte) event {
	switch l.mode {
	case blank:
		return l.between(ch)
	case comment:
		if ch == '\n' {
			l.mode = blank
		}
		return 0
	case closed:
		return l.behindQuote(ch)
	}
	return l.inside(ch)
}

func (l *lexer) between(ch byte) event {
	switch ch {
	case ' ', '\t', '\r', '\n':
		return 0
	case ';':
		return semicolon
	case '{':
		return open
	case '}':
		return shut
	case '#':
		l.mode = comment
		return 0
	case '"':
		l.mode = double
	case '\'':
		l.mode = single
	case '\\':
		l.mode, l.escaped = bare, true
	case '$':
		l.mode, l.variable = bare, true
	default:
		l.mode = bare
	}
	return begin
}

func (l *lexer) inside(ch byte) event {
	if l.escaped {
		l.escaped = false
		return 0
	}
	if ch == '{' && l.variable {
		return 0
	}
	l.variable = ch == '$'
	if ch == '\\' {
		l.escaped = true
		return 0
	}
	switch l.mode {
	case double:
		return l.quoted(ch, '"')
	case single:
		return l.quoted(ch, '\'')
	}
	return l.separator(ch)
}

// quoted ends a token at its closing quote.
func (l *lexer) quoted(ch, quote byte) event {
	if ch != quote {
		return 0
	}
	l.mode = closed
	return end
}

// separator ends a token without quotes.
func (l *lexer) separator(ch byte) event {
	switch ch {
	case ' ', '\t', '\r', '\n':
		l.mode = blank
		return end
	case ';':
		l.mode = blank
		return end | semicolon
	case '{':
		l.mode = blank
		return end | open
	}
	return 0
}

func (l *lexer) behindQuote(ch byte) event {
	switch ch {
	case ' ', '\t', '\r', '\n':
		l.mode = blank
		return 0
	case ';':
		l.mode = blank
		return semicolon
	case '{':
		l.mode = blank
		return open
	case ')':
		l.mode = bare
		return begin
	}
	return wrong
}

// unescape gives the value of the bytes of a token, without its quotes.
func unescape(raw []byte) []byte {
	value := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' || i+1 == len(raw) {
			value = append(value, raw[i])
			continue
		}
		switch raw[i+1] {
		case '"', '\'', '\\':
			value = append(value, raw[i+1])
		case 't':
			value = append(value, '\t')
		case 'r':
			value = append(value, '\r')
		case 'n':
			value = append(value, '\n')
		default:
			value = append(value, '\\', raw[i+1])
		}
		i++
	}
	return value
}
