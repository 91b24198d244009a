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

// ingress reads an Ingress, and remembers it.
func (t *translation) ingress(object *networkingv1.Ingress) *owner {
	values := t.settingsOf(object)
	denial := t.denial(object)
	return t.remembered(object, values, denial, func() *owner { return t.read(object, values, denial) })
}

// remembered returns the owner that was read of an object, and reads it again if
// something that it was made of changed. object is a pointer.
func (t *translation) remembered(object any, values *settings.Settings, denial claim.Denial, read func() *owner) *owner {
	ing := t.memo.owners[object]
	if ing == nil || ing.Denial != denial || ing.Settings != values || ing.reads.outdated(t.snap) {
		ing = read()
		t.memo.owners[object] = ing
	}
	t.memo.use(&ing.pass, &t.memo.used.owners)
	return ing
}

func (t *translation) read(object *networkingv1.Ingress, values *settings.Settings, denial claim.Denial) *owner {
	if field, text := wrongName(snapshot.RefOf(object)); text != "" {
		ing := &owner{object: object, Owner: &claim.Owner{Ref: snapshot.RefOf(object), Age: ageOf(object), Settings: values, Annotations: annotations.Read(&networkingv1.Ingress{}, values, ""), Denial: denial}}
		ing.report(field, model.InvalidValue, text)
		return ing
	}
	ing := t.begun(object, values)
	a := ing.Annotations
	ing.Denial, ing.Denied, ing.KeepsSnippet = denial, denial != 0, denial == claim.DenyButSnippet
	if a.Withheld() {
		return ing
	}
	ing.Passes = t.passes(a.Passthrough, ing)
	ing.Canary = a.Canary.Enabled && !t.options.leavesOut(object)
	names := []string(a.ServerAlias.Names)
	if a.ServerAlias.LeftOut {
		names = ing.meantAliases()
	}
	ing.readAliases(names)
	t.attach(ing)
	byHost := map[string]*claim.Rules{}
	for i := range object.Spec.Rules {
		ing.readRule(i, byHost)
	}
	ing.readRedirects()
	if !t.options.leavesOut(object) {
		ing.readDefault(byHost)
	}
	secrets := a.Certificates.In(object)
	ing.readTLS(secrets)
	ing.unusedSecretNamespace(secrets)
	ing.readDelegation()
	ing.refuseWords(t.settings.Annotations.WordBlocklist)
	ing.limit()
	if _, hostless := byHost[""]; hostless && len(byHost) == 1 {
		ing.hostlessTLS()
	} else {
		ing.unusedTLS()
	}
	if a.Canary.Enabled {
		ing.remarkIdle()
	}
	return ing
}

func ageOf(object *networkingv1.Ingress) claim.Age {
	return claim.Age{Created: object.CreationTimestamp.Time, Name: object.Namespace + "/" + object.Name, LastFirst: true}
}

// wrongName returns the fault of an Ingress's name, with its field. No API server
// accepts such names, but objects may come from elsewhere. $route consists of names: a
// "/" in one would select another backend.
func wrongName(object model.ObjectRef) (field, text string) {
	switch {
	case len(validation.IsDNS1123Label(object.Namespace)) > 0:
		return "metadata.namespace", fmt.Sprintf("want a name of lower case letters, digits and - (got %s): the Ingress is not served", model.Quoted(object.Namespace))
	case len(validation.IsDNS1123Subdomain(object.Name)) > 0:
		return "metadata.name", fmt.Sprintf("want a name of lower case letters, digits, - and . (got %s): the Ingress is not served", model.Quoted(object.Name))
	}
	return "", ""
}

// mostText is the maximum size in bytes of the annotations of one Ingress, multiplied
// by its locations.
const mostText = 64 << 20

