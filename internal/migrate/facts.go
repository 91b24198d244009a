package migrate

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/syntax"
	"sluice/internal/translate"
)

// facts are what conditions look at: one Ingress with its settings, and its surroundings.
type facts struct {
	ingress *networkingv1.Ingress
	// given are its annotations without the prefix, and those that its settings give.
	given    map[string]string
	settings *settings.Settings
	common   *common
	options  translate.Options
	paths    []path
	// locations are those of its rules, and locationsOf those by the field of the rule.
	locations   []*model.Location
	locationsOf map[string][]*model.Location
	// items are those of its findings. denied is set if a path returns 503.
	items  []Item
	denied bool
	// shares is set if another Ingress has one of its hosts, sharesService if another
	// one has one of its Services, otherCanary if another one is a canary on its hosts.
	shares, sharesService, otherCanary bool
	healthPath                         string
	around                             surroundings
}

// path is a path of a rule.
type path struct {
	host, text, kind string
	// field is that of the path in its Ingress.
	field string
	// pattern is set if it is a regular expression.
	pattern bool
}

func (p path) is(kind string) bool { return p.kind == kind && !p.pattern }

func (p path) endsInSlash() bool { return len(p.text) > 1 && strings.HasSuffix(p.text, "/") }

// offWords are values by which an annotation asks for nothing.
var offWords = []string{"", "false", "off", "no", "0"}

// asks reports whether one of several annotations, separated by spaces, is on.
func (f *facts) asks(names string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(name string) bool { return !slices.Contains(offWords, f.value(name)) })
}

// value is an annotation without space around it, "" if it is not there.
func (f *facts) value(name string) string { return strings.TrimSpace(f.given[name]) }

// snippetReads reports whether a snippet names one of these variables.
func (f *facts) snippetReads(names ...string) bool {
	read := syntax.Variables([]byte(f.value("configuration-snippet") + f.value("server-snippet") + f.value("auth-snippet")))
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(read, name) })
}

// setting is the text of a setting in force.
func (f *facts) setting(name string) string {
	text, _ := f.settings.Value(name)
	return text
}

// inForce is an annotation, or else the setting of the same name.
func (f *facts) inForce(name string) string {
	if value := f.value(name); value != "" {
		return value
	}
	return f.setting(name)
}

func (f *facts) number(name string) (int, bool) {
	n, err := strconv.Atoi(f.value(name))
	return n, err == nil
}

func (f *facts) anyPath(holds func(path) bool) bool { return slices.ContainsFunc(f.paths, holds) }

// looksExempt reports whether a path begins with a prefix of paths without authentication or
// redirects, but the setting does not hold for it.
func (f *facts) looksExempt() bool {
	return f.anyPath(func(p path) bool {
		for _, prefixes := range [][]string{f.settings.Auth.NoAuthLocations, f.settings.Redirects.NoTLSLocations} {
			begins := slices.ContainsFunc(prefixes, func(prefix string) bool { return prefix != "" && strings.HasPrefix(p.text, prefix) })
			if begins && !settings.Covers(prefixes, p.text, f.value("rewrite-target")) {
				return true
			}
		}
		return false
	})
}

// hasWithoutSlash reports whether the Ingress also has a path without the slash at its end.
func (f *facts) hasWithoutSlash(p path) bool {
	return f.anyPath(func(other path) bool { return other.host == p.host && other.text == strings.TrimSuffix(p.text, "/") })
}

func (f *facts) anyLocation(holds func(*model.Location) bool) bool {
	return slices.ContainsFunc(f.locations, holds)
}

// speaks reports whether the backend protocol is one of these, in any case.
func (f *facts) speaks(protocols ...string) bool {
	return slices.ContainsFunc(protocols, func(name string) bool { return strings.EqualFold(f.value("backend-protocol"), name) })
}

// sharesMain reports whether the Service of a path, of which the Ingress is the canary, is that
// of another path too.
func (f *facts) sharesMain() bool {
	return f.anyPath(func(p path) bool { return f.around.passing[f.around.mains[p.host+p.text]] > 1 })
}

func (f *facts) hasTLS() bool { return len(f.ingress.Spec.TLS) > 0 }

// hasDefault reports whether a flag names a default backend.
func (f *facts) hasDefault() bool { return f.options.DefaultBackend != (snapshot.Name{}) }

// controller is the setup of a controller, with its flags and settings.
type controller struct {
	Setup
	options translate.Options
	snap    *snapshot.Snapshot
	// data are the settings by key, as the ConfigMap gives them.
	data map[string]string
	// streams is set if a ConfigMap of TCP or UDP services has an entry.
	streams bool
}

func newController(s Setup, e *lint.Examined, o translate.Options) *controller {
	c := &controller{Setup: s, options: o, snap: e.Snapshot, data: map[string]string{}}
	if m := e.Snapshot.ConfigMap(o.ConfigMap); m != nil {
		c.data = m.Data
	}
	c.streams = hasData(e.Snapshot.ConfigMap(o.TCPServices)) || hasData(e.Snapshot.ConfigMap(o.UDPServices))
	return c
}

