package migrate

import (
	"slices"
	"strings"
	"sync"

	"sluice/docs"
	"sluice/internal/lint"
	"sluice/internal/model"
)

// row is how a row of docs/differences.md is recognised.
type row struct {
	// id names the row in reports. It stays if the text of the row changes.
	id string
	// what is the first cell of the row, or begins it.
	what string
	when
}

// Reasons why no manifest shows that a difference matters.
const (
	byRequest      = "it depends on the requests of clients"
	byAnswer       = "it depends on the answers of a server"
	operation      = "it shows while the controller runs: at a start, a change or a failure"
	otherObject    = "it depends on the content of a Secret, a ConfigMap, a Service or a volume"
	onlySluice     = "ingress-nginx has nothing like it, so that no Ingress depends on it"
	nothingChanges = "answers are the same, unless somebody asks Sluice for more"
	stopsOthers    = "with it ingress-nginx applies no change at all, so that no running cluster has it"
	metricsOnly    = "clients get the same; only metrics differ"
	inFinding      = "the Problem of the entry says it"
)

// when is the condition of a row. The zero value holds for nothing.
type when struct {
	// A finding is of the row if all of these hold for it, so far as they are given:
	// its field is one of fields, where "*" at an end stands for any text; its text has
	// one of says; it has the reason; it closes paths; it is of an object of the kind.
	finding bool
	fields  []string
	says    []string
	reason  model.Reason
	denies  bool
	kind    string
	// quiet recognises an Ingress that has no finding.
	quiet func(*facts) bool
	// controller recognises settings and flags.
	controller func(*controller) bool
	// everywhere is set if the row is about every Ingress.
	everywhere bool
	// untold is why the row cannot be recognised.
	untold string
	// alike is set if ingress-nginx answers the same; only the Problem is new.
	alike bool
	// lost is set if older releases of ingress-nginx did something that neither its last one
	// nor Sluice does.
	lost bool
	// closes is set if the paths of a finding return 503.
	closes bool
	remedy string
}

func by(fields string) when              { return when{finding: true, fields: strings.Fields(fields)} }
func because(reason model.Reason) when   { return when{finding: true, reason: reason} }
func quiet(holds func(*facts) bool) when { return when{quiet: holds} }
func always() when                       { return when{everywhere: true} }
func untold(why string) when             { return when{untold: why} }

// given recognises an Ingress that turns a switch on, and settings that do so for all: those
// are reported once.
func given(name string) when {
	return when{quiet: func(f *facts) bool { return f.value(name) == "true" }, controller: func(c *controller) bool { return c.on(name) }}
}

// asked recognises an Ingress by annotations that are on.
func asked(names string) when { return quiet(func(f *facts) bool { return f.asks(names) }) }

func setup(holds func(*controller) bool) when { return when{controller: holds} }

// set recognises settings that are given.
func set(names string) when {
	return setup(func(c *controller) bool { return slices.ContainsFunc(strings.Fields(names), c.given) })
}

// flagged recognises a flag that is given and not off.
func flagged(name string) when {
	return setup(func(c *controller) bool { return !slices.Contains(offWords, c.Given[name]) })
}

func (w when) that(says ...string) when { w.says = says; return w }
func (w when) in(fields string) when    { w.fields = strings.Fields(fields); return w }
func (w when) on(kind string) when      { w.kind = kind; return w }
func (w when) denying() when            { w.denies = true; return w }
func (w when) same() when               { w.alike = true; return w }
func (w when) losing() when             { w.lost = true; return w }
func (w when) closing() when            { w.closes = true; return w }
func (w when) fix(remedy string) when   { w.remedy = remedy; return w }

// with also wants one of these annotations, which is on.
func (w when) with(names string) when {
	holds := w.quiet
	return quiet(func(f *facts) bool { return holds(f) && f.asks(names) })
}

