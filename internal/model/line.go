package model

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// OneLine makes a text that users wrote fit to be shown: one line of printable
// UTF-8, of at most so many bytes. What does not print is escaped as in Go
// source, and where something is cut off "..." tells so. A text that is fine
// stays as it is, so that doing it twice changes nothing.
func OneLine(text string, most int) string {
	if len(text) <= most && printable(text) {
		return text
	}
	const ending = "..."
	var out []byte
	kept := 0 // bytes that leave room for the ending
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case strconv.IsPrint(r):
			out = append(out, text[:size]...)
		default:
			out = append(out, strings.Trim(strconv.QuoteRune(r), "'")...)
		}
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

func printable(text string) bool {
	for _, r := range text {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return utf8.ValidString(text)
}
