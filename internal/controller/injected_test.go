package controller

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/render"
)

// site is where an Ingress, or a group of settings, prints lines: the behaviour that the source
// map names, the kind of block around the lines, and whether the source map names the Ingress.
type site struct {
	behaviour, in string
	owned         bool
}

func (s site) String() string {
	whose := "of nobody"
	if s.owned {
		whose = "owned"
	}
	return fmt.Sprintf("%s in %s, %s", s.behaviour, s.in, whose)
}

// kind is a site without the name of its behaviour.
func (s site) kind() string {
	if s.behaviour != "" {
		s.behaviour = "behaviour"
	}
	return s.String()
}

// sitesOf returns the lines of a file whose text another one, or the same one with the paths of
// the Ingress closed, does not have, by their site.
func sitesOf(with *render.File, owner model.ObjectRef, without ...*render.File) map[site][]string {
	known := map[string]bool{}
	for _, file := range without {
		for line := range file.Lines() {
			known[string(line.Text)] = true
		}
	}
	sites := map[site][]string{}
	var blocks []string
	for line := range with.Lines() {
		text := strings.TrimSpace(string(line.Text))
		if text == "}" && len(blocks) > 0 {
			blocks = blocks[:len(blocks)-1]
		}
		if !known[string(line.Text)] && text != "" && !strings.HasPrefix(text, "#") {
			s := site{line.Behaviour, strings.Join(blocks, " "), line.Object == owner}
			sites[s] = append(sites[s], string(line.Text))
		}
		if strings.HasSuffix(text, "{") {
			blocks = append(blocks, kindOf(text))
		}
	}
	return sites
}

// kindOf names the kind of a block by its first line.
func kindOf(head string) string {
	words := strings.Fields(head)
	if words[0] == "location" && strings.HasPrefix(words[1], "@") {
		return "internal"
	}
	return words[0]
}

// place is a site with its lines.
type place struct {
	site  site
	lines []string
}

// sitesOf returns the places where a block prints lines on a host, in order: those that an Ingress
// without annotations does not have, nor the closed one if it protects.
func (st *stage) sitesOf(t *testing.T, block, host string) (places []place) {
	t.Helper()
	st.mu.Lock()
	defer st.mu.Unlock()
	key := [2]string{block, host}
	if known, ok := st.sites[key]; ok {
		return known
	}
	c, source := st.controller(t, "nobody")
	others := slices.Clip(source.Ingresses)
	serving := func(more ...*networkingv1.Ingress) *plan {
		source.Ingresses = append(others, more...)
		c.sync(t.Context())
		c.submitted()
		return c.latest
	}
	without := []*render.File{serving().file}
	if block != "rule" {
		without = append(without, serving(badOf("rule", host)).file)
	}
	p := serving(badOf(block, host))
	for _, problem := range p.problems {
		if problem.Object == theBad && problem.Reason == model.InvalidValue {
			t.Errorf("%s has a value that is not valid: %v", block, problem)
		}
	}
	if c.protects(p.snap.IngressOf(theBad)) {
		options := p.options
		options.Denied = map[model.ObjectRef]claim.Denial{theBad: claim.DenyBeginnings}
		without = append(without, p.render(translated(p.served, options)))
	}
	found := sitesOf(p.file, theBad, without...)
	for _, at := range slices.SortedFunc(maps.Keys(found), func(a, b site) int { return strings.Compare(a.String(), b.String()) }) {
		places = append(places, place{at, found[at]})
	}
	st.sites[key] = places
	return places
}

// injected is a file with a wrong directive behind the first of the lines that a fake refuses.
type injected struct {
	file *render.File
	by   *fake
}

// WriteTo writes the file. No line has another number than in the file.
func (i injected) WriteTo(w io.Writer) (total int64, err error) {
	bad := i.by.injectedIn(i.file)
	for line := range i.file.Lines() {
		text := line.Text
		if line.Number == bad.Number {
			text = fmt.Appendf(nil, "%s %s\n", bytes.TrimRight(text, "\n"), wrong[i.by.names])
		}
		n, err := w.Write(text)
		if total += int64(n); err != nil {
			return total, err
		}
	}
	return total, nil
}

// wrong are directives that nginx refuses, by what it names where they are allowed: in locations and
// mostly in servers and outside of them.
var wrong = map[naming]string{
	byLine:    "nosuch_directive a b c d;",
	byWord:    "add_header X-Wrong $nosuch_variable;",
	silent:    "limit_req zone=nosuch_zone burst=1 nodelay;",
	elsewhere: "map $nosuch_a $nosuch_b {",
}
