package keys

import "strconv"

// Text says what is wrong in one line: what would be valid and what was given.
func (f Fault) Text() string {
	text := "want " + f.Want + " (got " + Quote(f.Value) + ")"
	if f.Empties {
		text += "; it counts as empty until this is mended"
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

// DidYouMean gives `; did you mean "use-regex"?` for the name that is nearest
// to key, or "" if none is near.
func DidYouMean(key string, names []string) string {
	nearest, least := "", 1+min(2, len(key)/3)
	for _, name := range names {
		if d := distance(key, name, least); d < least {
			nearest, least = name, d
		}
	}
	if nearest == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(nearest) + "?"
}

// distance is the Levenshtein distance of two ASCII texts, or limit if it is
// not below it.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return min(row[len(b)], limit)
}
