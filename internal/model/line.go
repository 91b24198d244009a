package model

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// OneLine returns a user's text as one line of printable UTF-8, of at most so many
// bytes. It escapes unprintable characters as in Go source, and ends a shortened text
// with "...". A text that needs no change stays as it is, so that a second call changes
// nothing.
func OneLine(text string, most int) string {
	if len(text) <= most && printable(text) {
		return text
	}
	const ending = "..."
	var out []byte
	kept := 0 // bytes that leave room for the ending
	for len(text) > 0 {
		var size int
		out, size = appendShown(out, text)
		if len(out) > most {
			return string(out[:kept]) + ending
		}
		if len(out)+len(ending) <= most {
			kept = len(out)
		}
		text = text[size:]
	}
	return string(out)
}

// Lines escapes characters in a text that a terminal would interpret or show
// differently. It is OneLine for many lines of any length: it keeps line ends and tabs.
func Lines(text string) string {
	var out []byte
	for len(text) > 0 {
		if text[0] == '\n' || text[0] == '\t' {
			out, text = append(out, text[0]), text[1:]
			continue
		}
		var size int
		out, size = appendShown(out, text)
		text = text[size:]
	}
	return string(out)
}

// appendShown appends the first character of a text, escaped if it is unprintable, and
// returns its size in the text.
func appendShown(out []byte, text string) (shown []byte, size int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Appendf(out, `\x%02x`, text[0]), size
	case strconv.IsPrint(r):
		return append(out, text[:size]...), size
	}
	return append(out, strings.Trim(strconv.QuoteRune(r), "'")...), size
}

func printable(text string) bool {
	for _, r := range text {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(text)
}
