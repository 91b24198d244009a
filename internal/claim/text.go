package claim

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Quoted gives what a user wrote for a message: on one line, and not all of it
// if it is long.
func Quoted(text string) string {
	const most = 200
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(text[:most]) + "..."
}

// Shown is quoted, without the quotes where they would not help.
func Shown(text string) string {
	if q := Quoted(text); strings.ContainsAny(text, " \t") || q != `"`+text+`"` {
		return q
	}
	return text
}

// Listed gives the first few names for a message, in quotes where they are not
// plain and short.
func Listed(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), Few)] {
		if q := Quoted(name); q != `"`+name+`"` {
			name = q
		}
		list = append(list, name)
	}
	if len(names) > Few {
		list = append(list, "...")
	}
	return cmp.Or(strings.Join(list, ", "), "no name")
}

// Few is how many of a list are named.
const Few = 3

// ListedFew gives "a, b, c and 2 more".
func ListedFew(words []string) string {
	text := strings.Join(words[:min(len(words), Few)], ", ")
	if more := len(words) - Few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