// limit denies an owner with large annotations and many paths, so that one owner cannot
// bloat the configuration.
func (i *owner) limit() {
	size, locations := i.Annotations.InheritedSize(), 0
	for key, value := range i.given {
		if strings.HasPrefix(key, i.PrefixKey) || strings.HasPrefix(key, annotations.OwnPrefix) {
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
		i.Denied = true
		i.reportDenial("*", model.InvalidValue, fmt.Sprintf("want smaller annotations or fewer paths: %d bytes for each of %d locations are more than %d MB", size, locations, mostText>>20))
	}
}

func (i *owner) report(field string, reason model.Reason, text string) {
	i.Problems = append(i.Problems, model.Problem{Object: i.Ref, Field: field, Reason: reason, Text: text})
}

// rulesAt returns the rules of a host for a field below which it is written. It returns nil
// and reports the field if the host is invalid.
func (i *owner) rulesAt(field, host string, byHost map[string]*claim.Rules) *claim.Rules {
	if text := wrongHost(host); text != "" {
		i.report(field+".host", model.InvalidValue, text)
		return nil
	}
	rules := i.of(host, byHost)
	if rules.Field == "" {
		rules.Field = field + ".host"
	}
	return rules
}

// of returns the rules of a host, new ones if there are none yet.
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
	rules := i.rulesAt(field, rule.Host, byHost)
	if rules == nil || rule.HTTP == nil {
		return
	}
	for p := range rule.HTTP.Paths {
		path := &rule.HTTP.Paths[p]
		c := claim.Claim{Owner: i.Owner, Field: fmt.Sprintf("%s.http.paths[%d]", field, p), Path: path.Path, PathType: claim.ImplementationSpecific, Action: claim.Action{Service: pathService(rules, &path.Backend)}}
		if path.PathType != nil {
			c.PathType = claim.PathType(*path.PathType)
		}
		if c.Path == "" && c.PathType == claim.ImplementationSpecific {
			c.Path = "/"
		}
		i.addClaim(rules, c)
	}
}

// addClaim adds a claim to those of its host. It reports an invalid one, and keeps it
// only if it protects.
func (i *owner) addClaim(rules *claim.Rules, c claim.Claim) {
	c.Annotations = i.Annotations.At(cmp.Or(c.Path, "/"))
	if !i.readMatch(&c) {
		return
	}
	if name, text := wrongClaim(&c); text != "" {
		i.Problems = append(i.Problems, model.Problem{Object: i.Ref, Field: c.Field + name, Reason: model.InvalidValue, Text: text, Denies: c.Guards()})
		if !c.Guards() {
			return
		}
		c.Broken = true
		if c.Path == "" {
			c.Path = "/" // the widest meaning in ingress-nginx
		}
	}
	rules.Claims = append(rules.Claims, c)
}

// readDefault reads spec.defaultBackend. Without rules, it is for the catch-all host.
func (i *owner) readDefault(byHost map[string]*claim.Rules) {
	i.Ruleless = len(i.object.Spec.Rules) == 0
	if i.object.Spec.DefaultBackend == nil {
		return
	}
	i.Fallback = &claim.Claim{Owner: i.Owner, Annotations: i.Annotations, Field: claim.DefaultBackendField, Path: "/", Action: claim.Action{Service: backendService(i.object.Spec.DefaultBackend, i.Ref.Namespace, nil)}}
	if i.Ruleless {
		rules := i.of("", byHost)
		if i.Annotations.Canary.Enabled {
			rules.Claims = append(rules.Claims, *i.Fallback)
		}
	}
}

// wrongClaim returns the fault that makes a path or its type invalid on any host, with
// its field. nginx.conf cannot contain CR, LF and NUL.
func wrongClaim(c *claim.Claim) (field, text string) {
	switch c.PathType {
	case claim.Exact, claim.Prefix, claim.ImplementationSpecific:
	default:
		return ".pathType", fmt.Sprintf("want Exact, Prefix or ImplementationSpecific (got %s)", model.Quoted(string(c.PathType)))
	}
	if !strings.HasPrefix(c.Path, "/") {
		return ".path", fmt.Sprintf("want a path that begins with / (got %s)", model.Quoted(c.Path))
	}
	if strings.ContainsAny(c.Path, "\r\n\x00") {
		return ".path", fmt.Sprintf("want a path without line breaks and NUL (got %s)", model.Quoted(c.Path))
	}
	return "", ""
}

// wrongHost returns the fault of a host, by the rules of the API server; empty for
// none.
// Source: ValidateIngress in k8s.io/kubernetes/pkg/apis/networking/validation.
func wrongHost(host string) string {
	switch {
	case host == "":
		return ""
	case strings.Contains(host, "*"):
		if len(validation.IsWildcardDNS1123Subdomain(host)) > 0 {
			return fmt.Sprintf("want * as the whole first label, as in *.example.org (got %s)", model.Quoted(host))
		}
	case len(validation.IsValidIP(nil, host)) == 0:
		return fmt.Sprintf("want a DNS name, not an IP address (got %s)", model.Quoted(host))
	case len(validation.IsDNS1123Subdomain(host)) > 0:
		return fmt.Sprintf("want a DNS name of lower case letters, digits, - and . (got %s)", model.Quoted(host))
	}
	return ""
}

// HostField returns the first field in which an Ingress names a host.
func HostField(object *networkingv1.Ingress, host string) string {
	for at, rule := range object.Spec.Rules {
		if rule.Host == host {
			return fmt.Sprintf("spec.rules[%d].host", at)
		}
	}
	return claim.DefaultBackendField
}
