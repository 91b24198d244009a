package guard

import (
	"slices"
	"strings"
)

// samples are requests that a claim is sure to ask for: its path, what is below and
// beside it, in other spellings, and the borders of other locations below.
func (j *judge) samples(c *reading) []string {
	var tries []string
	for _, text := range c.starts() {
		stem := strings.TrimSuffix(text, "/")
		tries = append(tries, text, stem, stem+"/", stem+"/x")
		if c.pattern {
			tries = append(tries, strings.ToUpper(text), text+"x", strings.ToUpper(stem)+"/X/y", text+"a", text+"7", text+"a/a")
		}
		for _, border := range j.places.below(stem) {
			tries = append(tries, border, border+"x", strings.TrimSuffix(border, "/"))
		}
	}
	if c.pattern {
		tries = append(tries, examples(c.Path)...)
	}
	slices.Sort(tries)
	return slices.DeleteFunc(slices.Compact(tries), func(path string) bool {
		return !strings.HasPrefix(path, "/") || clean(path) != path || strings.Contains(path, "\x00") || !c.takes(path, &j.left)
	})
}

// starts are the texts that the requests for a claim begin with.
func (c *reading) starts() []string {
	if c.asked {
		return []string{c.start}
	}
	return c.texts
}

// classes are texts that patterns are made of, each with one that it matches.
var classes = strings.NewReplacer(
	`(/|$)`, "/", `(.*)`, "x/y", `.*`, "x", `(.+)`, "x/y", `.+`, "x", `[^/]+`, "x", `[^/]*`, "x", `[0-9]+`, "7", `[0-9]`, "7", `\d+`, "7", `\d`, "7", `\w+`, "x",
	`\cA`, "\x01", `[a-z]+`, "x", `[a-z]`, "x", `(?:`, "", `(?i)`, "", `\.`, ".", `\-`, "-", `\/`, "/", `)?`, "", `/?`, "/", "(", "", ")", "", "$", "", "?", "", `\1`, "", `\g1`, "",
)

// examples are guesses at what a pattern matches; what it does not match is left
// out by the caller.
func examples(pattern string) []string {
	plain := classes.Replace(pattern)
	all := []string{plain, strings.ToUpper(plain)}
	for choice := range strings.SplitSeq(plain, "|") {
		all = append(all, choice)
	}
	return all
}
