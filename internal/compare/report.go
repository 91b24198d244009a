package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Report is what a comparison finds.
type Report struct {
	// A and B are the addresses of the controllers.
	A Addresses `json:"a"`
	B Addresses `json:"b"`
	// Requests is the number of requests, Differing of those with a difference that counts,
	// and Unstable of those with a place where a controller does not repeat its answer.
	Requests  int `json:"requests"`
	Differing int `json:"differing"`
	Unstable  int `json:"unstable"`
	// Successes is the number of requests that both controllers answer with success, 2xx. If
	// there is none, nothing shows that their backends are reached.
	Successes int `json:"successes"`
	// Ignored is the number of ignored differences.
	Ignored int `json:"ignored"`
	// Notes say what was not asked.
	Notes  []string `json:"notes,omitempty"`
	Causes []*Cause `json:"causes"`
	// Unrepeated are the causes of unstable answers.
	Unrepeated []*Cause `json:"unrepeated,omitempty"`
}

// Addresses are those of a controller, as HOST:PORT; empty for none.
type Addresses struct {
	HTTP  string `json:"http,omitempty"`
	HTTPS string `json:"https,omitempty"`
}

// Of returns the address of a scheme.
func (a Addresses) Of(scheme string) string {
	if scheme == "https" {
		return a.HTTPS
	}
	return a.HTTP
}

// NewReport groups the differences of results by cause. A difference whose values are among
// those that the same rule does not repeat elsewhere is not counted either.
func NewReport(core *Core, results []Result, ignore Ignore) *Report {
	report := &Report{Requests: len(results)}
	g := &grouping{core: core, ignore: ignore, causes: map[causeKey]*Cause{}}
	unstable := &grouping{core: core, causes: map[causeKey]*Cause{}}
	varying := varyingOf(core, results)
	for i := range results {
		r := &results[i]
		if r.first[0].succeeds() && r.first[1].succeeds() {
			report.Successes++
		}
		if r.Same() {
			continue
		}
		o := core.origin(r.Request)
		differs, varies := false, false
		for _, d := range r.Differences {
			if varying.has(o, d) {
				varies = true
				continue
			}
			differs = g.add(r, o, d) || differs
		}
		for _, u := range r.Unstable {
			varies = true
			unstable.add(r, o, Difference{Place: u.Place})
		}
		report.count(differs, varies)
	}
	report.Causes, report.Unrepeated, report.Ignored = g.merged(), unstable.merged(), g.ignored
	return report
}

// succeeds reports whether an answer has a status of success.
func (a *Answer) succeeds() bool { return a.Status >= 200 && a.Status < 300 }

func (r *Report) count(differs, varies bool) {
	switch {
	case differs:
		r.Differing++
	case varies:
		r.Unstable++
	}
}

// varying are the values that rules do not repeat, by rule and place.
type varying map[causeKey]map[string]bool

func varyingOf(core *Core, results []Result) varying {
	all := varying{}
	for i := range results {
		for _, u := range results[i].Unstable {
			key := varyingKey(core.origin(results[i].Request), u.Place)
			if all[key] == nil {
				all[key] = map[string]bool{}
			}
			for value := range u.values {
				all[key][value] = true
			}
		}
	}
	return all
}

func varyingKey(o origin, place Place) causeKey {
	return causeKey{object: o.rule.Object, field: o.rule.Field, host: o.host, place: place}
}

func (v varying) has(o origin, d Difference) bool {
	values := v[varyingKey(o, d.Place)]
	return values[d.A] && values[d.B]
}

// Address fills in the addresses of the controllers, and the commands that show each
// example.
func (r *Report) Address(a, b Addresses) {
	r.A, r.B = a, b
	for _, c := range slices.Concat(r.Causes, r.Unrepeated) {
		request := c.Example.Request
		c.Example.CurlA, c.Example.CurlB = curl(request, a.Of(request.Scheme)), curl(request, b.Of(request.Scheme))
	}
}

// WriteText writes the report for people.
func (r *Report) WriteText(out io.Writer) error {
	var text strings.Builder
	for i, c := range r.Causes {
		fmt.Fprintf(&text, "%d. %s\n", i+1, c.title())
		c.writeExample(&text)
		text.WriteString("\n")
	}
	if len(r.Unrepeated) > 0 {
		text.WriteString("A controller does not repeat these answers, so they are not compared:\n")
		for _, c := range r.Unrepeated {
			fmt.Fprintf(&text, "   %s\n", c.title())
		}
		text.WriteString("\n")
	}
	text.WriteString(r.Summary() + "\n")
	_, err := io.WriteString(out, model.Lines(text.String()))
	return err
}

// Summary returns the numbers in one line.
func (r *Report) Summary() string {
	line := fmt.Sprintf("%s: %d differ", model.Counted(r.Requests, "request", "requests"), r.Differing)
	if len(r.Causes) > 0 {
		known := 0
		for _, c := range r.Causes {
			if c.Known != nil {
				known++
			}
		}
		line += fmt.Sprintf(", by %s, %d known", model.Counted(len(r.Causes), "cause", "causes"), known)
	}
	if r.Unstable > 0 {
		line += fmt.Sprintf("; %d are not repeated", r.Unstable)
	}
	if r.Requests > 0 && r.Successes == 0 {
		line += "; both controllers answer none of them with success (2xx), so nothing shows that they reach backends"
	}
	if r.Ignored > 0 {
		line += "; " + model.Counted(r.Ignored, "difference is ignored", "differences are ignored")
	}
	return line
}

// title names the kind, the number of requests, and the rule.
func (c *Cause) title() string {
	line := fmt.Sprintf("%s: %s, ", c.Place, model.Counted(c.Requests, "request", "requests"))
	switch {
	case c.Rules > 1:
		return line + fmt.Sprintf("%d rules of %s", c.Rules, model.Counted(len(c.Objects), "Ingress", "Ingresses"))
	case len(c.Objects) == 0:
		return line + "no rule of host " + c.Host
	}
	if c.Near {
		line += "taken by no rule, made of "
	}
	line += c.Objects[0] + ": host " + c.Host
	if c.Path != "" {
		line += ", " + c.Path
	}
	return model.OneLine(line, mostShown)
}

// writeExample writes the example, and what is known.
func (c *Cause) writeExample(out *strings.Builder) {
	e := c.Example
	if len(c.Objects) > 1 {
		const most = 5
		names := strings.Join(c.Objects[:min(len(c.Objects), most)], ", ")
		if len(c.Objects) > most {
			names += ", ..."
		}
		fmt.Fprintf(out, "   %s\n", names)
	}
	fmt.Fprintf(out, "   %s: %s\n   a: %s\n   b: %s\n", e.Request, e.Request.Why, e.A, e.B)
	if c.Known != nil {
		fmt.Fprintf(out, "   known: %s: %s\n", c.Known.Case, c.Known.Text)
	}
	for _, problem := range c.Problems {
		fmt.Fprintf(out, "   Sluice reports: %s\n", problem)
	}
	for _, command := range []string{e.CurlA, e.CurlB} {
		if command != "" {
			fmt.Fprintf(out, "   %s\n", command)
		}
	}
}
