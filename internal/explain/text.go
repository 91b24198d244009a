package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// WriteShort prints only the outcome.
func (e *Explanation) WriteShort(w io.Writer) error {
	t := &text{}
	t.line(0, "%s", e.Outcome)
	_, err := io.WriteString(w, t.out.String())
	return err
}

// WriteText prints the explanation for people: the outcome in the first line, then
// nginx's choice, the effects on the request, and the losers.
func (e *Explanation) WriteText(w io.Writer) error {
	t := &text{}
	t.line(0, "%s", e.Outcome)
	t.line(0, "%s", e.Summary)
	t.line(0, "")
	t.choice(e)
	if e.Applied != nil {
		t.applied(e.Applied)
	}
	t.losers(e.Losers)
	if len(e.Problems) > 0 {
		t.line(0, "Problems of %s:", e.Winner.Object)
		t.problems(2, e.Problems)
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// text collects the lines of an explanation.
type text struct{ out strings.Builder }

// mostLine limits the length of a line, which can contain texts of users.
const mostLine = 2 * mostShown

func (t *text) line(indent int, format string, arguments ...any) {
	if line := model.OneLine(fmt.Sprintf(format, arguments...), mostLine); line != "" {
		t.out.WriteString(strings.Repeat(" ", indent) + line)
	}
	t.out.WriteByte('\n')
}

// field prints a name with its value, and further lines below.
func (t *text) field(name, value string, below ...string) {
	t.line(0, "%-11s %s", name+":", value)
	for _, line := range below {
		t.line(12, "%s", line)
	}
}

// choice prints how nginx chooses a location.
func (t *text) choice(e *Explanation) {
	var below, last []string
	for _, s := range e.Servers {
		words := ": " + serverWords(s)
		if s.Alias != "" {
			words = ", by its alias " + s.Alias + words
		}
		if s.Host == "" {
			last = append(last, "any host"+words)
			continue
		}
		below = append(below, s.Host+words)
	}
	below = append(below, last...)
	t.field("Host", e.Request.Host, below...)
	path := e.Path.Normalized
	if e.Path.Refusal != "" {
		path = "refused: " + e.Path.Refusal
	}
	below = nil
	for _, step := range e.Path.Steps {
		below = append(below, stepWords[step.Kind]+": "+step.Path)
	}
	t.field("Path", path, below...)
	for _, l := range e.Locations {
		if l.Verdict == route.Wins {
			t.field("Location", notation(l.Modifier, l.Path))
		}
	}
	if e.Winner != nil {
		t.field("Why", e.Winner.Why)
	}
}

var stepWords = map[route.StepKind]string{
	route.CutsQuery:     "the query is cut off",
	route.CutsFragment:  "the fragment is cut off",
	route.Decodes:       "percent escapes are decoded, once",
	route.MergesSlashes: "slashes are merged",
	route.ResolvesDots:  "dot segments are resolved",
}

// beaten are the reasons why another server wins.
var beaten = map[route.Verdict]string{
	route.PreciseFirst:  "a precise host comes first, ",
	route.LongerFirst:   "a longer wildcard comes first, ",
	route.WildcardFirst: "a wildcard comes first, ",
	route.EarlierFirst:  "an earlier name comes first, ",
}

func serverWords(s Server) string {
	switch words, is := beaten[s.Verdict]; {
	case is:
		return words + s.By
	case s.Verdict == route.Wins:
		return "wins"
	case s.Verdict == route.OneLabel:
		return "* stands for exactly one label"
	}
	return "it takes hosts that no other server has"
}

func (t *text) applied(a *Applied) {
	if a.Denied != nil {
		t.field("Denied", strconv.Itoa(a.Denied.Status)+", until this is fixed")
		t.problems(12, a.Denied.Problems)
	}
	if r := a.Redirect; r.Redirects {
		t.field("HTTPS", fmt.Sprintf("%d to %s", r.Status, r.Location), r.Why)
	} else {
		t.field("HTTPS", "no redirect: "+r.Why)
	}
	if a.Rewrite != nil {
		below := "the URI for the backend depends on the match of the pattern"
		if a.Rewrite.Path != "" {
			below = "the backend gets " + a.Rewrite.Path
		}
		t.field("Rewrite", a.Rewrite.Pattern+" to "+a.Rewrite.Target, below)
	}
	if a.Backend != nil {
		t.backend(a.Backend)
	}
	t.behaviours(a)
}

// mostListed is the maximum number of items of a kind; JSON has all.
const mostListed = 10

// listed returns the first items with a word before each.
func listed(before string, items []string) []string {
	var lines []string
	for _, item := range items[:min(len(items), mostListed)] {
		lines = append(lines, before+item)
	}
	if more := len(items) - mostListed; more > 0 {
		lines = append(lines, fmt.Sprintf("%sand %d more", before, more))
	}
	return lines
}

func (t *text) backend(b *Backend) {
	name := "Service " + b.name()
	if b.Default {
		name += ", the default backend"
	}
	below := listed("", b.Endpoints)
	below = append(below, listed("health check fails: ", b.Failing)...)
	if b.ExternalName != "" {
		below = append(below, b.ExternalName+", whose addresses the controller looks up")
	}
	if b.Why != "" {
		below = append(below, "no endpoint: "+b.Why)
	}
	if b.Picked != "" {
		below = append(below, "picked "+b.Picked)
	}
	for _, s := range b.Shares {
		this := ""
		if !s.Possible {
			this = "; not this one"
		}
		below = append(below, "canary "+s.Service+" gets "+s.Gets+this)
	}
	t.field("Backend", name+", over "+transportWords(b.Transport), below...)
}

// protocolNames are the protocols without TLS, and before those of TLS.
var protocolNames = map[string]string{"": "plain HTTP", string(model.GRPC): "plain gRPC", string(model.FastCGI): "FastCGI", string(model.AutoHTTP): "HTTP or HTTPS as the client speaks"}

func transportWords(t Transport) string {
	words := "TLS"
	switch {
	case !t.TLS:
		return protocolNames[t.Protocol]
	case t.Protocol == string(model.GRPC):
		words = "gRPC and TLS"
	case t.Protocol == string(model.AutoHTTP):
		words = protocolNames[t.Protocol]
	}
	if t.Verify {
		return words + ", with a certificate for " + t.Name
	}
	return words + ", with any certificate"
}

// mostValue limits the printed length of a value; JSON has more.
const mostValue = 48

// mostDefaults limits the length of a list of defaults in one line.
const mostDefaults = 106

// mostTarget limits the printed length of a subrequest's URL.
const mostTarget = 400

func (t *text) behaviours(a *Applied) {
	if len(a.Behaviours) == 0 {
		return
	}
	t.line(0, "Behaviours:")
	if a.Backend == nil {
		t.line(2, "(the status comes first: of these, only body limits and added headers apply)")
	}
	for _, b := range a.Behaviours {
		t.behaviour(b)
	}
}

func (t *text) behaviour(b Behaviour) {
	if list, all := defaults(b); all && len(b.Name+list) <= mostDefaults {
		t.line(2, "%s (default): %s", b.Name, list)
		return
	}
	name := b.Name
	switch {
	case b.Answers:
		name += ": answers some requests itself, before they are redirected to HTTPS"
	case b.Snippet:
		name += ": nginx directives of a user, which may change this answer"
	case b.Refuses:
		name += ": lets only some requests through"
	}
	t.line(2, "%s", name)
	if b.Target != "" {
		t.line(4, "%-27s %s", "(sends subrequests to)", model.OneLine(b.Target, mostTarget))
	}
	for _, k := range b.Keys {
		t.line(4, "%-27s %-*s %s", writtenName(k), mostValue, model.OneLine(k.Value, mostValue), sourceWords(k))
	}
}

// defaults lists the values of a behaviour if all are defaults.
func defaults(b Behaviour) (list string, all bool) {
	var values []string
	for _, k := range b.Keys {
		if k.Source != FromDefault {
			return "", false
		}
		values = append(values, k.Key+" "+k.Value)
	}
	return strings.Join(values, ", "), true
}

// writtenName returns the name of a key as written in the Ingress, without its prefix.
func writtenName(k Key) string {
	if k.Source != FromAnnotation || k.Inherited {
		return k.Key
	}
	return k.Name[strings.LastIndexByte(k.Name, '/')+1:]
}

func sourceWords(k Key) string {
	switch {
	case k.Inherited:
		return k.Name + " of " + k.Object.String()
	case k.Source == FromAnnotation:
		return "annotation of " + k.Object.String()
	case k.Source == FromSetting:
		return k.Object.String()
	}
	return "default"
}

// losers prints the first losers with each verdict.
func (t *text) losers(losers []Candidate) {
	if len(losers) == 0 {
		return
	}
	t.line(0, "Lost:")
	count := map[Verdict]int{}
	for i := range losers {
		c := &losers[i]
		if count[c.Verdict]++; count[c.Verdict] <= mostListed {
			t.loser(c)
		}
		last := i+1 == len(losers) || losers[i+1].Verdict != c.Verdict
		if more := count[c.Verdict] - mostListed; last && more > 0 {
			t.line(2, "and %d more with the verdict %s", more, c.Verdict)
		}
	}
}

func (t *text) loser(c *Candidate) {
	name := c.String()
	if c.Host != "" && c.Kind != FromFallback {
		name += ", host " + c.Host
	}
	t.line(2, "%s, to %s", name, c.Backend)
	t.line(4, "%s", c.Why)
	for _, p := range c.Problems {
		if p.Text != c.Why {
			t.problems(4, []model.Problem{p})
		}
	}
}

func (t *text) problems(indent int, problems []model.Problem) {
	for _, p := range problems {
		if p.Field == "" {
			p.Field = p.Object.String()
		}
		t.line(indent, "%s: %s (%s)", p.Field, p.Message(), p.Reason)
	}
}
