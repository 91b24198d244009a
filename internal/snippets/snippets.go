// Package snippets recognises the common uses of nginx directives in snippets, and names
// the annotations that do the same. It takes the text of a snippet. It returns annotations
// to write instead, the directives that are not needed, and those that nothing replaces.
//
//	advice := snippets.Read(snippets.Snippet{Text: `more_set_headers "X-Frame-Options: DENY";`})
//	advice.Write[0].String("nginx.ingress.kubernetes.io/") // sluice.io/response-headers: "X-Frame-Options: DENY"
//
// A replacement never admits a request that the snippet refuses. A directive that is not
// certainly understood remains.
package snippets

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/syntax"
)

// Snippet is a snippet of an Ingress.
type Snippet struct {
	Text string
	// Server is set for a server-snippet. Others are for locations.
	Server bool
	// Given are the other annotations of the Ingress by name, without a prefix if it is
	// that of ingress-nginx.
	Given map[string]string
	// Paths are the paths of its rules, as written.
	Paths []string
	// Refuses returns why Sluice would not take an annotation, "" if it takes it. Such an
	// annotation is not advised. nil is for one that takes all.
	Refuses func(Annotation) string
}

// Advice is the result of Read.
type Advice struct {
	// Write are the annotations to write instead of directives.
	Write []Annotation
	// Needless are directives to remove without a replacement. Left are those that no
	// annotation replaces. Both are in the order of their lines.
	Needless, Left []Remark
}

// Origin is the directives that a part of the advice is about.
type Origin struct {
	// Lines are their lines, ascending.
	Lines []int
	// Names are their names, sorted.
	Names []string
}

// Annotation is an annotation to write.
type Annotation struct {
	Origin
	// Name is without the prefix of ingress-nginx, but with that of Sluice.
	Name, Value string
	// Where is the Ingress that needs the annotation, as the rest of a sentence; empty for
	// that of the snippet.
	Where string
	// Also is another step that is needed, as a clause; empty for none.
	Also string
}

// Remark is a text about directives.
type Remark struct {
	Origin
	Text string
}

// OwnPrefix is the prefix of annotations that ingress-nginx does not have.
const OwnPrefix = "sluice.io/"

// String returns a line of YAML. prefix is that of the annotations of ingress-nginx, with
// its slash.
func (a Annotation) String(prefix string) string {
	if strings.HasPrefix(a.Name, OwnPrefix) {
		prefix = ""
	}
	// The escapes of Go are those of YAML.
	return prefix + a.Name + ": " + strconv.Quote(a.Value)
}

// String returns "lines 1, 3 (add_header, expires)".
func (o Origin) String() string {
	var lines []string
	for _, line := range o.Lines {
		lines = append(lines, strconv.Itoa(line))
	}
	return fmt.Sprintf("%s %s (%s)", one(len(lines), "line", "lines"), strings.Join(lines, ", "), strings.Join(o.Names, ", "))
}

func one(n int, single, many string) string {
	if n == 1 {
		return single
	}
	return many
}

// longest limits the text of a snippet, as package keys does.
const longest = 32768

// Read returns what can replace a snippet. The error is about a text that is not a
// snippet, or that only nginx can read.
func Read(s Snippet) (Advice, error) {
	if len(s.Text) > longest {
		return Advice{}, fmt.Errorf("it has %d bytes, more than %d", len(s.Text), longest)
	}
	statements, err := syntax.Parse([]byte(s.Text))
	if err != nil {
		return Advice{}, err
	}
	nodes := treeOf(statements)
	r := &reader{Snippet: s, done: map[*node]bool{}, written: map[string]*written{}, variables: variablesOf(nodes)}
	r.block(nodes, scope{})
	return r.advice(), nil
}

// reader is the state of one Read.
type reader struct {
	Snippet
	variables variables
	// done are the nodes that are dealt with.
	done map[*node]bool
	// order is that of the keys of written.
	order   []string
	written map[string]*written
	// needless and left are the nodes for each text.
	needless, left []about
	// bufferSize is the size in the proxy_buffer_size of the present block.
	bufferSize string
	// sets are the directives that set variables.
	sets []*node
}

// about is a text about a node.
type about struct {
	node *node
	text string
}

func (r *reader) needlessFor(n *node, text string) {
	r.done[n] = true
	r.needless = append(r.needless, about{n, text})
}

// leave reports a directive that nothing replaces; text says why, or what else to do.
func (r *reader) leave(n *node, text string) {
	r.done[n] = true
	r.left = append(r.left, about{n, cmp.Or(text, "no annotation replaces it")})
}

// advice returns the result.
func (r *reader) advice() Advice {
	var advice Advice
	for _, key := range r.order {
		w := r.written[key]
		if len(w.nodes) == 0 {
			continue
		}
		a := Annotation{Origin: originOf(w.nodes), Name: w.name, Value: strings.Join(w.values, "\n"), Where: w.where, Also: w.also()}
		if !r.refused(a, w.nodes) {
			advice.Write = append(advice.Write, a)
		}
	}
	r.settle()
	advice.Needless, advice.Left = remarks(r.needless), remarks(r.left)
	return advice
}

// refused leaves the directives of an annotation that Sluice would not take.
func (r *reader) refused(a Annotation, of []*node) bool {
	if r.Refuses == nil {
		return false
	}
	why := r.Refuses(a)
	if why == "" {
		return false
	}
	for _, n := range of {
		r.leave(n, fmt.Sprintf("%s does not take it: %s", a.Name, why))
	}
	return true
}

// remarks joins the nodes with the same text.
func remarks(all []about) []Remark {
	var found []Remark
	nodes := map[string][]*node{}
	for _, a := range all {
		nodes[a.text] = append(nodes[a.text], a.node)
	}
	for text, of := range nodes {
		found = append(found, Remark{originOf(of), text})
	}
	slices.SortFunc(found, func(a, b Remark) int {
		return cmp.Or(slices.Compare(a.Lines, b.Lines), strings.Compare(a.Text, b.Text))
	})
	return found
}

func originOf(nodes []*node) Origin {
	lines, names := map[int]bool{}, map[string]bool{}
	for _, n := range nodes {
		lines[n.Line], names[n.Name()] = true, true
	}
	return Origin{slices.Sorted(maps.Keys(lines)), slices.Sorted(maps.Keys(names))}
}
