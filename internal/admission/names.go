package admission

import (
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
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
// share a name with it, without most of what they have on other names. isRead is set if its
// namespace has Ingresses, so that its Services are known.
func (r *Reviewer) beside(b Basis, object *networkingv1.Ingress) (beside []*networkingv1.Ingress, isRead bool) {
	r.mutex.Lock()
	r.names.update(b.Snapshot, b.Options.Translate.AnnotationsPrefix)
	hosts, patterned := r.names.hostsOf(object)
	found := r.names.sharing(hosts, patterned)
	isRead = r.names.inNamespace[object.Namespace] > 0
	r.mutex.Unlock()
	delete(found, snapshot.NameOf(object))
	if b.Alone || len(found) == 0 {
		return nil, isRead
	}
	shared := sharedOf(hosts)
	for name := range found {
		if other := b.Snapshot.Ingress(name); other != nil {
			beside = append(beside, shared.trim(other))
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
	for _, alias := range keys.Items(object.Annotations[n.prefix+"/server-alias"]) {
		if strings.HasPrefix(alias, "~") {
			patterned = true
		} else if short, both := strings.CutPrefix(alias, "."); both { // the name and the wildcard
			hosts = append(hosts, short, "*."+short)
		} else {
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

// sharing returns the Ingresses that have one of some names, also by a wildcard. A pattern takes
// names only from the host "", and from other patterns.
func (n *names) sharing(hosts []string, patterned bool) map[snapshot.Name]bool {
	found := map[snapshot.Name]bool{}
	if patterned || slices.Contains(hosts, "") {
		maps.Copy(found, n.patterned)
	}
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
