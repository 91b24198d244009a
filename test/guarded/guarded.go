// Package guarded reads what Ingresses ask of each host, for package guard: from the
// objects, without the code of translate that places their paths.
package guarded

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/guard"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Host is what a host is asked for.
type Host struct {
	Name string
	guard.Asked
	// owner is the namespace of its oldest Ingress.
	owner string
	// turns is set if an Ingress of which the settings say that it decides turns the host.
	turns bool
	// older are the paths of the Ingresses that were read, which have them before others.
	older map[typedPath]bool
	// differ are the Ingresses whose annotations differ by path, on any host.
	differ map[model.ObjectRef]bool
}

// Memo keeps what was read of objects for the next call with the same ones, which finds
// them by their pointers. It is for one goroutine.
type Memo struct {
	settings *translate.Memo
	// general are the settings of configMap.
	configMap *corev1.ConfigMap
	general   *settings.Settings
	policies  map[reading]*annotations.Annotations
}

// reading is what annotations depend on.
type reading struct {
	object   *networkingv1.Ingress
	settings *settings.Settings
	prefix   string
}

// NewMemo returns one that keeps nothing yet.
func NewMemo() *Memo { return &Memo{settings: translate.NewMemo()} }

// generalSettings gives those of the controller's ConfigMap.
func (m *Memo) generalSettings(configMap *corev1.ConfigMap) *settings.Settings {
	if m.general == nil || m.configMap != configMap {
		m.configMap = configMap
		m.general, _ = settings.Read(configMap)
	}
	return m.general
}

