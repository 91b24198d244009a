package translate

import (
	"slices"
	"strings"
)

// nearClass returns the served class that a misspelled name means, "" for none.
func nearClass(name string, served []string) string {
	at := slices.IndexFunc(served, func(class string) bool { return isSlip(name, class) })
	if at < 0 {
		return ""
	}
	return served[at]
}

// isSlip reports whether a name is another one with one typing mistake: a letter too
// many, too few or wrong, two letters swapped, or another case. Digits and words of one
// letter are no mistakes, because they distinguish classes such as nginx-2 and nginx-b.
func isSlip(written, meant string) bool {
	a, b := strings.ToLower(written), strings.ToLower(meant)
	start, end := 0, 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	x, y := a[start:len(a)-end], b[start:len(b)-end]
	switch {
	case strings.ContainsAny(x+y, "0123456789"):
		return false
	case len(x) == 2 && len(y) == 2:
		return x[0] == y[1] && x[1] == y[0]
	}
	const between = "-./"
	label := len(x) == 1 && len(y) == 1 && (start == 0 || strings.IndexByte(between, a[start-1]) >= 0) && (end == 0 || strings.IndexByte(between, a[len(a)-end]) >= 0)
	return len(x) <= 1 && len(y) <= 1 && !label
}
