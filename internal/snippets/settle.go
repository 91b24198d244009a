package snippets

import (
	"regexp"
	"strings"
)

// set is for directives that set a variable, about which settle decides.
func (r *reader) set(n *node, _ scope) {
	r.done[n] = true
	r.sets = append(r.sets, n)
}

// settle decides about variables: one that a remaining directive uses remains.
func (r *reader) settle() {
	others := r.left
	for changed := true; changed; {
		changed = false
		for i, n := range r.sets {
			if n != nil && (!r.replacedBy(n) || uses(others, n)) {
				r.leave(n, "")
				others, r.sets[i], changed = r.left, nil, true
			}
		}
	}
	for _, n := range r.sets {
		if n != nil {
			r.needlessFor(n, "its value is in the annotations")
		}
	}
}

// replacedBy reports whether annotations can have the value of a variable.
func (r *reader) replacedBy(n *node) bool {
	name := strings.Trim(n.argument(1), "${}")
	_, constant := r.variables.constants[name]
	_, auth := r.variables.ofAuth[name]
	return (constant || auth) && len(usesOf(name).FindAllString(r.Text, 2)) == 2
}

func uses(left []about, set *node) bool {
	variable := usesOf(strings.Trim(set.argument(1), "${}"))
	for _, l := range left {
		if l.node != set && l.node.mentions(variable) {
			return true
		}
	}
	return false
}

func usesOf(name string) *regexp.Regexp {
	return regexp.MustCompile(`\$\{?` + regexp.QuoteMeta(name) + `\b`)
}
