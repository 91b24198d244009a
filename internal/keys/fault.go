package keys

import (
	"strconv"
	"strings"
)

// Text says what is wrong in one line: what would be valid and what was given.
func (f Fault) Text() string {
	text := "want " + f.Want + " (got " + Quote(f.Value) + ")"
	switch {
	case f.Because != "":
		return text + ": " + f.Because
	case f.Undone:
		return text + ": this value of ingress-nginx is not supported yet"
	case f.Gone:
		return text + ": this value of ingress-nginx is gone for good"
	case f.Meanwhile != "":
		return text + "; " + f.Meanwhile + " until this is mended"
	}
	return text
}

// maxQuoted is how many characters of a value are repeated to its user.
const maxQuoted = 100

// Quote quotes a value for a message, shortened to 100 characters.
func Quote(value string) string {
	if runes := []rune(value); len(runes) > maxQuoted {
		value = string(runes[:maxQuoted]) + "…"
	}
	return strconv.Quote(value)
}

// Names are names that a user may have meant.
type Names []struct{ written, plain string }

// NewNames takes the names, of which the first counts where several are as near.
func NewNames(names []string) Names {
	list := make(Names, len(names))
	for i, name := range names {
		list[i].written, list[i].plain = name, plainName(name)
	}
	return list
}

// Nearest gives the name that is nearest to a key, "" if none is near. Case does
// not count, nor how words are joined.
func (n Names) Nearest(key string) string {
	key = plainName(key)
	nearest, least := "", 1+min(2, len(key)/4)
	for _, name := range n {
		if d := distance(key, name.plain, least); d < least {
			nearest, least = name.written, d
		}
	}
	return nearest
}

func plainName(name string) string { return strings.ToLower(joiners.Replace(name)) }

var joiners = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")

// DidYouMean gives `; did you mean "use-regex"?` for a name, or "" for none.
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(name) + "?"
}

// distance is how many letters of one ASCII text are to be changed, added, left out
// or swapped with the next to get the other, or limit if it is not below it.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	// row[j] is the distance of the beginning of a that was looked at and b[:j];
	// above and beyond are the rows of that beginning without its last letter and
	// its last two.
	beyond, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		beyond, above, row = above, row, beyond
		row[0] = i + 1
		for j := range len(b) {
			changed := above[j]
			if a[i] != b[j] {
				changed++
			}
			row[j+1] = min(changed, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], beyond[j-1]+1)
			}
		}
	}
	return min(row[len(b)], limit)
}
