package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// names finds the Ingresses with a server name.
type names struct {
	// of is the snapshot that the rest is of. prefix begins the annotations.
	of     *snapshot.Snapshot
	prefix string
	// byName has the Ingresses of each name, byParent those of the names with one label more.
	byName, byParent map[string]map[snapshot.Name]bool
	// patterned have patterns as aliases, which can match any name.
	patterned map[snapshot.Name]bool
	held      map[snapshot.Name][]string
	// inNamespace is the number of Ingresses of each namespace.
	inNamespace map[string]int
}

// beside returns the Ingresses of the snapshot, other than the former form of the given one, that
// share a name with it. isRead is set if its namespace has Ingresses, so that its Services are known.
func (r *Reviewer) beside(b Basis, object *networkingv1.Ingress) (beside []*networkingv1.Ingress, isRead bool) {
	r.mutex.Lock()
	r.names.update(b.Snapshot, b.Options.Translate.AnnotationsPrefix)
	found := r.names.sharing(object)
	isRead = r.names.inNamespace[object.Namespace] > 0
	r.mutex.Unlock()
	delete(found, snapshot.NameOf(object))
	if b.Alone {
		return nil, isRead
	}
	for name := range found {
		if other := b.Snapshot.Ingress(name); other != nil {
			beside = append(beside, other)
		}
	}
	return beside, isRead
}

// update takes over a snapshot, at the cost of what differs.
func (n *names) update(s *snapshot.Snapshot, prefix string) {
	var changed []snapshot.Name
	switch {
	case n.of == s && n.prefix == prefix:
		return
	case n.of == nil || n.prefix != prefix:
		*n = names{prefix: prefix, byName: map[string]map[snapshot.Name]bool{}, byParent: map[string]map[snapshot.Name]bool{}, patterned: map[snapshot.Name]bool{}, held: map[snapshot.Name][]string{}, inNamespace: map[string]int{}}
		for _, object := range s.Ingresses() {
			changed = append(changed, snapshot.NameOf(object))
		}
	default:
		changed = s.Since(n.of).Ingresses
	}
	n.of = s
	for _, name := range changed {
		n.drop(name)
		if object := s.Ingress(name); object != nil {
			n.add(name, object)
		}
	}
}

func (n *names) drop(name snapshot.Name) {
	if _, known := n.held[name]; known {
		n.inNamespace[name.Namespace]--
	}
	for _, host := range n.held[name] {
		remove(n.byName, host, name)
		remove(n.byParent, parentOf(host), name)
	}
	delete(n.held, name)
	delete(n.patterned, name)
}

func (n *names) add(name snapshot.Name, object *networkingv1.Ingress) {
	hosts, patterned := n.hostsOf(object)
	n.held[name] = hosts
	n.inNamespace[name.Namespace]++
	for _, host := range hosts {
		put(n.byName, host, name)
		put(n.byParent, parentOf(host), name)
	}
	if patterned {
		n.patterned[name] = true
	}
}

// hostsOf returns the names that an Ingress has to do with: those of rules and of TLS, aliases, and
// those with and without "www.", which a redirect may add. The name of rules without a host is "".
func (n *names) hostsOf(object *networkingv1.Ingress) (hosts []string, patterned bool) {
	if object.Spec.DefaultBackend != nil {
		hosts = append(hosts, "")
	}
	for _, rule := range object.Spec.Rules {
		hosts = append(hosts, rule.Host)
	}
	for _, tls := range object.Spec.TLS {
		hosts = append(hosts, tls.Hosts...)
	}
	for alias := range strings.SplitSeq(object.Annotations[n.prefix+"/server-alias"], ",") {
		if alias = strings.TrimSpace(alias); strings.HasPrefix(alias, "~") {
			patterned = true
		} else if alias != "" {
			hosts = append(hosts, alias)
		}
	}
	for i, host := range hosts {
		hosts[i] = strings.ToLower(host)
	}
	for _, host := range hosts {
		if bare, found := strings.CutPrefix(host, "www."); found {
			hosts = append(hosts, bare)
		} else if host != "" && !strings.HasPrefix(host, "*") {
			hosts = append(hosts, "www."+host)
		}
	}
	return hosts, patterned
}

// sharing returns the Ingresses that share a name with one, also by a wildcard.
func (n *names) sharing(object *networkingv1.Ingress) map[snapshot.Name]bool {
	found := maps.Clone(n.patterned)
	hosts, _ := n.hostsOf(object)
	for _, host := range hosts {
		maps.Copy(found, n.byName[host])
		if parent := parentOf(host); strings.HasPrefix(host, "*.") {
			maps.Copy(found, n.byParent[parent])
		} else if parent != "" {
			maps.Copy(found, n.byName["*."+parent])
		}
	}
	return found
}

// parentOf returns a name without its first label, "" for a name of one.
func parentOf(host string) string {
	_, parent, _ := strings.Cut(host, ".")
	return parent
}

func put(into map[string]map[snapshot.Name]bool, host string, name snapshot.Name) {
	if into[host] == nil {
		into[host] = map[snapshot.Name]bool{}
	}
	into[host][name] = true
}

func remove(from map[string]map[snapshot.Name]bool, host string, name snapshot.Name) {
	delete(from[host], name)
	if len(from[host]) == 0 {
		delete(from, host)
	}
}

// holders are the Ingresses that have a path of the reviewed one, by the field of the path, and
// by their reference.
type holders struct {
	byField map[string][]*networkingv1.Ingress
	all     map[model.ObjectRef]*networkingv1.Ingress
}

// claimed is a path of a host.
type claimed struct{ host, path, pathType string }

func holdersOf(object *networkingv1.Ingress, beside []*networkingv1.Ingress) holders {
	h := holders{map[string][]*networkingv1.Ingress{}, map[model.ObjectRef]*networkingv1.Ingress{}}
	having := map[claimed][]*networkingv1.Ingress{}
	for _, other := range beside {
		h.all[snapshot.RefOf(other)] = other
		for path := range pathsOf(other) {
			having[path] = append(having[path], other)
		}
	}
	for path, fields := range pathsOf(object) {
		for _, field := range fields {
			h.byField[field] = having[path]
		}
	}
	return h
}

// handedOver reports whether all Ingresses that a Conflict is with let the reviewed one have their
// paths.
func (h holders) handedOver(p model.Problem, object *networkingv1.Ingress) bool {
	with := []*networkingv1.Ingress{h.all[p.Object]}
	if p.Object == snapshot.RefOf(object) {
		with = nil
		for field, others := range h.byField {
			if p.Field == field || strings.HasPrefix(p.Field, field+".") {
				with = append(with, others...)
			}
		}
	}
	refuses := func(other *networkingv1.Ingress) bool {
		return other == nil || other.Annotations[HandOver] != snapshot.NameOf(object).String()
	}
	return len(with) > 0 && !slices.ContainsFunc(with, refuses)
}

// pathsOf returns the paths of an Ingress, each with its fields.
func pathsOf(object *networkingv1.Ingress) map[claimed][]string {
	found := map[claimed][]string{}
	for i, rule := range object.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for j, path := range rule.HTTP.Paths {
			kind := ""
			if path.PathType != nil {
				kind = string(*path.PathType)
			}
			of := claimed{strings.ToLower(rule.Host), path.Path, kind}
			found[of] = append(found[of], fmt.Sprintf("spec.rules[%d].http.paths[%d]", i, j))
		}
	}
	return found
}
