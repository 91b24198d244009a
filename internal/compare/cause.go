package compare

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Cause is a group of differences with one reason: of one kind, in requests for one rule.
type Cause struct {
	Place
	// Objects are the Ingresses of the rules, empty for requests that no rule takes.
	Objects []string `json:"objects,omitempty"`
	// Field, Host and Path are those of the rule; empty if there are several.
	Field string `json:"field,omitempty"`
	Host  string `json:"host,omitempty"`
	Path  string `json:"path,omitempty"`
	// Near is set if no rule takes the requests: they were made of the one that is named.
	Near bool `json:"near,omitempty"`
	// Rules is the number of rules.
	Rules int `json:"rules"`
	// Requests is the number of requests.
	Requests int `json:"requests"`
	// Known is set if the difference is a deliberate one of Sluice.
	Known *Known `json:"known,omitempty"`
	// Example is the first of the requests.
	Example Example `json:"example"`
	// Problems are those that Sluice reports for the Ingress.
	Problems []string `json:"problems,omitempty"`

	// uniform is set if all differences have the values of the first.
	uniform bool
	object  model.ObjectRef
}

// Example is one request with both answers.
type Example struct {
	Request Request `json:"request"`
	A       string  `json:"a"`
	B       string  `json:"b"`
	// CurlA and CurlB are commands that ask the controllers.
	CurlA string `json:"curlA,omitempty"`
	CurlB string `json:"curlB,omitempty"`
}

// causeKey is equal for differences of one cause.
type causeKey struct {
	object      model.ObjectRef
	field, host string
	place       Place
	known       string
}

// grouping collects differences by cause.
type grouping struct {
	core   *Core
	ignore Ignore
	causes map[causeKey]*Cause
	// ignored is a number of differences.
	ignored int
}

// add adds a difference, and reports whether it counts.
func (g *grouping) add(r *Result, o origin, d Difference) bool {
	known := knownAs(r, o, d)
	if g.ignore.has(d, known) {
		g.ignored++
		return false
	}
	key := causeKey{object: o.rule.Object, field: o.rule.Field, host: o.host, place: d.Place}
	if known != nil {
		key.known = known.Case
	}
	if d.Kind == Cert {
		key.field = "" // it is of the host
	}
	c := g.causes[key]
	if c == nil {
		c = g.cause(r, o, d)
		c.Known, c.Field = known, key.field
		g.causes[key] = c
	}
	c.Requests++
	c.Near = c.Near && o.near
	c.uniform = c.uniform && c.Example.A == describe(r, d, 0) && c.Example.B == describe(r, d, 1)
	return true
}

// cause makes the cause of a first difference.
func (g *grouping) cause(r *Result, o origin, d Difference) *Cause {
	c := &Cause{
		Place: d.Place, Rules: 1, Host: cmp.Or(o.host, "*"), Near: o.near, object: o.rule.Object, uniform: true,
		Example: Example{Request: r.Request, A: describe(r, d, 0), B: describe(r, d, 1)},
	}
	if o.rule.Object.Kind != "" {
		c.Objects = []string{o.rule.Object.String()}
		c.Problems = problemsOf(o)
	}
	if d.Kind != Cert {
		c.Path = strings.TrimSpace(o.rule.PathType + " " + o.rule.Path)
	}
	return c
}

// describe returns the value of one side for the reader. A status that redirects has its
// target.
func describe(r *Result, d Difference, side int) string {
	value := []string{d.A, d.B}[side]
	location := r.first[side].header("Location")
	switch {
	case d.Kind == NoAnswer && value == "":
		return "answers"
	case d.Kind == Status && location != "":
		value += " to " + location
	case value == "":
		return "none"
	}
	return model.OneLine(value, mostShown)
}

// problemsOf returns the first Problems that are about the whole object of a rule or about the
// rule.
func problemsOf(o origin) (texts []string) {
	const most = 3
	for _, p := range o.problems {
		ofRule := !strings.HasPrefix(p.Field, "spec.rules") || strings.HasPrefix(p.Field, o.rule.Field)
		if ofRule && len(texts) < most {
			texts = append(texts, strings.TrimPrefix(p.Field+": ", ": ")+p.Message())
		}
	}
	return texts
}

// fewCauses is the number of alike causes from which on they become one.
const fewCauses = 5

// merged joins causes that are alike for many rules, and sorts them, the most frequent
// first.
func (g *grouping) merged() []*Cause {
	type alike struct {
		place       Place
		known, a, b string
	}
	groups := map[alike][]*Cause{}
	for _, c := range g.causes {
		key := alike{place: c.Place, a: c.Example.A, b: c.Example.B}
		if c.Known != nil {
			key = alike{place: Place{Kind: c.Kind}, known: c.Known.Case}
		}
		if c.Known == nil && !(c.uniform && (c.Kind == Header || c.Kind == Cookie)) {
			key.known = c.object.String() + c.Field + c.Host // it stays alone
		}
		groups[key] = append(groups[key], c)
	}
	var all []*Cause
	for _, causes := range groups {
		slices.SortFunc(causes, byFrequency)
		if len(causes) < fewCauses {
			all = append(all, causes...)
			continue
		}
		all = append(all, joined(causes))
	}
	slices.SortFunc(all, byFrequency)
	return all
}

// joined makes one cause of several.
func joined(causes []*Cause) *Cause {
	whole := *causes[0]
	whole.Field, whole.Host, whole.Path, whole.Problems = "", "", "", nil
	for _, c := range causes[1:] {
		whole.Requests += c.Requests
		whole.Rules++
		whole.Objects = append(slices.Clone(whole.Objects), c.Objects...)
	}
	slices.Sort(whole.Objects)
	whole.Objects = slices.Compact(whole.Objects)
	return &whole
}

func byFrequency(a, b *Cause) int {
	return cmp.Or(
		cmp.Compare(b.Requests, a.Requests), a.object.Compare(b.object), strings.Compare(a.Field, b.Field), strings.Compare(a.Host, b.Host),
		strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Name, b.Name), strings.Compare(a.Example.Request.key(), b.Example.Request.key()),
	)
}
