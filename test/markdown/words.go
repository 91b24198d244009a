package markdown

import "strings"

// words splits text at its white space, but not within code spans and links. White
// space within these becomes one space.
func words(text string) []string {
	var found []string
	word := ""
	for text != "" {
		if isSpace(text[0]) {
			if word != "" {
				found = append(found, word)
			}
			word, text = "", text[1:]
			continue
		}
		n := unbroken(text)
		word += strings.Join(strings.Fields(text[:n]), " ")
		text = text[n:]
	}
	if word != "" {
		found = append(found, word)
	}
	return found
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// unbroken is the length of the code span, the link or the escaped or plain byte at
// the beginning of text.
func unbroken(text string) int {
	switch text[0] {
	case '\\':
		return min(2, len(text))
	case '`':
		return codeSpan(text)
	case '[':
		return linkLength(text)
	}
	return 1
}

// codeSpan is the length of the code span at the beginning of text, or of its
// backticks if nothing closes them.
func codeSpan(text string) int {
	ticks := len(text) - len(strings.TrimLeft(text, "`"))
	for at := ticks; at < len(text); {
		start := strings.IndexByte(text[at:], '`')
		if start < 0 {
			break
		}
		at += start
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		at += run
		if run == ticks {
			return at
		}
	}
	return ticks
}

// linkLength is the length of the link at the beginning of text, `[a](b)`, `[a][b]`
// or `[a]`, or 1 if there is none.
func linkLength(text string) int {
	end := bracketed(text, '[', ']')
	switch {
	case end == 0:
		return 1
	case strings.HasPrefix(text[end:], "("):
		return end + bracketed(text[end:], '(', ')')
	case strings.HasPrefix(text[end:], "["):
		return end + bracketed(text[end:], '[', ']')
	}
	return end
}

// bracketed is the length of what is in brackets at the beginning of text, with
// them, or 0 if nothing closes them.
func bracketed(text string, left, right byte) int {
	depth := 0
	for at := 0; at < len(text); {
		switch text[at] {
		case left:
			depth++
		case right:
			if depth--; depth == 0 {
				return at + 1
			}
		case '`':
			at += codeSpan(text[at:])
			continue
		case '\\':
			at++
		}
		at++
	}
	return 0
}
