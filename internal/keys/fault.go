package keys

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"sluice/internal/model"
)

// credentials matches a name and a password in a URL.
var credentials = regexp.MustCompile(`://[^/?#@\s]*@`)

// Text returns the mistake in one line: the valid values and the given one, without a
// password that a URL has in it.
func (f Fault) Text() string {
	got := model.Quoted(credentials.ReplaceAllString(f.Value, "://***@"))
	if f.Secret {
		got = "another value"
	}
	text := "want " + f.Want + " (got " + got + ")"
	switch {
	case f.Because != "":
		text += ": " + f.Because
	case f.Unsupported != "":
		return text + ": this value of ingress-nginx " + f.Unsupported
	}
	if meanwhile := cmp.Or(f.Meanwhile, f.Default); meanwhile != "" {
		text = model.Add(text, "; ", meanwhile+" until this is mended")
	}
	return text
}

// Names are the candidates for a misspelled name.
type Names []struct{ written, plain string }

// NewNames prepares names for Nearest. Of several equally near ones the first wins.
func NewNames(names []string) Names {
	list := make(Names, len(names))
	for i, name := range names {
		list[i].written, list[i].plain = name, plainName(name)
	}
	return list
}

// Nearest returns the name that is most similar to a key, "" if none is. It ignores
// case and the way in which words are joined.
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

// DidYouMean returns `; did you mean "use-regex"?` for a name, or "" for none.
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(name) + "?"
}

// distance returns the edit distance of two ASCII texts (changed, added, removed and
// swapped letters), or limit if it is not smaller.
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
