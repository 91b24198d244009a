package keys

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// edges gives values at the edges of what a field of a type accepts: each word
// of a short list of words, both ends of a range, and what the type and our own
// rules declare. Where the field is a list, an edge may be one item of it.
func (f *field) edges(t reflect.Type) []string {
	whole, each := splitRules(f.validate)
	edges := slices.Concat(ends(ruleEdges(whole)), ruleEdges(each), kindOf(t).edges, rangeEdges(t, whole))
	var accepted []string
	for _, edge := range edges {
		if !slices.Contains(accepted, edge) && f.set(reflect.New(t).Elem(), edge) == nil {
			accepted = append(accepted, edge)
		}
	}
	return accepted
}

// fewWords are words of which each is an edge, although a case shows but one.
const fewWords = 4

// ends are the first and the last of many words.
func ends(words []string) []string {
	if len(words) > fewWords {
		return []string{words[0], words[len(words)-1]}
	}
	return words
}

// ruleEdges are the words of a list, and the edges of a rule of our own.
func ruleEdges(rules map[string]string) []string {
	edges := strings.Fields(rules["oneof"] + " " + rules["oneofci"])
	for _, r := range textRules {
		if _, ok := rules[r.name]; ok {
			edges = append(edges, r.edges...)
		}
	}
	return edges
}

// rangeEdges are both ends of a range; that of a text is one of its length.
func rangeEdges(t reflect.Type, rules map[string]string) []string {
	var edges []string
	if rules["ne"] == "0" {
		edges = append(edges, "1")
	}
	for _, name := range []string{"min", "max"} {
		end, ok := rules[name]
		switch {
		case !ok:
		case t.Kind() == reflect.String && !isNumeric(t):
			length, _ := strconv.Atoi(end)
			edges = append(edges, strings.Repeat("x", length))
		default:
			edges = append(edges, bound(t, end))
		}
	}
	return edges
}

// isNumeric is true for a text whose bounds are those of a number.
func isNumeric(t reflect.Type) bool {
	return t == reflect.TypeFor[Optional[int]]() || hasUnit(t)
}

// hasUnit is true for a number that is written with a unit.
func hasUnit(t reflect.Type) bool {
	return t == reflect.TypeFor[Size]() || t == reflect.TypeFor[Duration]()
}

// bound is a bound of a rule as users write it, with its unit.
func bound(t reflect.Type, param string) string {
	n, err := strconv.ParseUint(param, 10, 64)
	switch {
	case err != nil:
		return param
	case t == reflect.TypeFor[Duration]():
		return param + "s"
	case t != reflect.TypeFor[Size]():
		return param
	case n > 0 && n%(1<<30) == 0:
		return strconv.FormatUint(n>>30, 10) + "g"
	}
	return string(sizeOf(n))
}
