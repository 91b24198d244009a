package render

import (
	"slices"
	"sort"
	"strings"

	"sluice/internal/syntax"
)

// rawName is the function that prints a snippet as it is. Package annotations lets
// one come this far only where the administrator allows it.
const rawName = "raw"

// rawMark stands around a snippet on its way from the function to the page. No
// printer lets it pass, and no template may have it.
const rawMark = "\x00"

// raw marks a snippet. The page takes the marks off and records its extent.
func raw(value any) (string, error) {
	snippet, err := text(value)
	switch {
	case err != nil:
		return "", err
	case strings.Contains(snippet, rawMark):
		return "", &Refusal{Want: "a snippet without NUL", Got: snippet}
	case snippet == "":
		return "", nil
	case !strings.HasSuffix(snippet, "\n"):
		snippet += "\n" // It may end with a comment.
	}
	return rawMark + snippet + rawMark, nil
}

// extent is where raw text is, in bytes.
type extent struct{ start, end int }

// rawIn gives the extents within a part of the page, counted from its start.
func (p *page) rawIn(start, end int) []extent {
	var found []extent
	for _, e := range p.raw[p.rawFrom(start):] {
		if e.end <= end {
			found = append(found, extent{e.start - start, e.end - start})
		}
	}
	return found
}

// rawFrom is how many snippets are before a position.
func (p *page) rawFrom(start int) int {
	return sort.Search(len(p.raw), func(i int) bool { return p.raw[i].start >= start })
}

// checkRaw refuses snippets printed since a position that are not closed, that set a
// variable that others depend on, or that use a module that is not there.
func (r *rendering) checkRaw(since int) error {
	for _, e := range r.page.raw[r.page.rawFrom(since):] {
		statements, err := syntax.Parse(r.page.Bytes()[e.start:e.end])
		if err != nil {
			return &StructureError{Text: "a snippet is not closed: " + err.Error()}
		}
		for _, s := range statements {
			if ofHeadersMore(s) && !r.env.Capabilities.HeadersMore {
				return &Refusal{Want: "no directive of headers-more, which this nginx lacks: install libnginx-mod-http-headers-more-filter", Got: s.Name()}
			}
			if name := r.templates.overwrites(s); name != "" {
				return &Refusal{Want: "a snippet that sets only variables of its own", Got: "$" + name}
			}
		}
	}
	return nil
}

// overwrites gives the variable of Sluice or nginx that a directive sets, "" for none.
// nginx lets args and limit_rate be set. But where a group is called so it forgets,
// for all requests, what the variable meant.
func (t *Templates) overwrites(s syntax.Statement) string {
	variable, groups := s.Sets()
	if variable != "args" && variable != "limit_rate" && t.reserved(variable) {
		return variable
	}
	for _, group := range groups {
		if t.reserved(group) {
			return group
		}
	}
	return ""
}

// reserved reports whether a variable is not for snippets to set: nginx knows it, a
// template uses it, or its name begins as those of a behaviour do.
func (t *Templates) reserved(name string) bool {
	return known(name) || name == "limit_rate" || internalVariables[name] || isDeclared(name) || t.used[name] ||
		slices.ContainsFunc(t.families, func(own string) bool { return strings.HasPrefix(name, own) })
}
