package render

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// raw marks a snippet. The page removes the marks and records the extent.
func raw(value any) (string, error) {
	snippet, err := tokens.Text(value)
	switch {
	case err != nil:
		return "", err
	case strings.Contains(snippet, tokens.RawMark):
		return "", &tokens.Refusal{Want: "a snippet without NUL", Got: snippet}
	case snippet == "":
		return "", nil
	case !strings.HasSuffix(snippet, "\n"):
		snippet += "\n" // it may end with a comment
	}
	return tokens.RawMark + snippet + tokens.RawMark, nil
}

// extent is the position of a snippet, in bytes.
type extent struct{ start, end int }

// rawIn returns the extents within a part of the page, counted from its start.
func (p *page) rawIn(start, end int) []extent {
	var found []extent
	for _, e := range p.raw[p.rawFrom(start):] {
		if e.end <= end {
			found = append(found, extent{e.start - start, e.end - start})
		}
	}
	return found
}

// rawSince returns the extents since a position, as positions in the page.
func (p *page) rawSince(start int) []extent { return p.raw[p.rawFrom(start):] }

// rawFrom counts the snippets before a position.
func (p *page) rawFrom(start int) int {
	return sort.Search(len(p.raw), func(i int) bool { return p.raw[i].start >= start })
}

// checkRaw refuses snippets since a position that are not closed, that set a variable of
// others, or that need a module that nginx lacks.
func (r *rendering) checkRaw(since int) error {
	for _, e := range r.page.raw[r.page.rawFrom(since):] {
		if bytes.Contains(r.page.Bytes()[e.start:e.end], []byte(presentedKey)) {
			return &tokens.Refusal{Want: "a snippet that does not read the private key for a backend", Got: "$" + presentedKey}
		}
		statements, err := syntax.Parse(r.page.Bytes()[e.start:e.end])
		if err != nil {
			return &StructureError{Text: "a snippet is not closed: " + err.Error()}
		}
		for _, s := range statements {
			if ofHeadersMore(s) && !r.env.Capabilities.HeadersMore {
				return &tokens.Refusal{Want: "no directive of headers-more, which this nginx lacks: install libnginx-mod-http-headers-more-filter", Got: s.Name()}
			}
			if err := r.unknownPlace(s, e.end); err != nil {
				return err
			}
			if name := r.templates.overwrites(s); name != "" {
				return &tokens.Refusal{Want: "a snippet that sets only variables of its own", Got: "$" + name}
			}
		}
	}
	return nil
}

// overwrites returns the variable of Sluice or nginx that a directive sets, "" for none.
// Those of syntax.MaySet may be set, and so may borrowed ones, but not by a group of that name: that
// would change the meaning of the variable for all requests. A borrowed one without a value has none
// to lose.
func (t *Templates) overwrites(s syntax.Statement) string {
	variable, groups := s.Sets()
	if !syntax.MaySet(variable) && t.reserved(variable) {
		return variable
	}
	for _, group := range groups {
		if t.reserved(group) || tokens.Borrowed[group] != "" {
			return group
		}
	}
	return ""
}

// reserved reports whether snippets must not set a variable: nginx or a template uses it,
// or its name begins like those of a behaviour.
func (t *Templates) reserved(name string) bool {
	return tokens.Known(name) || name == "limit_rate" || tokens.InternalVariables[name] || tokens.IsDeclared(name) || t.used[name] ||
		slices.ContainsFunc(t.families, func(own string) bool { return strings.HasPrefix(name, own) })
}
