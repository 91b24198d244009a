package claim

import (
	"cmp"
	"fmt"
	"strings"

	"sluice/internal/model"
)

// Shown is model.Quoted, without the quotes if they would not help.
func Shown(text string) string {
	if q := model.Quoted(text); strings.ContainsAny(text, " \t") || q != `"`+text+`"` {
		return q
	}
	return text
}

// Listed returns the first few names for a message, quoted unless they are plain and
// short.
func Listed(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), Few)] {
		if q := model.Quoted(name); q != `"`+name+`"` {
			name = q
		}
		list = append(list, name)
	}
	if len(names) > Few {
		list = append(list, "...")
	}
	return cmp.Or(strings.Join(list, ", "), "no name")
}

// Few is the number of names that a list in a message shows.
const Few = 3

// ListedFew returns "a, b, c and 2 more".
func ListedFew(words []string) string {
	text := strings.Join(words[:min(len(words), Few)], ", ")
	if more := len(words) - Few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