func hasData(m *corev1.ConfigMap) bool { return m != nil && len(m.Data) > 0 }

// given reports whether a setting has a value.
func (c *controller) given(key string) bool { return strings.TrimSpace(c.data[key]) != "" }

// on reports whether a setting is true.
func (c *controller) on(key string) bool {
	is, err := strconv.ParseBool(strings.TrimSpace(c.data[key]))
	return err == nil && is
}

// adds reports whether the ConfigMap of add-headers has a header.
func (c *controller) adds(header string) bool {
	namespace, name, _ := strings.Cut(strings.TrimSpace(c.data["add-headers"]), "/")
	m := c.snap.ConfigMap(snapshot.Name{Namespace: namespace, Name: name})
	if m == nil {
		return false
	}
	for key := range m.Data {
		if strings.EqualFold(key, header) {
			return true
		}
	}
	return false
}

// hasHardPattern reports whether a list of texts to block has a pattern that can take many
// steps.
func hasHardPattern(list string) bool {
	var items keys.BlockedTexts
	if items.UnmarshalText([]byte(list)) != nil {
		return false
	}
	return slices.ContainsFunc(items, func(item keys.BlockedText) bool { return item.Pattern && pcre.Hard(item.Text) })
}

// isOfOneFamily reports whether a list has addresses of IPv4 or of IPv6 only.
func isOfOneFamily(list string) bool {
	families := map[bool]bool{}
	for _, item := range keys.Items(list) {
		if address, err := netip.ParseAddr(item); err == nil {
			families[address.Is4()] = true
		}
	}
	return len(families) == 1
}

func (c *controller) anyClass(holds func(*networkingv1.IngressClass) bool) bool {
	return slices.ContainsFunc(c.snap.IngressClasses(), holds)
}

// surroundings are the hosts, Services and canaries of all Ingresses.
type surroundings struct {
	hosts, services, canaries map[string]int
	// mains are the Services of paths that are no canaries, by host and path; passing
	// counts the paths of each.
	mains   map[string]string
	passing map[string]int
}

func surroundingsOf(all []*networkingv1.Ingress, prefix string) surroundings {
	s := surroundings{map[string]int{}, map[string]int{}, map[string]int{}, map[string]string{}, map[string]int{}}
	for _, ing := range all {
		for host := range hostsOf(ing) {
			s.hosts[host]++
			if ing.Annotations[prefix+"/canary"] == "true" {
				s.canaries[host]++
			}
		}
		for service := range servicesOf(ing) {
			s.services[service]++
		}
		if ing.Annotations[prefix+"/canary"] == "true" {
			continue
		}
		for _, rule := range ing.Spec.Rules {
			for path, service := range servicesByPath(ing, &rule) {
				s.mains[rule.Host+path] = service
				s.passing[service]++
			}
		}
	}
	return s
}

func hostsOf(ing *networkingv1.Ingress) map[string]bool {
	hosts := map[string]bool{}
	for _, rule := range ing.Spec.Rules {
		hosts[rule.Host] = true
	}
	return hosts
}

// servicesOf returns the Services of rules, with their ports.
func servicesOf(ing *networkingv1.Ingress) map[string]bool {
	services := map[string]bool{}
	for _, rule := range ing.Spec.Rules {
		for _, service := range servicesByPath(ing, &rule) {
			services[service] = true
		}
	}
	return services
}

// servicesByPath returns the Services of a rule, with their ports, by their paths.
func servicesByPath(ing *networkingv1.Ingress, rule *networkingv1.IngressRule) map[string]string {
	services := map[string]string{}
	if rule.HTTP == nil {
		return services
	}
	for _, p := range rule.HTTP.Paths {
		if s := p.Backend.Service; s != nil {
			services[p.Path] = ing.Namespace + "/" + s.Name + "/" + s.Port.Name + strconv.Itoa(int(s.Port.Number))
		}
	}
	return services
}

// several reports whether one of the names is counted more than once.
func several(names map[string]bool, counts map[string]int) bool {
	for name := range names {
		if counts[name] > 1 {
			return true
		}
	}
	return false
}

// pathsOf returns the paths of an Ingress.
func pathsOf(ing *networkingv1.Ingress) []path {
	var all []path
	for i, rule := range ing.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for j, p := range rule.HTTP.Paths {
			kind := "ImplementationSpecific"
			if p.PathType != nil {
				kind = string(*p.PathType)
			}
			field := "spec.rules[" + strconv.Itoa(i) + "].http.paths[" + strconv.Itoa(j) + "]"
			all = append(all, path{host: rule.Host, text: p.Path, kind: kind, field: field})
		}
	}
	return all
}