// Hosts gives what the Ingresses that are ours ask for, by the names of the hosts. On
// a host that is not delegated to them, or has a server snippet that they would inherit, as a
// Problem says, they ask for nothing.
// Further owners are those of translate.ConfigWith, younger than all Ingresses and sorted
// by age.
func (m *Memo) Hosts(s *snapshot.Snapshot, o translate.Options, problems []model.Problem, owners ...*claim.Object) []*Host {
	r := &reader{
		options: o, settings: m.settings.Settings(s, o), hosts: map[string]*Host{}, differ: map[model.ObjectRef]bool{}, problems: problems,
		known: m.policies, policies: map[reading]*annotations.Annotations{},
	}
	defer func() { m.policies = r.policies }()
	general := m.generalSettings(s.ConfigMap(o.ConfigMap))
	r.wide, r.byNamespace = general.Paths.RegexScope != "path", general.Hosts.ByNamespace()
	class := o
	class.DisableCatchAll = false // a field that is left out opens no path
	for _, object := range s.Ingresses() {
		named := len(validation.IsDNS1123Label(object.Namespace)) == 0 && len(validation.IsDNS1123Subdomain(object.Name)) == 0
		if ours, _ := translate.Accepts(s, class, object); ours && named {
			r.read(object)
		}
	}
	for _, owner := range owners {
		r.readOwner(owner, general)
	}
	var all []*Host
	for _, h := range r.hosts {
		h.Turned, h.differ = r.wide && h.turns, r.differ
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *Host) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Open says which requests are open on servers, one a line.
func (m *Memo) Open(s *snapshot.Snapshot, o translate.Options, servers []*model.Server, problems []model.Problem, owners ...*claim.Object) []string {
	var lines []string
	for _, h := range m.Hosts(s, o, problems, owners...) {
		lines = append(lines, h.bare(servers)...)
		for _, server := range h.Servers(servers) {
			for _, open := range guard.Check(h.Asked, server.Locations, server.Internal) {
				lines = append(lines, fmt.Sprintf("host %q: %q, which %s %s %q of %s would take, goes to %s %q of %s",
					h.Name, open.Path, open.Claim.Field, open.Claim.PathType, open.Claim.Path, open.Claim.Owner, open.Taker.Modifier, open.Taker.Path, open.Taker.Rule.Object))
			}
		}
	}
	return lines
}

// bare gives the locations that pass on requests of an Ingress without all that
// protects it, whichever of its paths or names they come from.
func (h *Host) bare(servers []*model.Server) (lines []string) {
	for i, c := range h.Claims {
		byPath := h.differ[c.Owner]
		if !c.Protects || !byPath && i > 0 && h.Claims[i-1].Owner == c.Owner {
			continue // all claims of the Ingress are protected alike
		}
		for _, server := range servers {
			all := slices.Clone(server.Locations)
			for _, l := range server.Internal {
				if l.Modifier == model.Named { // a subrequest is made once its parent was let in
					all = append(all, l.Location)
				}
			}
			for _, l := range all {
				lacks := func(block string) bool {
					return !slices.ContainsFunc(l.Blocks, func(b model.Block) bool { return b.Name == block })
				}
				if isErrorPage(l) && !slices.ContainsFunc(server.Locations, func(own *model.Location) bool { return sameService(own, l) }) {
					continue // it passes on nothing but the root of another Service
				}
				of := l.Rule.Object == c.Owner && (!byPath || l.Rule.Field == c.Field)
				if of && l.Proxy != nil && (c.Denied || slices.ContainsFunc(c.Blocks, lacks)) {
					lines = append(lines, fmt.Sprintf("host %q: %s %q of %s is not protected", server.Host, l.Modifier, l.Path, c.Owner))
				}
			}
		}
	}
	return lines
}

// isErrorPage reports whether requests with an error end at a location, without their path.
func isErrorPage(l *model.Location) bool {
	return l.Modifier == model.Named && l.Rule.Kind == model.RuleError && l.Rewrite != nil && l.Rewrite.Pattern == "^" && l.Rewrite.Target == "/"
}

// sameService reports whether two locations of one object pass on to the same Service.
func sameService(a, b *model.Location) bool {
	return a.Rule.Object == b.Rule.Object && a.Proxy != nil && b.Proxy != nil && a.Proxy.Service.Namespace == b.Proxy.Service.Namespace && a.Proxy.Service.Name == b.Proxy.Service.Name
}

// Servers are those that serve the host: with its name, also as an alias, and with its aliases. Where
// there is none, the catch-all one has its requests.
func (h *Host) Servers(servers []*model.Server) []*model.Server {
	var own []*model.Server
	for _, s := range servers {
		if s.Host == h.Name || slices.Contains(s.Aliases, h.Name) {
			own = append(own, s)
		}
	}
	if len(own) == 0 {
		own = servers[:1]
	}
	return own
}

type reader struct {
	options  translate.Options
	settings func(*networkingv1.Ingress) *settings.Settings
	// wide is set if patterns of a host can turn all of it, byNamespace if only those of the
	// namespace that owns it do.
	wide, byNamespace bool
	hosts             map[string]*Host
	differ            map[model.ObjectRef]bool
	problems          []model.Problem
	// known are those of the call before, policies those of this one.
	known, policies map[reading]*annotations.Annotations
}

// policiesOf gives the annotations of an Ingress.
func (r *reader) policiesOf(object *networkingv1.Ingress) *annotations.Annotations {
	of := reading{object, r.settings(object), r.options.AnnotationsPrefix}
	policies := r.known[of]
	if policies == nil {
		policies = annotations.Read(object, of.settings, of.prefix)
	}
	r.policies[of] = policies
	return policies
}

// read adds the claims of an Ingress.
func (r *reader) read(object *networkingv1.Ingress) {
	policies := r.policiesOf(object)
	if policies.Withheld() || policies.Canary.Enabled {
		return // a canary has no paths of its own
	}
	owner := model.ObjectRef{Kind: "Ingress", Namespace: object.Namespace, Name: object.Name}
	denied := r.options.Denied[owner] != 0
	if left := r.options.DisableCatchAll && object.Spec.DefaultBackend != nil; left && !denied && !policies.GuardsAny() {
		return // it is left out, and has no effect on others
	}
	r.differ[owner] = policies.DifferByPath()
	c := guard.Claim{Owner: owner}
	for _, alias := range policies.ServerAlias.Names {
		if r.hosts[alias] == nil {
			r.hosts[alias] = &Host{Name: alias, owner: object.Namespace, older: map[typedPath]bool{}}
		}
	}
	for host, rules := range rulesOf(object) {
		rules = append(redirectsOf(policies), rules...)
		if r.hosts[host] == nil {
			r.hosts[host] = &Host{Name: host, owner: object.Namespace, older: map[typedPath]bool{}}
		}
		left := func(p model.Problem) bool {
			return (p.Reason == model.NotDelegated || p.Reason == model.Conflict && !p.Denies) && p.Object == c.Owner && p.Field == translate.HostField(object, host)
		}
		if slices.ContainsFunc(r.problems, left) && r.hosts[host].owner != object.Namespace {
			continue
		}
		c.Pattern = r.hosts[host].ask(policies, rules, !r.byNamespace || r.hosts[host].owner == object.Namespace)
		for _, rule := range rules {
			c.Field, c.Path, c.PathType = rule.field, rule.path, rule.pathType
			own := policies.At(rule.path)
			c.Match = model.Match{Headers: own.Match.Headers, Query: own.Match.Query}
			if r.isOthers(c) {
				continue
			}
			c.Denied = denied || own.Denied()
			c.Redirect, c.Own = rule.redirect, own.Regex.Enabled || rewrites(own, rule.path)
			c.Protects = !c.Redirect && (c.Denied || len(own.Protects()) > 0)
			c.Blocks, c.Protections, c.BackendName = blocksOf(own), own.Protections(), own.Transport.VerifiedName()
			r.hosts[host].Claims = append(r.hosts[host].Claims, c)
		}
	}
}

// isOthers reports whether a claim for some requests is left out, as another namespace has its
// path.
func (r *reader) isOthers(c guard.Claim) bool {
	left := func(p model.Problem) bool {
		return p.Reason == model.NotDelegated && p.Object == c.Owner && p.Field == c.Field
	}
	return !c.Match.Any() && slices.ContainsFunc(r.problems, left)
}

// readOwner adds the claims of an owner that is no Ingress.
func (r *reader) readOwner(owner *claim.Object, general *settings.Settings) {
	policies := annotations.Of(owner.Source(), general, r.options.AnnotationsPrefix)
	r.differ[owner.Ref] = policies.DifferByPath()
	for _, c := range owner.Claims {
		if c.Listener != "" {
			continue
		}
		if r.hosts[c.Host] == nil {
			r.hosts[c.Host] = &Host{Name: c.Host, owner: owner.Ref.Namespace, older: map[typedPath]bool{}}
		}
		if r.isOthers(guard.Claim{Owner: owner.Ref, Field: c.Field, Match: c.Match}) {
			continue
		}
		own := policies.At(c.Path)
		r.hosts[c.Host].Claims = append(r.hosts[c.Host].Claims, guard.Claim{
			Owner: owner.Ref, Field: c.Field, Path: c.Path, PathType: c.PathType, Match: c.Match,
			Denied: own.Denied(), Protects: own.Denied() || len(own.Protects()) > 0, Blocks: blocksOf(own), Protections: own.Protections(), BackendName: own.Transport.VerifiedName(),
		})
	}
}

// blocksOf are the names of the blocks that keep requests out.
func blocksOf(a *annotations.Annotations) []string {
	return slices.DeleteFunc(slices.Clone(a.Protects()), func(name string) bool { return !annotations.HasBlock(name) })
}

// path is one that is written.
type path struct {
	field, path, pathType string
	// redirect is set for a line of the annotation redirects.
	redirect bool
}

// redirectsOf gives the redirects of an Ingress, which come before the paths of each of its
// hosts. Requests that it redirects reach no backend.
func redirectsOf(policies *annotations.Annotations) (all []path) {
	for _, line := range policies.Redirects.Lines {
		one := path{field: annotations.OwnPrefix + "redirects", path: line.From, pathType: "Exact", redirect: true}
		if line.Below {
			one.path, one.pathType = line.From+"/", "Prefix"
		}
		all = append(all, one)
	}
	return all
}

// rulesOf gives the paths of an Ingress by host, without hosts that no request has.
func rulesOf(object *networkingv1.Ingress) map[string][]path {
	rules := map[string][]path{}
	for i, rule := range object.Spec.Rules {
		name := strings.TrimPrefix(rule.Host, "*.")
		if name != "" && (len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsValidIP(nil, name)) == 0) || rule.Host == "*." {
			continue
		}
		if _, ok := rules[rule.Host]; !ok {
			rules[rule.Host] = nil // a host without paths counts, too
		}
		if rule.HTTP == nil {
			continue
		}
		for j, p := range rule.HTTP.Paths {
			one := path{field: fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, j), path: p.Path, pathType: "ImplementationSpecific"}
			if p.PathType != nil {
				one.pathType = string(*p.PathType)
			}
			if one.path == "" {
				one.path = "/"
			}
			rules[rule.Host] = append(rules[rule.Host], one)
		}
	}
	return rules
}

