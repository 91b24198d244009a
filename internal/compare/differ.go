package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Result is the comparison of the answers to one request.
type Result struct {
	Request Request
	// Differences are those that both controllers repeat.
	Differences []Difference
	// Unstable are places where a controller does not repeat its answer, with the values of
	// both.
	Unstable []unstable
	// first are the first answers.
	first [2]Answer
}

// unstable is a place with the values that both controllers gave.
type unstable struct {
	Place
	values map[string]bool
}

// Same reports whether nothing differs.
func (r *Result) Same() bool { return len(r.Differences)+len(r.Unstable) == 0 }

// deciding are the kinds of which others follow: if one differs, the rest of the answer is
// not compared, except for the certificate.
var deciding = []Kind{NoAnswer, Status, Backend}

// Compare compares the answers to a request, each of which is a list of tries. A value counts
// as different if no try of one controller gave a value of the other, and one of the
// controllers always gave the same. So what changes from one try to the next, such as the
// choice of a weighted canary, is not a difference, and neither is a random identifier; but a
// header that only one of them sends is. So is a failure of one that the other never has: one
// of several replicas may be broken.
func Compare(request Request, answers [2][]Answer, rules *Rules) Result {
	result := Result{Request: request, first: [2]Answer{answers[0][0], answers[1][0]}}
	values := [2]map[Place][]string{rules.values(answers[0], 0), rules.values(answers[1], 1)}
	decided := false
	for _, place := range places(values) {
		a, b := values[0][place], values[1][place]
		if decided && place.Kind != Cert || slices.Equal(a, b) && len(a) == 1 {
			continue
		}
		switch inA, inB := failing(place, b, a), failing(place, a, b); {
		case inB != "":
			result.Differences = append(result.Differences, Difference{place, a[0], inB})
		case inA != "":
			result.Differences = append(result.Differences, Difference{place, inA, b[0]})
		case distinct(a, b):
			result.Differences = append(result.Differences, Difference{place, a[0], b[0]})
		default:
			result.Unstable = append(result.Unstable, unstable{place, setOf(a, b)})
		}
		if place.Kind == NoAnswer {
			break
		}
		decided = decided || slices.Contains(deciding, place.Kind)
	}
	return result
}

// values returns the different values of each place in their order. Every try has a value:
// that of a missing one is empty.
func (r *Rules) values(tries []Answer, side int) map[Place][]string {
	all := map[Place][]string{}
	facts := make([]map[Place]string, len(tries))
	for i := range tries {
		facts[i] = r.facts(&tries[i], side)
		for place := range facts[i] {
			all[place] = nil
		}
	}
	for place := range all {
		for _, of := range facts {
			if value := of[place]; !slices.Contains(all[place], value) {
				all[place] = append(all[place], value)
			}
		}
	}
	return all
}

// places returns the places of both in the order in which they are compared, and fills in
// those that one lacks.
func places(values [2]map[Place][]string) []Place {
	both := maps.Clone(values[0])
	maps.Copy(both, values[1])
	for place := range both {
		for _, of := range values {
			if of[place] == nil {
				of[place] = []string{""}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(both), func(a, b Place) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Name, b.Name))
	})
}

// rank puts deciding kinds first.
func rank(k Kind) int {
	if at := slices.Index(deciding, k); at >= 0 {
		return at
	}
	return len(deciding)
}

// failing returns the first failure among the values of one controller, "" if it has none or
// the other one, with the values always, does not always succeed.
func failing(place Place, always, other []string) string {
	fails := func(value string) bool {
		return place.Kind == NoAnswer && value != "" || place.Kind == Status && len(value) == 3 && value[0] == '5'
	}
	at := slices.IndexFunc(other, fails)
	if at < 0 || len(always) > 1 || fails(always[0]) {
		return ""
	}
	return other[at]
}

// distinct reports whether two lists of values have none in common, and one list has only
// one.
func distinct(a, b []string) bool {
	common := slices.ContainsFunc(a, func(value string) bool { return slices.Contains(b, value) })
	return !common && (len(a) == 1 || len(b) == 1)
}

func setOf(lists ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, value := range slices.Concat(lists...) {
		set[value] = true
	}
	return set
}
