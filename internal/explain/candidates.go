package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// candidate is a Candidate with the facts to judge it by.
type candidate struct {
	Candidate
	// ingress is nil for a candidate of another object, or of Sluice.
	ingress *networkingv1.Ingress
	// server is the server of its host, nil if there is none.
	server *model.Server
	// hostField is the first field of the object with the host.
	hostField string
}

// candidates returns all candidates for the host of the request. Those of older
// Ingresses come first.
func (x *explainer) candidates() []*candidate {
	var all []*candidate
	for _, ing := range x.Snapshot.Ingresses() {
		all = append(all, x.ofRedirects(ing)...)
		all = append(all, x.ofRules(ing)...)
		if c := x.ofDefaultBackend(ing); c != nil {
			all = append(all, c)
		}
	}
	all = append(all, x.ofOthers()...)
	all = append(all, x.ofAppRoot()...)
	return append(all, x.ofFallbacks()...)
}

// meant reports whether a rule's host fits the request: it is the same, has the
// request's host as an alias, is a wildcard above it, or is empty.
func (x *explainer) meant(host string) bool {
	host = strings.ToLower(host)
	suffix, wildcard := strings.CutPrefix(host, "*.")
	named := host == x.choice.Name || x.byAlias() && host == x.deciding.Host
	return host == "" || named || wildcard && strings.HasSuffix(x.choice.Name, "."+suffix)
}

func (x *explainer) ofRules(ing *networkingv1.Ingress) []*candidate {
	var all []*candidate
	for i := range ing.Spec.Rules {
		rule := &ing.Spec.Rules[i]
		if rule.HTTP == nil || !x.meant(rule.Host) {
			continue
		}
		for j := range rule.HTTP.Paths {
			path := &rule.HTTP.Paths[j]
			c := x.written(ing, rule.Host, &path.Backend)
			c.Kind, c.Field, c.Path = FromRule, fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, j), path.Path
			c.PathType = string(ptr.Deref(path.PathType, networkingv1.PathTypeImplementationSpecific))
			all = append(all, c)
		}
	}
	return all
}

// redirectsField is the annotation of the redirects of paths.
const redirectsField = annotations.OwnPrefix + "redirects"