// typedPath is a path that an Ingress has for all its requests.
type typedPath struct{ path, pathType string }

// ask reports whether the next Ingress of a host asks for patterns there: by use-regex, or by a
// rewrite. Paths that an older Ingress has ask for nothing. An Ingress that decides turns the
// host, but not by a rewrite that is invalid.
func (h *Host) ask(policies *annotations.Annotations, rules []path, decides bool) bool {
	asking := []*annotations.Annotations{}
	turns := false
	own := map[typedPath]bool{}
	pathless := true
	for _, p := range rules {
		at, of := typedPath{p.path, p.pathType}, policies.At(p.path)
		always := p.redirect || len(of.Match.Headers)+len(of.Match.Query) == 0
		if always {
			own[at] = true
		}
		if p.redirect {
			continue
		}
		pathless = false
		if !always || !h.older[at] {
			asking = append(asking, of)
			turns = turns || rewrites(of, p.path)
		}
	}
	maps.Copy(h.older, own)
	if pathless {
		asking = append(asking, policies)
	}
	turns = turns || slices.ContainsFunc(asking, func(a *annotations.Annotations) bool { return a.Regex.Enabled })
	h.turns = h.turns || turns && decides
	return turns || slices.ContainsFunc(asking, func(a *annotations.Annotations) bool { return a.Rewrite.LeftOut })
}

// rewrites reports whether a rewrite changes a path.
func rewrites(own *annotations.Annotations, path string) bool {
	return own.Rewrite.Target != "" && own.Rewrite.Target != path
}
