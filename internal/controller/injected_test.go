package controller

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

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

// sitesOf returns the lines of a file that are not among others, by their site.
func sitesOf(with *render.File, owner model.ObjectRef, without ...map[string]bool) map[site][]string {
	sites := map[site][]string{}
	var blocks []string
	for line := range with.Lines() {
		text := strings.TrimSpace(string(line.Text))
		if text == "}" && len(blocks) > 0 {
			blocks = blocks[:len(blocks)-1]
		}
		known := slices.ContainsFunc(without, func(lines map[string]bool) bool { return lines[string(line.Text)] })
		if !known && text != "" && !strings.HasPrefix(text, "#") {
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
	if st.plain[""] == nil {
		nobody, _ := st.served()
		st.plain[""] = linesIn(nobody.file)
	}
	without := []map[string]bool{st.plain[""]}
	if block != "rule" {
		if st.plain[host] == nil {
			rule, _ := st.served(badOf("rule", host))
			st.plain[host] = linesIn(rule.file)
		}
		without = append(without, st.plain[host])
	}
	p, c := st.served(badOf(block, host))
	for _, problem := range p.problems {
		if problem.Object == theBad && problem.Reason == model.InvalidValue {
			t.Errorf("%s has a value that is not valid: %v", block, problem)
		}
	}
	if c.protects(p.snap.IngressOf(theBad)) {
		options := p.options
		options.Denied = map[model.ObjectRef]claim.Denial{theBad: claim.DenyBeginnings}
		without = append(without, linesIn(p.render(translated(p.served, options))))
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