// unless wants that none of these annotations is on.
func (w when) unless(names string) when {
	holds := w.quiet
	return quiet(func(f *facts) bool { return holds(f) && !f.asks(names) })
}

// precision is how closely the condition describes a finding, 0 if it does not hold.
func (w when) precision(f lint.Finding, field string) int {
	if !w.finding || w.denies && !f.Denies || w.reason != "" && w.reason != f.Reason || w.kind != "" && w.kind != f.Object.Kind {
		return 0
	}
	precision := 1
	if w.kind != "" {
		precision++
	}
	if w.denies {
		precision++
	}
	if len(w.fields) > 0 {
		if !slices.ContainsFunc(w.fields, func(pattern string) bool { return fits(pattern, field) }) {
			return 0
		}
		precision += 4
	}
	if len(w.says) > 0 {
		if !containsAny(f.Text, w.says...) {
			return 0
		}
		precision += 8
	}
	return precision
}

// fits compares a field with a pattern that can begin or end with "*", or both.
func fits(pattern, field string) bool {
	if middle, is := strings.CutSuffix(pattern, "*"); is && strings.HasPrefix(middle, "*") {
		return strings.Contains(field, middle[1:])
	}
	if ending, is := strings.CutPrefix(pattern, "*"); is {
		return strings.HasSuffix(field, ending)
	}
	if beginning, is := strings.CutSuffix(pattern, "*"); is {
		return strings.HasPrefix(field, beginning)
	}
	return pattern == field
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// rows are all rows in the order of the page.
var rows = slices.Concat(pathRows, backendRows, redirectRows, proxyRows, streamRows, classRows, valueRows, accessRows, balancingRows, logRows, metricRows, tlsRows, statusRows)

// Difference is a row of docs/differences.md.
type Difference struct {
	ID string `json:"id"`
	// Page is the file with the section, such as "docs/differences.md#classes".
	Page         string `json:"page"`
	What         string `json:"what"`
	IngressNginx string `json:"ingressNginx"`
	Sluice       string `json:"sluice"`
	Why          string `json:"why"`
}

// differences are those of rows, by their index.
var differences = sync.OnceValue(func() []*Difference {
	page := Page(docs.Differences)
	all := make([]*Difference, len(rows))
	for i, r := range rows {
		if at := find(page, r.what); at >= 0 {
			d := page[at]
			d.ID = r.id
			all[i] = &d
		}
	}
	return all
})

// find returns the only row that a text is or begins, -1 if there is none or several.
func find(page []Difference, what string) int {
	found := -1
	for i, d := range page {
		switch {
		case d.What == plain(what):
			return i
		case strings.HasPrefix(d.What, plain(what)) && found >= 0:
			return -1
		case strings.HasPrefix(d.What, plain(what)):
			found = i
		}
	}
	return found
}

// Page reads the tables of docs/differences.md.
func Page(text string) []Difference {
	var all []Difference
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading, is := strings.CutPrefix(line, "## "); is {
			section = anchor(heading)
		}
		cells := cellsOf(line)
		if len(cells) < 4 || cells[0] == "what" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		all = append(all, Difference{Page: "docs/differences.md#" + section, What: plain(cells[0]), IngressNginx: plain(cells[1]), Sluice: plain(cells[2]), Why: plain(cells[3])})
	}
	return all
}

// cellsOf returns the cells of a row of a table, nil for other lines.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))
	}
	return cells
}

// anchor is the anchor of a heading as GitHub makes it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_':
			return r
		}
		return -1
	}, strings.ToLower(heading))
}

// plain removes the marks of code and the targets of links.
func plain(text string) string {
	text = strings.ReplaceAll(text, "`", "")
	for {
		before, rest, open := strings.Cut(text, "](")
		_, after, closed := strings.Cut(rest, ")")
		start := strings.LastIndex(before, "[")
		if !open || !closed || start < 0 {
			return text
		}
		text = before[:start] + before[start+1:] + after
	}
}