// ofRedirects returns the lines of the annotation redirects, for each host of an Ingress.
func (x *explainer) ofRedirects(ing *networkingv1.Ingress) []*candidate {
	var all []*candidate
	asked := annotations.Read(ing, x.settingsOf(ing), x.Options.AnnotationsPrefix)
	var hosts []string
	for i := range ing.Spec.Rules {
		if host := ing.Spec.Rules[i].Host; x.meant(host) && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for _, host := range hosts {
		for i := range asked.Redirects.Lines {
			line := &asked.Redirects.Lines[i]
			path, pathType := claim.RedirectPath(line)
			to := line.To
			if line.Keeps {
				to += "*"
			}
			all = append(all, &candidate{
				ingress: ing, server: x.server(host), hostField: translate.HostField(ing, host),
				Candidate: Candidate{
					Kind: FromRedirect, Object: snapshot.RefOf(ing), Field: redirectsField,
					Host: host, Path: path, PathType: string(pathType), Backend: strconv.Itoa(line.Code) + " " + to,
				},
			})
		}
	}
	return all
}

// ofDefaultBackend returns the spec.defaultBackend of an Ingress that has a rule for
// the host, or no rules. Its host is that of the deciding server if the Ingress has a
// rule there.
func (x *explainer) ofDefaultBackend(ing *networkingv1.Ingress) *candidate {
	if ing.Spec.DefaultBackend == nil {
		return nil
	}
	var hosts []string
	for i := range ing.Spec.Rules {
		if host := ing.Spec.Rules[i].Host; x.meant(host) {
			hosts = append(hosts, host)
		}
	}
	if len(ing.Spec.Rules) == 0 {
		hosts = []string{""}
	}
	if len(hosts) == 0 {
		return nil
	}
	host := hosts[0]
	if x.deciding != nil && slices.Contains(hosts, x.deciding.Host) {
		host = x.deciding.Host
	}
	c := x.written(ing, host, ing.Spec.DefaultBackend)
	c.Kind, c.Field = FromDefaultBackend, claim.DefaultBackendField
	return c
}

// written returns a candidate of an Ingress, without its field.
func (x *explainer) written(ing *networkingv1.Ingress, host string, backend *networkingv1.IngressBackend) *candidate {
	return &candidate{
		ingress: ing, server: x.server(host), hostField: translate.HostField(ing, host),
		Candidate: Candidate{Object: snapshot.RefOf(ing), Host: host, Backend: backendText(ing, backend)},
	}
}

// placed returns the candidate of a location that has no Ingress, or no rule of it.
func placed(kind CandidateKind, server *model.Server, l *model.Location) *candidate {
	return &candidate{server: server, Candidate: Candidate{
		Kind: kind, Object: l.Rule.Object, Field: l.Rule.Field, Host: server.Host, Path: l.Rule.Path, PathType: l.Rule.PathType, Backend: answerText(l),
	}}
}

// ofAppRoot returns the redirect of / on the deciding server.
func (x *explainer) ofAppRoot() []*candidate {
	var all []*candidate
	if x.deciding == nil {
		return nil
	}
	for _, l := range x.deciding.Locations {
		if l.Rule.Kind == model.RuleRedirect {
			c := placed(FromAppRoot, x.deciding, l)
			c.PathType = string(networkingv1.PathTypeExact)
			all = append(all, c)
		}
	}
	return all
}

// ofFallbacks returns the fallbacks of the deciding server and of the catch-all one,
// and the location for health checks if it takes the request.
func (x *explainer) ofFallbacks() []*candidate {
	var all []*candidate
	servers := []*model.Server{x.server("")}
	if x.deciding != servers[0] {
		servers = append([]*model.Server{x.deciding}, servers...)
	}
	for _, server := range servers {
		if server == nil {
			continue
		}
		for _, l := range answering(server) {
			switch {
			case l.Rule.Kind == model.RuleFallback && l.Rule.Field == "":
				c := placed(FromFallback, server, l)
				c.Path = ""
				all = append(all, c)
			case l.Rule.Kind == model.RuleHealth && l == x.choice.Location:
				all = append(all, placed(FromHealth, server, l))
			case l.Rule.Kind == model.RuleStatus && l == x.choice.Location:
				all = append(all, placed(FromStatus, server, l))
			}
		}
	}
	return all
}

// locations returns the locations of a candidate on its server, with their verdicts if
// that is the deciding server.
func (x *explainer) locations(c *candidate) (found []*model.Location, judged []route.LocationVerdict) {
	if c.server == nil {
		return nil, nil
	}
	at := origin{object: c.Object, field: c.Field}
	for _, l := range x.origins.placed(c.server, at) {
		if c.asked(l) {
			found = append(found, l)
		}
	}
	if c.server == x.deciding {
		for _, v := range x.origins.verdicts(x.choice.Locations, at) {
			if c.asked(v.Location) {
				judged = append(judged, v)
			}
		}
	}
	return found, judged
}

// asked reports whether a location comes from a candidate. All redirects of an Ingress
// have the same field.
func (c *candidate) asked(l *model.Location) bool {
	same := c.Kind != FromRedirect || l.Rule.Path == c.Path && l.Rule.PathType == c.PathType
	return same && l.Rule.Object == c.Object && l.Rule.Field == c.Field
}

// String names the candidate as in the summary.
func (c *Candidate) String() string {
	switch c.Kind {
	case FromRule, FromRedirect:
		text := fmt.Sprintf("%s, %s (%s %s", c.Object, c.Field, c.PathType, cmp.Or(c.Path, "/"))
		if c.Match != "" {
			text += " if " + c.Match
		}
		return text + ")"
	case FromHealth, FromStatus:
		return c.Field
	case FromDefaultBackend, FromAppRoot:
		return fmt.Sprintf("%s, %s", c.Object, c.Field)
	}
	if c.Host == "" {
		return "the fallback"
	}
	return "the fallback of host " + c.Host
}

// backendText names the backend of a rule as written.
func backendText(ing *networkingv1.Ingress, b *networkingv1.IngressBackend) string {
	switch {
	case b.Service != nil:
		return ing.Namespace + "/" + b.Service.Name + ":" + cmp.Or(b.Service.Port.Name, strconv.Itoa(int(b.Service.Port.Number)))
	case b.Resource != nil:
		return b.Resource.Kind + " " + b.Resource.Name
	}
	return "none"
}

// answerText names the backend or the status of a location.
func answerText(l *model.Location) string {
	switch {
	case l.Return != nil:
		return strings.TrimSpace(strconv.Itoa(l.Return.Code) + " " + l.Return.URL)
	case l.Proxy != nil:
		return l.Proxy.Service.Namespace + "/" + l.Proxy.Service.Name
	}
	return ""
}
