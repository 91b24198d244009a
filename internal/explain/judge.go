package explain

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/assemble"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/translate"
)

// judge says whether a candidate wins, and else the first reason for which it
// does not: its Ingress, itself, its host, its path.
func (x *explainer) judge(c *candidate) {
	placed, judged := x.locations(c)
	c.Problems = x.problemsOf(c)
	switch {
	case c.ingress != nil && !x.accepted(c):
	case len(placed) == 0:
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

// problemsOf are the Problems in the field of a candidate, and those that deny its
// Ingress.
func (x *explainer) problemsOf(c *candidate) []model.Problem {
	if c.ingress == nil {
		return nil
	}
	var found []model.Problem
	for _, p := range x.problems[c.Object] {
		if own(p, c) || p.Denies {
			found = append(found, p)
		}
	}
	return found
}

// own says whether a Problem is in the field of a candidate.
func own(p model.Problem, c *candidate) bool {
	return p.Field == c.Field || strings.HasPrefix(p.Field, c.Field+".") || c.hostField != "" && p.Field == c.hostField
}

// accepted judges the class of the candidate's Ingress.
func (x *explainer) accepted(c *candidate) bool {
	ours, remarks := translate.Accepts(x.Snapshot, x.Options, c.ingress)
	switch {
	case ours, len(remarks) > 0 && x.present(c.Object): // what protects is closed
		return true
	case len(remarks) > 0:
		c.lost(LeftOut, "its Ingress is left out")
		c.Problems = remarks
	default:
		c.lost(OtherClass, "its Ingress %s", x.classFault(c))
	}
	return false
}

// classFault says why the class of an Ingress is not served.
func (x *explainer) classFault(c *candidate) string {
	name, field := translate.ClassOf(c.ingress)
	if field == "" {
		return "names no class, and no IngressClass that is served is the default one"
	}
	text := fmt.Sprintf("is of the class %q (%s), ", name, field)
	class := x.Snapshot.IngressClass(name)
	switch {
	case field != translate.ClassField || x.Options.ClassesUnreadable:
		return text + "and served are: " + strings.Join(x.Options.IngressClasses, ", ")
	case class == nil:
		return text + "and there is no IngressClass of that name"
	}
	return text + fmt.Sprintf("whose spec.controller is %s and not %s", class.Spec.Controller, x.Options.ControllerClass)
}

// judgeAbsent says why nothing became of a candidate.
func (x *explainer) judgeAbsent(c *candidate) {
	at := slices.IndexFunc(c.Problems, func(p model.Problem) bool { return own(p, c) })
	undelegated := x.undelegated(c)
	switch {
	case undelegated != nil:
		c.lost(NotDelegated, "%s", undelegated.Text)
		c.Problems = []model.Problem{*undelegated}
	case x.annotationsOf(c.ingress).Withheld():
		x.leaveOut(c)
	case x.annotationsOf(c.ingress).Canary.Enabled:
		c.lost(SharesPath, "it is a canary: it has no location, and gets some requests of an Ingress with the same path")
	case c.Kind == FromDefaultBackend && c.server != nil && c.server.Taker() != nil:
		c.lost(PathsFirst, "a path of the host leaves nothing for it: %s", named(c.server.Taker()))
	case at >= 0:
		c.lost(HasProblem, "%s", c.Problems[at].Text)
	case !x.present(c.Object):
		x.leaveOut(c)
	default:
		c.lost(Repeated, "its Ingress says the same before")
	}
}

// undelegated is the Problem that the host of a candidate is owned by another
// namespace, which does not delegate it; nil for none.
func (x *explainer) undelegated(c *candidate) *model.Problem {
	field, problems := translate.HostField(c.ingress, c.Host), x.problems[c.Object]
	at := slices.IndexFunc(problems, func(p model.Problem) bool { return p.Reason == model.NotDelegated && p.Field == field })
	if at < 0 {
		return nil
	}
	return &problems[at]
}

// leaveOut tells that nothing of an Ingress is served, and of its Problems those
// that are not in its rules.
func (x *explainer) leaveOut(c *candidate) {
	c.lost(LeftOut, "its Ingress is left out")
	c.Problems = nil
	for _, p := range x.problems[c.Object] {
		if !strings.HasPrefix(p.Field, "spec.") {
			c.Problems = append(c.Problems, p)
		}
	}
}

// present says whether anything became of an object.
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

// judgeHost says why another host comes first.
func (x *explainer) judgeHost(c *candidate) {
	for _, v := range x.choice.Servers {
		switch {
		case v.Server != c.server:
		case v.Verdict == route.OneLabel:
			c.lost(OneLabel, "the * of its host %s stands for exactly one label, and %s has more", c.Host, x.choice.Name)
		case c.Host == "":
			c.lost(LessSpecificHost, "it is for any host, and what is for %s comes first", x.deciding.Host)
		default:
			c.lost(LessSpecificHost, "its host %s is less specific than %s", c.Host, x.deciding.Host)
		}
	}
}

// judgeLocations says what nginx makes of the locations of a candidate.
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

// stem says whether a location is the Prefix /foo/ of the path /foo. It has no
// location for that where another rule has it by its exact name.
func (x *explainer) stem(l *model.Location) bool {
	return l.Modifier == model.PrefixFirst && l.Path == x.choice.Path+"/"
}

func (x *explainer) judgeLocation(c *candidate, v route.LocationVerdict) {
	verdict := Verdict(v.Verdict)
	if v.Verdict == route.ExactFirst && v.By.Rule.PathType != "Exact" {
		// The "=" of a Prefix is the Prefix itself, for its path without "/".
		if verdict = LongerFirst; v.Location.Modifier == model.Pattern {
			verdict = PrefixOnlyFirst
		}
	}
	c.Verdict, c.Why = verdict, why(verdict, v.Location, x.choice.Path)
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

// whyNot gives verdicts on a location as words.
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

// why gives a verdict on a location as words.
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
	case l.Rule.Field == "" || l.Rule.Field == defaultBackendField:
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

// named names what a location comes from.
func named(l *model.Location) string {
	switch l.Rule.Field {
	case "":
		return "the fallback"
	case assemble.HealthField:
		return assemble.HealthField
	case defaultBackendField:
		return "spec.defaultBackend of " + l.Rule.Object.String()
	}
	return fmt.Sprintf("%s %s of %s", l.Rule.PathType, l.Rule.Path, l.Rule.Object)
}
