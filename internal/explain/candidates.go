package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/snapshot"
)

// defaultBackendField is the field of an Ingress for what its rules leave.
const defaultBackendField = "spec.defaultBackend"

// candidate is a Candidate with what it is judged by.
type candidate struct {
	Candidate
	// ingress is nil for a fallback.
	ingress *networkingv1.Ingress
	// server is the one of its host, nil if there is none.
	server *model.Server
	// hostField is that of the rule's host.
	hostField string
}

// candidates finds everything that could be meant for the host of the request,
// the Ingresses in the order in which they count.
func (x *explainer) candidates() []*candidate {
	var all []*candidate
	for _, ing := range x.Snapshot.Ingresses() {
		all = append(all, x.ofRules(ing)...)
		if c := x.ofDefaultBackend(ing); c != nil {
			all = append(all, c)
		}
	}
	all = append(all, x.ofOthers()...)
	all = append(all, x.ofAppRoot()...)
	return append(all, x.ofFallbacks()...)
}

// meant says whether a rule's host could be meant by the host of the request: it
// is equal or has it as an alias, is a wildcard over it, or empty.
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
			c := &candidate{ingress: ing, server: x.server(rule.Host), hostField: fmt.Sprintf("spec.rules[%d].host", i)}
			c.Candidate = Candidate{
				Kind: FromRule, Object: snapshot.RefOf(ing), Field: fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, j),
				Host: rule.Host, Path: path.Path, PathType: string(networkingv1.PathTypeImplementationSpecific), Backend: backendText(ing, &path.Backend),
			}
			if path.PathType != nil {
				c.PathType = string(*path.PathType)
			}
			all = append(all, c)
		}
	}
	return all
}

// ofDefaultBackend gives the spec.defaultBackend of an Ingress that has a rule for
// the host, or no rules. It is judged on the server that decides, if the Ingress
// has a part in that.
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
	c := &candidate{ingress: ing, server: x.server(host)}
	c.Candidate = Candidate{Kind: FromDefaultBackend, Object: snapshot.RefOf(ing), Field: defaultBackendField, Host: host, Backend: backendText(ing, ing.Spec.DefaultBackend)}
	return c
}

// ofAppRoot is the redirect of / of the server that decides.
func (x *explainer) ofAppRoot() []*candidate {
	var all []*candidate
	if x.deciding == nil {
		return nil
	}
	for _, l := range x.deciding.Locations {
		if l.Rule.Kind == model.RuleRedirect {
			c := &candidate{server: x.deciding}
			c.Candidate = Candidate{
				Kind: FromAppRoot, Object: l.Rule.Object, Field: l.Rule.Field, Host: x.deciding.Host,
				Path: l.Rule.Path, PathType: string(networkingv1.PathTypeExact), Backend: answerText(l),
			}
			all = append(all, c)
		}
	}
	return all
}

// ofFallbacks are what Sluice adds for what no rule takes: of the server that
// decides, and of the catch-all one.
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
			c := &candidate{server: server}
			switch {
			case l.Rule.Kind == model.RuleFallback && l.Rule.Field == "":
				c.Candidate = Candidate{Kind: FromFallback, Object: l.Rule.Object, Host: server.Host, Backend: answerText(l)}
			case l.Rule.Kind == model.RuleHealth && l == x.choice.Location:
				c.Candidate = Candidate{Kind: FromHealth, Host: server.Host, Field: l.Rule.Field, Path: l.Rule.Path, PathType: l.Rule.PathType, Backend: answerText(l)}
			default:
				continue
			}
			all = append(all, c)
		}
	}
	return all
}

// locations are those that a candidate has on its server, with what became of
// them if that is the one that decides.
func (x *explainer) locations(c *candidate) (placed []*model.Location, judged []route.LocationVerdict) {
	if c.server == nil {
		return nil, nil
	}
	for _, l := range answering(c.server) {
		if c.asked(l) {
			placed = append(placed, l)
		}
	}
	if c.server == x.deciding {
		for _, v := range x.choice.Locations {
			if len(v.Location.Dispatch) == 0 && c.asked(v.Location) {
				judged = append(judged, v)
			}
		}
	}
	return placed, judged
}

// asked says whether a location comes from a candidate.
func (c *candidate) asked(l *model.Location) bool {
	return l.Rule.Object == c.Object && l.Rule.Field == c.Field
}

// String names a candidate as the summary does.
func (c *Candidate) String() string {
	switch c.Kind {
	case FromRule:
		text := fmt.Sprintf("%s, %s (%s %s", c.Object, c.Field, c.PathType, cmp.Or(c.Path, "/"))
		if c.Match != "" {
			text += " if " + c.Match
		}
		return text + ")"
	case FromHealth:
		return c.Field
	case FromDefaultBackend, FromAppRoot:
		return fmt.Sprintf("%s, %s", c.Object, c.Field)
	}
	if c.Host == "" {
		return "the fallback"
	}
	return "the fallback of host " + c.Host
}

// backendText names the backend of a rule as it is written.
func backendText(ing *networkingv1.Ingress, b *networkingv1.IngressBackend) string {
	switch {
	case b.Service != nil:
		return ing.Namespace + "/" + b.Service.Name + ":" + cmp.Or(b.Service.Port.Name, strconv.Itoa(int(b.Service.Port.Number)))
	case b.Resource != nil:
		return b.Resource.Kind + " " + b.Resource.Name
	}
	return "none"
}

// answerText says what a location does with a request, in a word.
func answerText(l *model.Location) string {
	switch {
	case l.Return != nil:
		return strings.TrimSpace(strconv.Itoa(l.Return.Code) + " " + l.Return.URL)
	case l.Proxy != nil:
		return l.Proxy.Service.Namespace + "/" + l.Proxy.Service.Name
	}
	return ""
}
