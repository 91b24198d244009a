package translate

import (
	"cmp"
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/annotations"
	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// ingress reads an Ingress, or finds it as it was read before.
func (t *translation) ingress(object *networkingv1.Ingress) *owner {
	values := t.settingsOf(object)
	denial := t.denial(object)
	ing := t.memo.ingresses[object]
	if ing == nil || ing.Denial != denial || ing.Settings != values || ing.reads.outdated(t.snap) {
		ing = t.read(object, values, denial)
		t.memo.ingresses[object] = ing
	}
	if ing.pass != t.memo.pass {
		ing.pass = t.memo.pass
		t.memo.used.ingresses++
	}
	return ing
}

func (t *translation) read(object *networkingv1.Ingress, values *settings.Settings, denial claim.Denial) *owner {
	if field, text := wrongName(snapshot.RefOf(object)); text != "" {
		ing := &owner{object: object, Owner: &claim.Owner{Ref: snapshot.RefOf(object), Age: ageOf(object), Settings: values, Annotations: annotations.Read(&networkingv1.Ingress{}, values, ""), Denial: denial}}
		ing.report(field, model.InvalidValue, text)
		return ing
	}
	ing := t.begun(object, values)
	said := ing.Annotations
	ing.Denial, ing.Denied = denial, denial != 0
	if said.Withheld() {
		return ing
	}
	ing.Passes = t.passes(said.Passthrough, ing)
	ing.Canary = said.Canary.Enabled && !t.options.leavesOut(object)
	names := []string(said.ServerAlias.Names)
	if said.ServerAlias.LeftOut {
		names = ing.meantAliases()
	}
	ing.readAliases(names)
	for each := range said.Each() {
		ing.remarkRedirect(each.Redirect)
	}
	t.attach(ing)
	byHost := map[string]*claim.Rules{}
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

func ageOf(object *networkingv1.Ingress) claim.Age {
	return claim.Age{Created: object.CreationTimestamp.Time, Name: object.Namespace + "/" + object.Name, LastFirst: true}
}

// wrongName says what is wrong with the name of an Ingress, and in which field.
// No API server lets these pass, but objects may come from elsewhere, and $route
// is made of names: a "/" in one of them would lead to another backend.
func wrongName(object model.ObjectRef) (field, text string) {
	switch {
	case len(validation.IsDNS1123Label(object.Namespace)) > 0:
		return "metadata.namespace", fmt.Sprintf("want a name of lower case letters, digits and - (got %s): the Ingress is not served", claim.Quoted(object.Namespace))
	case len(validation.IsDNS1123Subdomain(object.Name)) > 0:
		return "metadata.name", fmt.Sprintf("want a name of lower case letters, digits, - and . (got %s): the Ingress is not served", claim.Quoted(object.Name))
	}
	return "", ""
}

// mostText is how many bytes the annotations of one Ingress may come to when they
// are written out for each of its locations.
const mostText = 64 << 20

// limit denies an Ingress with large annotations and many paths, so that one Ingress
// cannot bloat the configuration.
func (i *owner) limit() {
	size, locations := 0, 0
	for key, value := range i.given {
		if strings.HasPrefix(key, i.PrefixKey) || strings.HasPrefix(key, annotations.PathsPrefix) {
			size += len(value)
		}
	}
	for _, rules := range i.Hosts {
		locations += 1 + 2*len(rules.Claims)
		for i := range rules.Claims {
			locations += len(rules.Claims[i].Path) / assemble.LongestNode // its steps
		}
	}
	printed := len(i.Annotations.Blocks())
	for _, of := range i.Attached {
		size += of.Size
		printed += of.Size
	}
	if printed > 0 && size*locations > mostText {
		i.deny("*", model.InvalidValue, fmt.Sprintf("want less: %d bytes, written out for %d locations, are more than %d MB", size, locations, mostText>>20))
	}
}

func (i *owner) report(field string, reason model.Reason, text string) {
	i.Problems = append(i.Problems, model.Problem{Object: i.Ref, Field: field, Reason: reason, Text: text})
}

// of gives the Ingress's rules of a host, new ones if there are none yet.
func (i *owner) of(host string, byHost map[string]*claim.Rules) *claim.Rules {
	rules := byHost[host]
	if rules == nil {
		rules = &claim.Rules{Owner: i.Owner, Host: host}
		byHost[host] = rules
		i.Hosts = append(i.Hosts, rules)
	}
	return rules
}

func (i *owner) readRule(at int, byHost map[string]*claim.Rules) {
	rule := &i.object.Spec.Rules[at]
	field := fmt.Sprintf("spec.rules[%d]", at)
	if text := wrongHost(rule.Host); text != "" {
		i.report(field+".host", model.InvalidValue, text)
		return
	}
	rules := i.of(rule.Host, byHost)
	if rules.Field == "" {
		rules.Field = field + ".host"
	}
	if rule.HTTP == nil {
		return
	}
	for p := range rule.HTTP.Paths {
		path := &rule.HTTP.Paths[p]
		c := claim.Claim{Owner: i.Owner, Field: fmt.Sprintf("%s.http.paths[%d]", field, p), Path: path.Path, PathType: claim.ImplementationSpecific, Action: pathAction(rules, &path.Backend)}
		if path.PathType != nil {
			c.PathType = claim.PathType(*path.PathType)
		}
		if c.Path == "" && c.PathType == claim.ImplementationSpecific {
			c.Path = "/"
		}
		i.addClaim(rules, c)
	}
}

// addClaim adds a claim to those of its host, if it can be served on any host.
func (i *owner) addClaim(rules *claim.Rules, c claim.Claim) {
	c.Annotations = i.Annotations.At(cmp.Or(c.Path, "/"))
	if name, text := wrongClaim(&c); text != "" {
		i.Problems = append(i.Problems, model.Problem{Object: i.Ref, Field: c.Field + name, Reason: model.InvalidValue, Text: text, Denies: c.Guards()})
		if !c.Guards() {
			return
		}
		c.Broken = true
		if c.Path == "" {
			c.Path = "/" // all that ingress-nginx could mean
		}
	}
	rules.Claims = append(rules.Claims, c)
}

// readDefault reads spec.defaultBackend. Without rules it is for the catch-all
// host.
func (i *owner) readDefault(byHost map[string]*claim.Rules) {
	i.Ruleless = len(i.object.Spec.Rules) == 0
	if i.object.Spec.DefaultBackend == nil {
		return
	}
	i.Fallback = &claim.Claim{Owner: i.Owner, Annotations: i.Annotations, Field: claim.DefaultBackendField, Path: "/", Action: actionOf(i.object.Spec.DefaultBackend, i.Ref.Namespace, nil)}
	if i.Ruleless {
		rules := i.of("", byHost)
		if i.Annotations.Canary.Enabled {
			rules.Claims = append(rules.Claims, *i.Fallback)
		}
	}
}

// wrongClaim says what makes a path impossible whatever matches it, and in which
// field. nginx.conf cannot hold CR, LF and NUL.
func wrongClaim(c *claim.Claim) (field, text string) {
	switch c.PathType {
	case claim.Exact, claim.Prefix, claim.ImplementationSpecific:
	default:
		return ".pathType", fmt.Sprintf("want Exact, Prefix or ImplementationSpecific (got %s)", claim.Quoted(string(c.PathType)))
	}
	if !strings.HasPrefix(c.Path, "/") {
		return ".path", fmt.Sprintf("want a path that begins with / (got %s)", claim.Quoted(c.Path))
	}
	if strings.ContainsAny(c.Path, "\r\n\x00") {
		return ".path", fmt.Sprintf("want a path without line breaks and NUL (got %s)", claim.Quoted(c.Path))
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
			return fmt.Sprintf("want * as the whole first label, as in *.example.org (got %s)", claim.Quoted(host))
		}
	case len(validation.IsValidIP(nil, host)) == 0:
		return fmt.Sprintf("want a DNS name, not an IP address (got %s)", claim.Quoted(host))
	case len(validation.IsDNS1123Subdomain(host)) > 0:
		return fmt.Sprintf("want a DNS name of lower case letters, digits, - and . (got %s)", claim.Quoted(host))
	}
	return ""
}

// HostField is the first field by which an Ingress has a host.
func HostField(object *networkingv1.Ingress, host string) string {
	for at, rule := range object.Spec.Rules {
		if rule.Host == host {
			return fmt.Sprintf("spec.rules[%d].host", at)
		}
	}
	return claim.DefaultBackendField
}
