package model

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// OneOf joins alternatives: "a, b or c".
func OneOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Counted returns "1 error" or "2 errors".
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Quoted quotes a user's text for a message, on one line, and cut between two characters
// if it is long.
func Quoted(text string) string {
	const most = 200
	if len(text) <= most {
		return strconv.Quote(text)
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return strconv.Quote(text[:end]) + "..."
}
