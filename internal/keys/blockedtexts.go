package keys

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// BlockedText is the value of a header whose requests are refused: a text in any case, or a
// pattern.
type BlockedText struct {
	Text    string
	Pattern bool
	// Caseless is set for a pattern that ignores case.
	Caseless bool
	// Steps is the number of steps that the pattern may take.
	Steps int
}

// String returns the item as written.
func (b BlockedText) String() string {
	switch {
	case b.Caseless:
		return "~*" + b.Text
	case b.Pattern:
		return "~" + b.Text
	}
	return b.Text
}

// Matches reports whether the value of a header is blocked. known is false if only nginx can
// tell.
func (b BlockedText) Matches(value string) (matches, known bool) {
	if !b.Pattern {
		return strings.EqualFold(b.Text, value), true
	}
	flags := pcre.Flags(0)
	if b.Caseless {
		flags = pcre.Caseless
	}
	compiled, err := pcre.Compile(b.Text, flags)
	if err != nil {
		return false, false
	}
	_, matches, err = compiled.MatchWithin(value, b.Steps)
	return matches, err == nil
}

// BlockedTexts are in the order in which they are written.
type BlockedTexts []BlockedText

// mostBlocked and longestBlocked limit a list, and the bytes of an item.
const (
	mostBlocked    = 1000
	longestBlocked = 500
)

// UnmarshalText accepts texts, and patterns behind "~" or "~*", separated by commas.
func (b *BlockedTexts) UnmarshalText(text []byte) error {
	items, err := printableItems(string(text))
	if err != nil {
		return err
	}
	var list BlockedTexts
	for _, item := range items {
		one := BlockedText{Text: item, Steps: pcre.LeastSteps}
		if one.Text, one.Pattern = strings.CutPrefix(item, "~"); one.Pattern {
			one.Text, one.Caseless = strings.CutPrefix(one.Text, "*")
			one.Text = strings.TrimSpace(one.Text)
		}
		if wrong := one.wrong(); wrong != "" {
			return &specific{model.Quoted(item) + ": " + wrong}
		}
		list = append(list, one)
	}
	switch {
	case len(list) == 0:
		return errNoItem
	case len(list) > mostBlocked:
		return &specific{"it has more than 1000 items"}
	}
	list.shareSteps()
	*b = list
	return nil
}

// wrong returns the reason why an item is not valid, "" if it is.
func (b BlockedText) wrong() string {
	if b.Text == "" || len(b.Text) > longestBlocked {
		return "want 1 to 500 bytes"
	}
	if !printable(b.Text) {
		return errControl.Error()
	}
	if !b.Pattern {
		return ""
	}
	_, err := pcre.Compile(b.Text, 0)
	switch {
	case slices.ContainsFunc(groupsThatName, func(group string) bool { return strings.Contains(b.Text, group) }):
		return "want a regular expression without named groups, lookbehind and verbs"
	case err != nil:
		return "want a regular expression: " + err.Error()
	}
	return ""
}

// shareSteps divides the steps of ten patterns among more hard ones, as nginx tries all of
// them on one request.
func (b BlockedTexts) shareSteps() {
	hard := 0
	for _, one := range b {
		if one.Pattern && pcre.Hard(one.Text) {
			hard++
		}
	}
	for i := range b {
		if hard > mostHard && b[i].Pattern && pcre.Hard(b[i].Text) {
			b[i].Steps = pcre.LeastSteps * mostHard / hard
		}
	}
}
