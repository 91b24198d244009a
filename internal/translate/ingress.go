package translate

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/model"
	"sluice/internal/policy"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// ingress is one Ingress as it was read. It does not change.
type ingress struct {
	pass   uint64
	object *networkingv1.Ingress
	ref    model.ObjectRef
	// settings are those of its class.
	settings *settings.Settings
	// denied: every path answers 503.
	denied bool
	// denial is set if it is denied whatever it says: by Options.Denied, or with its
	// class.
	denial Denial

	blocks    []model.Block
	usesRegex bool
	target    string   // of the rewrite, empty for none
	prefix    string   // what is said of a rewrite in X-Forwarded-Prefix, empty for nothing
	aliases   []string // further names of its hosts
	redirect  policy.SSLRedirect
	sends     model.Return // where clients are redirected to, URL "" for nowhere
	secrets   string       // namespace of the Secrets that spec.tls names
	appRoot   string       // where / of its hosts is redirected to, empty for nowhere
	// passes: it asks for the TLS of its hosts to be passed on. protects are the
	// names of what keeps requests out of its paths, which cannot be done then.
	passes   bool
	protects []string
	// guarding is set if they keep requests out, be it that they are denied.
	guarding  bool
	transport model.Transport
	// trust is the Secret that the transport was read from.
	trust     snapshot.Name
	trusted   *corev1.Secret
	hosts     []*hostRules
	fallback  *claim // spec.defaultBackend
	ruleless  bool   // it has no rules, so that its fallback is everybody's
	problems  []model.Problem
	prefixKey string // prefix of its annotations, with the slash
}

// hostRules are the rules of one Ingress for one host.
type hostRules struct {
	owner  *ingress
	host   string
	claims []claim
	entry  *host
}

// claim is one path that an Ingress asks for.
type claim struct {
	owner *ingress
	// field is the path of the field, such as "spec.rules[0].http.paths[2]".
	field string
	// path is as written, "/" where none is.
	path     string
	pathType networkingv1.PathType
	backend  *networkingv1.IngressBackend
	// broken: it cannot be served on any host, as a Problem says. closed: all that it
	// could take answers 503.
	broken, closed bool
}

// ingress reads an Ingress, or finds it as it was read before.
func (t *translation) ingress(object *networkingv1.Ingress) *ingress {
	values := t.settingsOf(object)
	denial := t.denial(object)
	ing := t.memo.ingresses[object]
	if ing == nil || ing.denial != denial || ing.settings != values || ing.trust != (snapshot.Name{}) && t.snap.Secret(ing.trust) != ing.trusted {
		ing = t.read(object, values, denial)
		t.memo.ingresses[object] = ing
	}
	if ing.pass != t.memo.pass {
		ing.pass = t.memo.pass
		t.memo.used.ingresses++
	}
	return ing
}

