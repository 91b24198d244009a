package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/route"
	"sluice/internal/translate"
)

// judge sets the verdict of a candidate. A loser gets the first reason in this order:
// its Ingress, the rule itself, its host, its path.
func (x *explainer) judge(c *candidate) {
	locations, judged := x.locations(c)
	c.Problems = x.problemsOf(c)
	switch {
	case c.ingress != nil && !x.accepted(c):
	case len(locations) == 0:
		x.judgeAbsent(c)
	case c.server != x.deciding:
		x.judgeHost(c)
	default:
		x.judgeLocations(c, judged)
	}
}

func (c *candidate) lost(verdict Verdict, format string, arguments ...any) {
	c.Verdict, c.Why = verdict, fmt.Sprintf(format, arguments...)
}

// own reports whether a Problem is in a field of a candidate.
func own(p model.Problem, c *candidate) bool {
	return p.Field == c.Field || strings.HasPrefix(p.Field, c.Field+".") || c.hostField != "" && p.Field == c.hostField
}

// accepted judges the class of the candidate's Ingress and reports whether it is served.
func (x *explainer) accepted(c *candidate) bool {
	ours, remarks := translate.Accepts(x.Snapshot, x.Options, c.ingress)
	switch {
	case ours, len(remarks) > 0 && x.present(c.Object): // its protected paths return 503
		return true
	case len(remarks) > 0:
		c.lost(LeftOut, "its Ingress is left out")
		c.Problems = remarks
	default:
		c.lost(OtherClass, "its Ingress %s", translate.ClassFault(x.Snapshot, x.Options, c.ingress))
	}
	return false
}

// judgeAbsent gives the reason that a candidate has no location: the recorded cause, or
// else its Problem.
func (x *explainer) judgeAbsent(c *candidate) {
	at := slices.IndexFunc(c.Problems, func(p model.Problem) bool { return own(p, c) })
	unplaced := x.unplaced(c)
	switch {
	case unplaced != nil:
		c.lost(Verdict(unplaced.Cause), "%s", unplaced.Text)
	case at < 0:
		x.leaveOut(c)
	case c.Problems[at].Reason == model.NotDelegated:
		c.lost(NotDelegated, "%s", c.Problems[at].Text)
	default:
		c.lost(HasProblem, "%s", c.Problems[at].Text)
	}
}

// unplaced returns the recorded cause; nil if there is none.
func (x *explainer) unplaced(c *candidate) *model.Unplaced {
	return x.origins.cause(x.Config.Unplaced, origin{c.Object, c.Host, c.Field})
}

// leaveOut gives the verdict that the Ingress is not served, with its Problems outside
// of spec and those of all its rules.
func (x *explainer) leaveOut(c *candidate) {
	c.lost(LeftOut, "its Ingress is left out")
	c.Problems = nil
	for _, p := range x.problems[c.Object] {
		if !strings.HasPrefix(p.Field, "spec.") || p.Field == "spec.rules" {
			c.Problems = append(c.Problems, p)
		}
	}
}

// present reports whether an object has a location.
func (x *explainer) present(ref model.ObjectRef) bool {
	for _, s := range x.servers {
		for _, l := range s.Locations {
			if l.Rule.Object == ref {
				return true
			}
		}
	}
	return false
}

// judgeHost gives the reason why another host wins.
func (x *explainer) judgeHost(c *candidate) {
	for _, v := range x.choice.Servers {
		switch {
		case v.Server != c.server:
		case v.Verdict == route.OneLabel:
			c.lost(OneLabel, "the * of its host %s stands for exactly one label, and %s has more", c.Host, x.choice.Name)
		case c.Host == "":
			c.lost(LessSpecificHost, "it is for any host, and %s is more specific", x.deciding.Host)
		default:
			c.lost(LessSpecificHost, "its host %s is less specific than %s", c.Host, x.deciding.Host)
		}
	}
}

// judgeLocations judges a candidate by the location that comes closest.
func (x *explainer) judgeLocations(c *candidate, judged []route.LocationVerdict) {
	best := judged[0]
	for _, v := range judged {
		if v.Verdict == route.Wins || best.Verdict == route.DoesNotMatch && v.Verdict != route.DoesNotMatch {
			best = v
		}
	}
	if best.Verdict == route.DoesNotMatch && x.stem(best.Location) && x.choice.Location != nil {
		best.Verdict, best.By = route.ExactFirst, x.choice.Location
	}
	x.judgeLocation(c, best)
}

