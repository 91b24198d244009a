package guard

import (
	"slices"
	"strings"
)

// samples returns requests that a claim certainly takes: its path, paths below and
// beside it, other spellings, and the borders of other locations below it.
func (j *judge) samples(c *reading) []string {
	var tries []string
	for _, text := range c.starts() {
		bare := stem(text)
		tries = append(tries, text, bare, bare+"/", bare+"/x")
		if c.pattern {
			tries = append(tries, strings.ToUpper(text), text+"x", strings.ToUpper(bare)+"/X/y", text+"a", text+"7", text+"a/a")
		}
		for _, border := range j.places.below(bare) {
			tries = append(tries, border, border+"x", stem(border))
		}
	}
	if c.pattern {
		tries = append(tries, Examples(c.Path)...)
	}
	slices.Sort(tries)
	return slices.DeleteFunc(slices.Compact(tries), func(path string) bool {
		return !strings.HasPrefix(path, "/") || clean(path) != path || strings.Contains(path, "\x00") || !c.takes(path, &j.left)
	})
}

// starts returns the texts that the requests of a claim begin with.
func (c *reading) starts() []string {
	if c.asked {
		return []string{c.start}
	}
	return c.texts
}

// classes maps parts of patterns to texts that they match.
var classes = strings.NewReplacer(
	`(/|$)`, "/", `(.*)`, "x/y", `.*`, "x", `(.+)`, "x/y", `.+`, "x", `[^/]+`, "x", `[^/]*`, "x", `[0-9]+`, "7", `[0-9]`, "7", `\d+`, "7", `\d`, "7", `\w+`, "x",
	`\cA`, "\x01", `[a-z]+`, "x", `[a-z]`, "x", `(?:`, "", `(?i)`, "", `\.`, ".", `\-`, "-", `\/`, "/", `)?`, "", `/?`, "/", "(", "", ")", "", "$", "", "?", "", `\1`, "", `\g1`, "",
)

// Examples returns guesses at texts that a pattern matches. Some may not match.
func Examples(pattern string) []string {
	plain := classes.Replace(pattern)
	all := []string{plain, strings.ToUpper(plain)}
	for choice := range strings.SplitSeq(plain, "|") {
		all = append(all, choice)
	}
	return all
}
