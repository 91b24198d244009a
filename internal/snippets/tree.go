package snippets

import (
	"regexp"
	"strings"

	"sluice/internal/syntax"
)

// node is a directive with the directives of its block.
type node struct {
	syntax.Statement
	block []*node
}

// argument returns an argument by its number from 1, "" for none.
func (n *node) argument(i int) string {
	if i >= len(n.Tokens) {
		return ""
	}
	return n.Tokens[i]
}

// arguments are all arguments, joined.
func (n *node) arguments() string { return strings.Join(n.Tokens[1:], " ") }

func treeOf(statements []syntax.Statement) []*node {
	root := &node{}
	path := []*node{root}
	for _, s := range statements {
		path = path[:s.Depth+1]
		around := path[s.Depth]
		n := &node{Statement: s}
		around.block = append(around.block, n)
		path = append(path, n)
	}
	return root.block
}

// condition is that of an if. Without an operator it is that the variable is neither empty
// nor 0.
type condition struct {
	variable, operator, value string
}

// conditionOf reads the condition of an if.
func conditionOf(n *node) (condition, bool) {
	tokens := append([]string(nil), n.Tokens[1:]...)
	if len(tokens) == 0 || !strings.HasPrefix(tokens[0], "(") || !strings.HasSuffix(tokens[len(tokens)-1], ")") {
		return condition{}, false
	}
	tokens[0] = tokens[0][1:]
	last := len(tokens) - 1
	tokens[last] = strings.TrimSuffix(tokens[last], ")")
	if tokens[0] == "" {
		tokens = tokens[1:]
	}
	if last := len(tokens) - 1; last >= 0 && tokens[last] == "" && last != 2 {
		tokens = tokens[:last]
	}
	switch {
	case len(tokens) == 0 || !strings.HasPrefix(tokens[0], "$"):
		return condition{}, false
	case len(tokens) == 1:
		return condition{variable: tokens[0][1:]}, true
	case len(tokens) == 3:
		return condition{tokens[0][1:], tokens[1], tokens[2]}, true
	}
	return condition{}, false
}

// negated reports whether the condition is that something is not so.
func (c condition) negated() bool { return strings.HasPrefix(c.operator, "!") }

// variables are the variables that a snippet sets.
type variables struct {
	// constants have the same value wherever the snippet uses them.
	constants map[string]string
	// ofAuth are names of headers of the server that authenticates.
	ofAuth map[string]string
}

// variablesOf finds the variables that are set once, outside of blocks.
func variablesOf(nodes []*node) variables {
	v := variables{map[string]string{}, map[string]string{}}
	times := map[string]int{}
	countSets(nodes, times)
	for _, n := range nodes {
		name := strings.Trim(n.argument(1), "${}")
		switch {
		case n.Name() == "set" && times[name] == 1 && !strings.Contains(n.argument(2), "$"):
			v.constants[name] = n.argument(2)
		case n.Name() == "auth_request_set" && strings.HasPrefix(n.argument(2), "$upstream_http_"):
			v.ofAuth[name] = headerName(strings.TrimPrefix(n.argument(2), "$upstream_http_"))
		}
	}
	return v
}

func countSets(nodes []*node, times map[string]int) {
	for _, n := range nodes {
		if n.Name() == "set" {
			times[strings.Trim(n.argument(1), "${}")]++
		}
		countSets(n.block, times)
	}
}

var anyVariable = regexp.MustCompile(`\$(?:\{(\w+)\}|(\w+))`)

// expand replaces the constants in a text.
func (v variables) expand(text string) string {
	return anyVariable.ReplaceAllStringFunc(text, func(found string) string {
		if value, ok := v.constants[strings.Trim(found, "${}")]; ok {
			return value
		}
		return found
	})
}

// headerName returns x_auth_user as X-Auth-User.
func headerName(variable string) string {
	words := strings.Split(variable, "_")
	for i, word := range words {
		if word != "" {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "-")
}