func (t *translation) read(object *networkingv1.Ingress, values *settings.Settings, denial Denial) *ingress {
	if field, text := wrongName(object); text != "" {
		ing := &ingress{object: object, ref: refOf(object), settings: values, denial: denial}
		ing.report(field, model.InvalidValue, text)
		return ing
	}
	policies := policy.Read(object, values, t.options.AnnotationsPrefix)
	ing := &ingress{
		object: object, ref: refOf(object), settings: values, denial: denial, denied: denial != 0 || policies.Denied(),
		blocks: policies.Blocks(),
		// A rewrite with a mistake in it makes patterns of the paths too: what the
		// neighbours on the host get must not depend on the mistake.
		usesRegex: policy.Of[policy.Regex](policies).Enabled || policy.LeftOut[policy.Rewrite](policies),
		target:    policy.Of[policy.Rewrite](policies).Target,
		prefix:    policy.Of[policy.ForwardedPrefix](policies).Value,
		redirect:  policy.Of[policy.SSLRedirect](policies),
		appRoot:   policy.Of[policy.AppRoot](policies).Path,
		secrets:   policy.Of[policy.Certificates](policies).In(object),
		problems:  append([]model.Problem(nil), policies.Problems()...),
		prefixKey: t.options.AnnotationsPrefix + "/",
	}
	if policies.Withheld() {
		return ing
	}
	ing.passes, ing.protects = t.passes(policy.Of[policy.Passthrough](policies), ing), policies.Protects()
	ing.guarding = policies.Denied() || len(ing.protects) > 0
	names := policy.Of[policy.ServerAlias](policies).Names
	if policy.LeftOut[policy.ServerAlias](policies) {
		names = ing.meantAliases()
	}
	ing.readAliases(names)
	ing.readRedirect(policy.Of[policy.Redirect](policies))
	t.readTransport(ing, policy.Of[policy.Transport](policies))
	byHost := map[string]*hostRules{}
	for i := range object.Spec.Rules {
		ing.readRule(i, byHost)
	}
	if !t.options.leavesOut(object) {
		ing.readDefault(byHost)
	}
	ing.vainNamespace()
	ing.readDelegation()
	ing.limit()
	if _, hostless := byHost[""]; hostless && len(byHost) == 1 {
		ing.hostlessTLS()
	} else {
		ing.vainTLS()
	}
	return ing
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
func (i *ingress) limit() {
	size, locations := 0, 0
	for key, value := range i.object.Annotations {
		if strings.HasPrefix(key, i.prefixKey) {
			size += len(value)
		}
	}
	for _, rules := range i.hosts {
		locations += 1 + 2*len(rules.claims)
		for i := range rules.claims {
			locations += len(rules.claims[i].path) / longestNode // its steps
		}
	}
	if len(i.blocks) > 0 && size*locations > mostText {
		i.deny("*", model.InvalidValue, fmt.Sprintf("want less: %d bytes, written out for %d locations, are more than %d MB", size, locations, mostText>>20))
	}
}

func (i *ingress) report(field string, reason model.Reason, text string) {
	i.problems = append(i.problems, model.Problem{Object: i.ref, Field: field, Reason: reason, Text: text})
}

// of gives the Ingress's rules of a host, new ones if there are none yet.
func (i *ingress) of(host string, byHost map[string]*hostRules) *hostRules {
	rules := byHost[host]
	if rules == nil {
		rules = &hostRules{owner: i, host: host}
		byHost[host] = rules
		i.hosts = append(i.hosts, rules)
	}
	return rules
}

func (i *ingress) readRule(at int, byHost map[string]*hostRules) {
	rule := &i.object.Spec.Rules[at]
	field := fmt.Sprintf("spec.rules[%d]", at)
	if text := wrongHost(rule.Host); text != "" {
		i.report(field+".host", model.InvalidValue, text)
		return
	}
	rules := i.of(rule.Host, byHost)
	if rule.HTTP == nil {
		return
	}
	for p := range rule.HTTP.Paths {
		path := &rule.HTTP.Paths[p]
		c := claim{owner: i, field: fmt.Sprintf("%s.http.paths[%d]", field, p), path: path.Path, pathType: networkingv1.PathTypeImplementationSpecific, backend: &path.Backend}
		if path.PathType != nil {
			c.pathType = *path.PathType
		}
		if c.path == "" && c.pathType == networkingv1.PathTypeImplementationSpecific {
			c.path = "/"
		}
		if name, text := c.wrong(); text != "" {
			i.problems = append(i.problems, model.Problem{Object: i.ref, Field: c.field + name, Reason: model.InvalidValue, Text: text, Denies: i.guards()})
			if !i.guards() {
				continue
			}
			c.broken = true
			if c.path == "" {
				c.path = "/" // all that ingress-nginx could mean
			}
		}
		rules.claims = append(rules.claims, c)
	}
}

// readDefault reads spec.defaultBackend. Without rules it is for the catch-all
// host.
func (i *ingress) readDefault(byHost map[string]*hostRules) {
	i.ruleless = len(i.object.Spec.Rules) == 0
	if i.object.Spec.DefaultBackend == nil {
		return
	}
	i.fallback = &claim{owner: i, field: "spec.defaultBackend", path: "/", backend: i.object.Spec.DefaultBackend}
	if i.ruleless {
		i.of("", byHost)
	}
}

// wrong says what makes a path impossible whatever matches it, and in which
// field. nginx.conf cannot hold CR, LF and NUL.
func (c *claim) wrong() (field, text string) {
	switch c.pathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific:
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
