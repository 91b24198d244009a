// Package syntax reads nginx's configuration language. It takes bytes, and returns
// tokens and directives. It does not interpret them.
package syntax

// Mode is the state of nginx's tokeniser.
type Mode uint8

const (
	Blank   Mode = iota // between tokens
	Bare                // inside a token without quotes
	Double              // inside "..."
	Single              // inside '...'
	Closed              // right behind a closing quote
	Comment             // behind a # up to the end of the line
)

// Event is the meaning of one byte; several bits can be set.
type Event uint8

const (
	Begin     Event = 1 << iota // the byte is the first one of a token
	End                         // the token ended before the byte
	Semicolon                   // a directive ended
	Open                        // a block starts
	Shut                        // a block ends
	Wrong                       // nginx rejects the byte here
)

// Lexer splits bytes into tokens exactly as nginx does: a backslash escapes any byte,
// "${" does not open a block, and only a separator may follow a closing quote. Its
// zero value is the state at the beginning of a file. Source: ngx_conf_read_token in
// nginx's src/core/ngx_conf_file.c.
type Lexer struct {
	Mode     Mode
	Escaped  bool // the byte before was a backslash
	Variable bool // the byte before was a $
}

// Step processes one byte.
func (l *Lexer) Step(ch byte) Event {
	switch l.Mode {
	case Blank:
		return l.between(ch)
	case Comment:
		if ch == '\n' {
			l.Mode = Blank
		}
		return 0
	case Closed:
		return l.behindQuote(ch)
	}
	return l.inside(ch)
}

func (l *Lexer) between(ch byte) Event {
	switch ch {
	case ' ', '\t', '\r', '\n':
		return 0
	case ';':
		return Semicolon
	case '{':
		return Open
	case '}':
		return Shut
	case '#':
		l.Mode = Comment
		return 0
	case '"':
		l.Mode = Double
	case '\'':
		l.Mode = Single
	case '\\':
		l.Mode, l.Escaped = Bare, true
	case '$':
		l.Mode, l.Variable = Bare, true
	default:
		l.Mode = Bare
	}
	return Begin
}

func (l *Lexer) inside(ch byte) Event {
	if l.Escaped {
		l.Escaped = false
		return 0
	}
	if ch == '{' && l.Variable {
		return 0
	}
	l.Variable = ch == '$'
	if ch == '\\' {
		l.Escaped = true
		return 0
	}
	switch l.Mode {
	case Double:
		return l.quoted(ch, '"')
	case Single:
		return l.quoted(ch, '\'')
	}
	return l.separator(ch)
}

// quoted ends a token at its closing quote.
func (l *Lexer) quoted(ch, quote byte) Event {
	if ch != quote {
		return 0
	}
	l.Mode = Closed
	return End
}

// separator ends a token without quotes.
func (l *Lexer) separator(ch byte) Event {
	switch ch {
	case ' ', '\t', '\r', '\n':
		l.Mode = Blank
		return End
	case ';':
		l.Mode = Blank
		return End | Semicolon
	case '{':
		l.Mode = Blank
		return End | Open
	}
	return 0
}

func (l *Lexer) behindQuote(ch byte) Event {
	switch ch {
	case ' ', '\t', '\r', '\n':
		l.Mode = Blank
		return 0
	case ';':
		l.Mode = Blank
		return Semicolon
	case '{':
		l.Mode = Blank
		return Open
	case ')':
		l.Mode = Bare
		return Begin
	}
	return Wrong
}

// Unescape returns the value of the bytes of a token without its quotes.
func Unescape(raw []byte) []byte {
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

// TokenValue returns the value of a complete token, without its closing quote.
func TokenValue(raw []byte) string {
	if len(raw) > 0 && (raw[0] == '"' || raw[0] == '\'') {
		raw = raw[1:]
	}
	for _, ch := range raw {
		if ch == '\\' {
			return string(Unescape(raw))
		}
	}
	return string(raw)
}
