package sift

import (
	"bytes"
	"regexp"

	"sluice/internal/nginx"
	"sluice/internal/render"
)

// quoted matches the words that nginx quotes: variables, zones, files, ciphers, hosts.
var quoted = regexp.MustCompile(`"([^"]{2,})"`)

// Named returns who wrote the line that nginx named, or else has the word that it quoted and
// that the fewest have, in the order of their lines. owner returns whose a line is, by its
// origin; false for lines that do not count.
func Named[K comparable](file *render.File, refused *nginx.TestError, owner func(render.Origin) (K, bool)) (owners []K) {
	if refused.Line > 0 {
		line := lineOf(file, refused.Line)
		if _, counts := owner(line.Origin); counts {
			return ownersOf(file, owner, func(text []byte) bool { return bytes.Equal(text, line.Text) })
		}
	}
	for _, word := range quoted.FindAllStringSubmatch(refused.Text, -1) {
		found := ownersOf(file, owner, func(text []byte) bool { return bytes.Contains(text, []byte(word[1])) })
		if len(found) > 0 && (len(owners) == 0 || len(found) < len(owners)) {
			owners = found
		}
	}
	return owners
}

// lineOf returns the line of a number, the zero value if there is none.
func lineOf(file *render.File, number int) render.Line {
	for line := range file.Lines() {
		if line.Number == number {
			return line
		}
	}
	return render.Line{}
}

// ownersOf returns who has a line that matches.
func ownersOf[K comparable](file *render.File, owner func(render.Origin) (K, bool), matches func([]byte) bool) (owners []K) {
	seen := map[K]bool{}
	for line := range file.Lines() {
		if o, counts := owner(line.Origin); counts && !seen[o] && matches(line.Text) {
			seen[o] = true
			owners = append(owners, o)
		}
	}
	return owners
}
