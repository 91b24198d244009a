package snippets

import "strings"

// set is for directives that set a variable, about which settle decides.
func (r *reader) set(n *node, _ scope) {
	r.done[n] = true
	r.sets = append(r.sets, n)
}

// settle decides about variables: one that a remaining directive uses remains.
func (r *reader) settle() {
	times, kept := map[string]int{}, map[string]bool{}
	for _, name := range variablesIn(r.Text) {
		times[name]++
	}
	for _, l := range r.left {
		l.node.mark(kept)
	}
	for changed := true; changed; {
		changed = false
		for i, n := range r.sets {
			name := setBy(n)
			if n == nil || r.isValue(name) && times[name] > 1 && !kept[name] {
				continue
			}
			r.leave(n, "")
			n.mark(kept)
			r.sets[i], changed = nil, true
		}
	}
	for _, n := range r.sets {
		if n != nil {
			r.needlessFor(n, "its value is in the annotations")
		}
	}
}

// isValue reports whether annotations can have the value of a variable.
func (r *reader) isValue(name string) bool {
	_, constant := r.variables.constants[name]
	return constant || r.variables.ofAuth[name] != ""
}

// setBy returns the name of the variable that a directive sets.
func setBy(n *node) string {
	if n == nil {
		return ""
	}
	return strings.Trim(n.argument(1), "${}")
}

// mark records the variables in the arguments of a directive and of its block.
func (n *node) mark(names map[string]bool) {
	for _, token := range n.Tokens[1:] {
		for _, name := range variablesIn(token) {
			names[name] = true
		}
	}
	for _, inner := range n.block {
		inner.mark(names)
	}
}

func variablesIn(text string) []string {
	var names []string
	for _, found := range anyVariable.FindAllString(text, -1) {
		names = append(names, strings.Trim(found, "${}"))
	}
	return names
}
