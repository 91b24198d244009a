package keys

import (
	"strings"

	"sluice/internal/syntax"
)

// Replacement is a text in pages, and the text that replaces it.
type Replacement struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// Replacements are replaced in the order of their lines.
type Replacements []Replacement

// UnmarshalText accepts lines such as `<base href="/"> => <base href="/shop/">`.
func (r *Replacements) UnmarshalText(text []byte) error {
	var list Replacements
	err := readLines(text, func(line string) error {
		before, after, found := strings.Cut(line+" ", " => ")
		one := Replacement{strings.TrimSpace(before), strings.TrimSpace(after)}
		switch {
		case !found || one.Old == "":
			return wrongLine(line, `want "old => new"`)
		case syntax.PrintedLength(one.Old) > syntax.LongestHeaderValue || syntax.PrintedLength(one.New) > syntax.LongestHeaderValue:
			return wrongLine(line, "want two texts of at most %d bytes each, where a $ counts as 16", syntax.LongestHeaderValue)
		}
		for _, other := range list {
			if strings.EqualFold(other.Old, one.Old) {
				return wrongLine(line, "want each text once, in whatever case")
			}
		}
		list = append(list, one)
		return nil
	})
	*r = list
	return err
}