// stem reports whether a location is the Prefix /foo/ and the path is /foo. It has no
// location for /foo if another rule has that as an Exact path.
func (x *explainer) stem(l *model.Location) bool {
	return l.Modifier == model.PrefixFirst && l.Path == x.choice.Path+"/"
}

func (x *explainer) judgeLocation(c *candidate, v route.LocationVerdict) {
	verdict := Verdict(v.Verdict)
	if v.Verdict == route.ExactFirst && v.By.Rule.PathType != "Exact" {
		// A Prefix has a "=" location for its path without "/".
		if verdict = LongerFirst; v.Location.Modifier == model.Pattern {
			verdict = PrefixOnlyFirst
		}
	}
	c.Verdict, c.Why = verdict, cmp.Or(rejected(v.Location, "nginx rejects its pattern: %s; its Ingress keeps its last good form, or is left out if it has none"), why(verdict, v.Location, x.choice.Path))
	switch {
	case verdict == Wins && x.choice.Outcome == route.Redirects:
		c.Why = "nginx redirects to its path"
	case verdict == Wins && v.Location.Modifier == model.Pattern && x.settings.Paths.RegexScope != "path":
		c.Why += "; all paths of the host are patterns, as an Ingress on it asks for that (regex-scope: host)"
	}
	if v.By != nil {
		c.Why += ": " + named(v.By)
	}
	if x.choice.Outcome == route.Unknown && (verdict == PatternFirst || verdict == EarlierFirst) {
		c.Why += ", if it matches"
	}
}

// rejected puts the reason why nginx rejects the pattern of a location into a text; it is
// empty if nginx may accept it.
func rejected(l *model.Location, format string) string {
	if l.Modifier != model.Pattern {
		return ""
	}
	reason := pcre.Rejection(l.Path, pcre.Caseless)
	if reason == "" {
		return ""
	}
	return fmt.Sprintf(format, reason)
}

// whyNot are the texts of verdicts on a location.
var whyNot = map[Verdict]string{
	Undecided:       "only nginx can tell whether its pattern or condition matches",
	ExactFirst:      "an exact path comes first",
	SlashFirst:      "nginx redirects to the path with a / at its end",
	LongerFirst:     "a longer prefix comes first",
	PrefixOnlyFirst: "a prefix comes before patterns",
	PatternFirst:    "a pattern comes before it",
	MoreSpecific:    "a more specific rule has the request",
	OtherRequests:   "it asks for another method, header or query parameter",
	EarlierFirst:    "an earlier pattern matches (longer paths are tried first)",
}

// why returns the text of a verdict on a location.
func why(verdict Verdict, l *model.Location, path string) string {
	switch text, known := whyNot[verdict]; {
	case verdict == Wins:
		return whyWins(l)
	case known:
		return text
	case l.Modifier == model.Pattern:
		return fmt.Sprintf("its pattern %s does not match %s", l.Path, path)
	}
	return "its path does not match " + path
}

func whyWins(l *model.Location) string {
	switch {
	case l.Rule.Field == "" || l.Rule.Field == claim.DefaultBackendField:
		return "no path of the host matches"
	case l.Modifier == model.Pattern:
		return "its pattern is the first that matches"
	case l.Modifier == model.Named:
		return "it is the most specific rule for the request"
	case l.Modifier == model.Equal && l.Rule.PathType == "Exact":
		return "it is exactly the path"
	}
	return "it is the longest prefix of the path"
}

// named names the origin of a location.
func named(l *model.Location) string {
	switch l.Rule.Field {
	case "":
		return "the fallback"
	case assemble.HealthField, assemble.StatusField:
		return l.Rule.Field
	case claim.DefaultBackendField:
		return "spec.defaultBackend of " + l.Rule.Object.String()
	}
	return fmt.Sprintf("%s %s of %s", l.Rule.PathType, l.Rule.Path, l.Rule.Object)
}
