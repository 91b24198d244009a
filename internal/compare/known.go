package compare

import (
	"net/url"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// Known is a deliberate difference of Sluice from ingress-nginx.
type Known struct {
	// Case is the golden case that shows it, or another name.
	Case string `json:"case"`
	Text string `json:"text"`
}

// knownCase recognises a deliberate difference, if a is ingress-nginx and b is Sluice.
type knownCase struct {
	Known
	is func(r *Result, o origin, d Difference) bool
}

// knownCases are the recognised differences; docs/differences.md has all of them.
var knownCases = []knownCase{
	{Known{"path-prefix-slash", "a slash at the end of a Prefix path does not count, so that the path without it is served instead of redirected"}, isPrefixSlash},
	{Known{"path-shadow", "an Exact path with a slash at its end does not redirect the path without it"}, isExactSlash},
	{Known{"path-encoded", "a path with percent escapes matches"}, isEncoded},
	{Known{"server-header", "nginx sends the header Server, without its version"}, func(_ *Result, _ origin, d Difference) bool {
		return d.Place == Place{Header, "Server"} && d.B == "nginx"
	}},
	{Known{"hsts", "every answer over HTTPS has Strict-Transport-Security, redirects and errors too"}, func(r *Result, _ origin, d Difference) bool {
		return d.Place == Place{Header, "Strict-Transport-Security"} && d.A == "" && r.Request.Scheme == "https" && r.first[1].Status >= 300
	}},
	{Known{"redirect-port", "a redirect names a port only if it is not the usual one"}, func(_ *Result, _ origin, d Difference) bool {
		return d.Kind == Redirect && d.A != d.B && withoutUsualPort(d.A) == d.B
	}},
	{Known{"closed", "Sluice cannot honour what protects the path, so the path returns 503"}, isClosed},
	{Known{"invalid-value", "ingress-nginx does not serve an Ingress with an invalid value; Sluice leaves out only the behaviour that the value belongs to"}, isInvalidValue},
	{Known{"resource-backend", "a backend that is no Service returns 503"}, isResource},
	{Known{"self-signed", "each controller makes its own default certificate when it starts"}, func(_ *Result, _ origin, d Difference) bool {
		return d.Kind == Cert && strings.HasPrefix(d.A, selfSigned) && strings.HasPrefix(d.B, selfSigned)
	}},
}

// selfSigned is how the default certificate of both controllers begins.
const selfSigned = "CN=Kubernetes Ingress Controller Fake Certificate "

// KnownCases are the names of the recognised differences.
func KnownCases() (names []string) {
	for _, k := range knownCases {
		names = append(names, k.Case)
	}
	return names
}

// knownAs returns the deliberate difference that a difference is, or nil.
func knownAs(r *Result, o origin, d Difference) *Known {
	for _, k := range knownCases {
		if k.is(r, o, d) {
			return &k.Known
		}
	}
	return nil
}

// addsSlash reports whether a redirects to the path with a slash at its end, and b does not.
func addsSlash(r *Result, o origin, d Difference) bool {
	if d.Kind != Status || d.A != "301" {
		return false
	}
	u, err := url.Parse(r.first[0].header("Location"))
	return err == nil && u.Path == o.choice.Path+"/"
}

func isPrefixSlash(r *Result, o origin, d Difference) bool {
	return addsSlash(r, o, d) && hasRule(o, "Prefix", o.choice.Path+"/")
}

func isExactSlash(r *Result, o origin, d Difference) bool {
	return addsSlash(r, o, d) && hasRule(o, "Exact", o.choice.Path+"/")
}

// hasRule reports whether the host of a request has a rule with that path.
func hasRule(o origin, pathType, path string) bool {
	if o.choice.Server == nil {
		return false
	}
	return slices.ContainsFunc(o.choice.Server.Locations, func(l *model.Location) bool {
		decoded, _ := route.Decode(l.Rule.Path)
		return decoded == path && (l.Rule.PathType == pathType || pathType == "Prefix" && l.Rule.PathType == "ImplementationSpecific")
	})
}

func isEncoded(_ *Result, o origin, d Difference) bool {
	return d.Kind == Status && strings.Contains(o.rule.Path, "%") && o.choice.Location.Modifier != model.Pattern
}

// returns503 reports whether the rule returns 503, and b does.
func returns503(o origin, d Difference) bool {
	l := o.choice.Location
	return d.Kind == Status && d.B == "503" && !o.near && l != nil && l.Return != nil && l.Return.Code == 503
}

func isClosed(_ *Result, o origin, d Difference) bool {
	return returns503(o, d) && slices.ContainsFunc(o.problems, func(p model.Problem) bool { return p.Denies })
}

func isResource(_ *Result, o origin, d Difference) bool {
	return d.Kind == Status && d.B == "503" && slices.ContainsFunc(o.problems, func(p model.Problem) bool { return p.Field == o.rule.Field+".backend.resource" })
}

func isInvalidValue(_ *Result, o origin, d Difference) bool {
	invalid := func(p model.Problem) bool { return p.Reason == model.InvalidValue && strings.Contains(p.Field, "/") }
	return d.Kind == Status && d.A == "404" && !o.near && slices.ContainsFunc(o.problems, invalid)
}

// withoutUsualPort drops :80 and :443 where they are the usual ports.
func withoutUsualPort(location string) string {
	return Ports{80, 443}.usual(location)
}

// Ignore says which differences do not count: names of kinds, of kinds with a name such as
// "Header:Server", of known differences, or KnownKind for all of these.
type Ignore []string

// KnownKind stands for all known differences, except those of refused.
const KnownKind = "Known"

// refused are known differences of paths that return 503. Clients notice them, so they have to
// be named one by one.
var refused = []string{"closed", "resource-backend"}

func (g Ignore) has(d Difference, known *Known) bool {
	return slices.ContainsFunc(g, func(name string) bool {
		kind, of, named := strings.Cut(name, ":")
		switch {
		case known != nil && (strings.EqualFold(name, KnownKind) && !slices.Contains(refused, known.Case) || strings.EqualFold(name, known.Case)):
			return true
		case named:
			return strings.EqualFold(kind, string(d.Kind)) && strings.EqualFold(of, d.Name)
		}
		return strings.EqualFold(name, string(d.Kind))
	})
}
