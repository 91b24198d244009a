package translate

import (
	"fmt"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// ingress reads an Ingress, or finds it as it was read before.
func (t *translation) ingress(object *networkingv1.Ingress) *owner {
	values := t.settingsOf(object)
	denial := t.denial(object)
	ing := t.memo.ingresses[object]
	if ing == nil || ing.denial != denial || ing.settings != values || ing.reads.outdated(t.snap) {
		ing = t.read(object, values, denial)
		t.memo.ingresses[object] = ing
	}
	if ing.pass != t.memo.pass {
		ing.pass = t.memo.pass
		t.memo.used.ingresses++
	}
	return ing
}

func (t *translation) read(object *networkingv1.Ingress, values *settings.Settings, denial Denial) *owner {
	if field, text := wrongName(object); text != "" {
		ing := &owner{object: object, ref: snapshot.RefOf(object), age: ageOf(object), settings: values, annotations: annotations.Read(&networkingv1.Ingress{}, values, ""), denial: denial}
		ing.report(field, model.InvalidValue, text)
		return ing
	}
	ing := t.begun(object, values)
	said := ing.annotations
	ing.denial, ing.denied = denial, denial != 0
	if said.Withheld() {
		return ing
	}
	ing.passes = t.passes(said.Passthrough, ing)
	names := []string(said.ServerAlias.Names)
	if said.ServerAlias.LeftOut {
		names = ing.meantAliases()
	}
	ing.readAliases(names)
	for each := range said.Each() {
		ing.remarkRedirect(each.Redirect)
		ing.remarkMirror(each.Mirror)
	}
	t.attach(ing)
	byHost := map[string]*hostRules{}
	for i := range object.Spec.Rules {
		ing.readRule(i, byHost)
	}
	if !t.options.leavesOut(object) {
		ing.readDefault(byHost)
	}
	secrets := said.Certificates.In(object)
	ing.readTLS(secrets)
	ing.vainNamespace(secrets)
	ing.readDelegation()
	ing.limit()
	if _, hostless := byHost[""]; hostless && len(byHost) == 1 {
		ing.hostlessTLS()
	} else {
		ing.vainTLS()
	}
	if said.Canary.Enabled {
		ing.remarkIdle()
	}
	return ing
}

func ageOf(object *networkingv1.Ingress) age {
	return age{created: object.CreationTimestamp.Time, name: object.Namespace + "/" + object.Name, lastFirst: true}
}

// wrongName says what is wrong with the name of an Ingress, and in which field.
// No API server lets these pass, but objects may come from elsewhere, and $route
// is made of names: a "/" in one of them would lead to another backend.
func wrongName(object *networkingv1.Ingress) (field, text string) {
	switch {
	case len(validation.IsDNS1123Label(object.Namespace)) > 0:
		return "metadata.namespace", fmt.Sprintf("want a name of lower case letters, digits and - (got %s): the Ingress is not served", quoted(object.Namespace))
	case len(validation.IsDNS1123Subdomain(object.Name)) > 0:
		return "metadata.name", fmt.Sprintf("want a name of lower case letters, digits, - and . (got %s): the Ingress is not served", quoted(object.Name))
	}
	return "", ""
}

// mostText is how many bytes the annotations of one Ingress may come to when they
// are written out for each of its locations.
const mostText = 64 << 20

// limit keeps an Ingress with large annotations and many paths from making
// nginx.conf so large that it is nobody's any more.
func (i *owner) limit() {
	size, locations := 0, 0
	for key, value := range i.object.Annotations {
		if strings.HasPrefix(key, i.prefixKey) || strings.HasPrefix(key, annotations.PathsPrefix) {
			size += len(value)
		}
	}
	for _, rules := range i.hosts {
		locations += 1 + 2*len(rules.claims)
		for i := range rules.claims {
			locations += len(rules.claims[i].path) / longestNode // its steps
		}
	}
	printed := len(i.annotations.Blocks())
	for _, of := range i.attached {
		size += of.size
		printed += of.size
	}
	if printed > 0 && size*locations > mostText {
		i.deny("*", model.InvalidValue, fmt.Sprintf("want less: %d bytes, written out for %d locations, are more than %d MB", size, locations, mostText>>20))
	}
}

func (i *owner) report(field string, reason model.Reason, text string) {
	i.problems = append(i.problems, model.Problem{Object: i.ref, Field: field, Reason: reason, Text: text})
}

// of gives the Ingress's rules of a host, new ones if there are none yet.
func (i *owner) of(host string, byHost map[string]*hostRules) *hostRules {
	rules := byHost[host]
	if rules == nil {
		rules = &hostRules{owner: i, host: host}
		byHost[host] = rules
		i.hosts = append(i.hosts, rules)
	}
	return rules
}

func (i *owner) readRule(at int, byHost map[string]*hostRules) {
	rule := &i.object.Spec.Rules[at]
	field := fmt.Sprintf("spec.rules[%d]", at)
	if text := wrongHost(rule.Host); text != "" {
		i.report(field+".host", model.InvalidValue, text)
		return
	}
	rules := i.of(rule.Host, byHost)
	if rules.field == "" {
		rules.field = field + ".host"
	}
	if rule.HTTP == nil {
		return
	}
	for p := range rule.HTTP.Paths {
		path := &rule.HTTP.Paths[p]
		c := claim{owner: i, field: fmt.Sprintf("%s.http.paths[%d]", field, p), path: path.Path, pathType: pathSpecific, action: rules.actionOf(&path.Backend)}
		if path.PathType != nil {
			c.pathType = pathType(*path.PathType)
		}
		if c.path == "" && c.pathType == pathSpecific {
			c.path = "/"
		}
		i.addClaim(rules, c)
	}
}

// addClaim adds a claim to those of its host, if it can be served on any host.
func (i *owner) addClaim(rules *hostRules, c claim) {
	c.annotations = i.annotations.At(c.path)
	if name, text := c.wrong(); text != "" {
		i.problems = append(i.problems, model.Problem{Object: i.ref, Field: c.field + name, Reason: model.InvalidValue, Text: text, Denies: c.guards()})
		if !c.guards() {
			return
		}
		c.broken = true
		if c.path == "" {
			c.path = "/" // all that ingress-nginx could mean
		}
	}
	rules.claims = append(rules.claims, c)
}

// readDefault reads spec.defaultBackend. Without rules it is for the catch-all
// host.
func (i *owner) readDefault(byHost map[string]*hostRules) {
	i.ruleless = len(i.object.Spec.Rules) == 0
	if i.object.Spec.DefaultBackend == nil {
		return
	}
	i.fallback = &claim{owner: i, annotations: i.annotations, field: defaultBackendField, path: "/", action: actionOf(i.object.Spec.DefaultBackend, i.ref.Namespace, nil)}
	if i.ruleless {
		rules := i.of("", byHost)
		if i.annotations.Canary.Enabled {
			rules.claims = append(rules.claims, *i.fallback)
		}
	}
}

// wrong says what makes a path impossible whatever matches it, and in which
// field. nginx.conf cannot hold CR, LF and NUL.
func (c *claim) wrong() (field, text string) {
	switch c.pathType {
	case pathExact, pathPrefix, pathSpecific:
	default:
		return ".pathType", fmt.Sprintf("want Exact, Prefix or ImplementationSpecific (got %s)", quoted(string(c.pathType)))
	}
	if !strings.HasPrefix(c.path, "/") {
		return ".path", fmt.Sprintf("want a path that begins with / (got %s)", quoted(c.path))
	}
	if strings.ContainsAny(c.path, "\r\n\x00") {
		return ".path", fmt.Sprintf("want a path without line breaks and NUL (got %s)", quoted(c.path))
	}
	return "", ""
}

// wrongHost says what is wrong with the host of a rule, as the API server does.
// Source: ValidateIngress in k8s.io/kubernetes/pkg/apis/networking/validation.
func wrongHost(host string) string {
	switch {
	case host == "":
		return ""
	case strings.Contains(host, "*"):
		if len(validation.IsWildcardDNS1123Subdomain(host)) > 0 {
			return fmt.Sprintf("want * as the whole first label, as in *.example.org (got %s)", quoted(host))
		}
	case len(validation.IsValidIP(nil, host)) == 0:
		return fmt.Sprintf("want a DNS name, not an IP address (got %s)", quoted(host))
	case len(validation.IsDNS1123Subdomain(host)) > 0:
		return fmt.Sprintf("want a DNS name of lower case letters, digits, - and . (got %s)", quoted(host))
	}
	return ""
}

// quoted gives what a user wrote for a message: on one line, and not all of it
// if it is long.
func quoted(text string) string {
	const most = 200
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(text[:most]) + "..."
}

// shown is quoted, without the quotes where they would not help.
func shown(text string) string {
	if q := quoted(text); strings.ContainsAny(text, " \t") || q != `"`+text+`"` {
		return q
	}
	return text
}
