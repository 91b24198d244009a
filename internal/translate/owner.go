package translate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// Owner is an object that makes claims, besides the Ingresses of the snapshot. It is
// known by its pointer and must not be changed.
type Owner struct {
	Ref model.ObjectRef `json:"ref"`
	// Created orders owners. Of the same second the first by "namespace/name" counts.
	Created time.Time `json:"created"`
	// Annotations are those of an Ingress; they hold for all its claims.
	Annotations map[string]string `json:"annotations"`
	// Claims come in the order in which they count where nothing else decides.
	Claims []Claim `json:"claims"`
}

// Claim asks for requests.
type Claim struct {
	// Host is as in the rule of an Ingress. AnyLabels is set if the "*" of a wildcard
	// stands for any number of labels.
	Host      string `json:"host"`
	AnyLabels bool   `json:"anyLabels"`
	// Listener names the ports; empty for those of HTTP and HTTPS.
	Listener string `json:"listener"`
	// Path and PathType are as in the rule of an Ingress, Match says which requests of
	// the path are meant.
	Path     string      `json:"path"`
	PathType string      `json:"pathType"`
	Match    model.Match `json:"match"`
	// Service has the requests; the default backend if its name is empty.
	Service model.ServicePort `json:"service"`
	// Field is where the object asks for it.
	Field string `json:"field"`
}

// ownerOf reads an owner, or finds it as it was read before.
func (t *translation) ownerOf(o *Owner) *owner {
	ing := t.memo.owners[o]
	if ing == nil || ing.settings != t.settings || ing.reads.outdated(t.snap) {
		ing = t.readOwner(o)
		t.memo.owners[o] = ing
	}
	if ing.pass != t.memo.pass {
		ing.pass = t.memo.pass
		t.memo.used.owners++
	}
	return ing
}

func (t *translation) readOwner(o *Owner) *owner {
	object := &networkingv1.Ingress{TypeMeta: metav1.TypeMeta{Kind: o.Ref.Kind}, ObjectMeta: metav1.ObjectMeta{Namespace: o.Ref.Namespace, Name: o.Ref.Name, Annotations: o.Annotations}}
	ing := &owner{
		object: object, ref: o.Ref, age: age{created: o.Created, name: o.Ref.Namespace + "/" + o.Ref.Name}, settings: t.settings,
		annotations: annotations.Read(object, t.settings, t.options.AnnotationsPrefix), prefixKey: t.options.AnnotationsPrefix + "/",
	}
	if field, text := wrongName(object); text != "" {
		ing.report(field, model.InvalidValue, text)
		return ing
	}
	ing.problems = slices.Clone(ing.annotations.Problems())
	if ing.annotations.Withheld() {
		return ing
	}
	for each := range ing.annotations.Each() {
		ing.remarkRedirect(each.Redirect)
	}
	t.attach(ing)
	byHost := map[string]*hostRules{}
	for i := range o.Claims {
		ing.readClaim(&o.Claims[i], byHost)
	}
	ing.limit()
	return ing
}

// readClaim takes a claim over. Headers and parameters that it names again do not
// count.
func (i *owner) readClaim(asked *Claim, byHost map[string]*hostRules) {
	if asked.Listener != "" {
		i.report(asked.Field+".listener", model.Unsupported, fmt.Sprintf("want no listener but that of HTTP and HTTPS (got %s): it is not served", quoted(asked.Listener)))
		return
	}
	if text := wrongHost(asked.Host); text != "" {
		i.report(asked.Field+".host", model.InvalidValue, text)
		return
	}
	rules := i.of(asked.Host, byHost)
	if rules.field == "" {
		rules.field = asked.Field + ".host"
	}
	rules.anyLabels = rules.anyLabels || asked.AnyLabels
	c := claim{owner: i, field: asked.Field, path: asked.Path, pathType: pathType(asked.PathType), action: asked.action()}
	if m := asked.Match; !m.Any() {
		c.match = &model.Match{Method: m.Method, Headers: eachNameOnce(m.Headers, strings.ToLower), Query: eachNameOnce(m.Query, strings.Clone)}
	}
	i.addClaim(rules, c)
}

// action checks the Service as that of an Ingress is.
func (c *Claim) action() *action {
	if c.Service == (model.ServicePort{}) {
		return nil
	}
	port := networkingv1.ServiceBackendPort{Name: c.Service.Port}
	if number, err := strconv.ParseInt(c.Service.Port, 10, 32); err == nil {
		port = networkingv1.ServiceBackendPort{Number: int32(number)}
	}
	if len(validation.IsDNS1123Label(c.Service.Namespace)) > 0 {
		return &action{fault: &actionFault{".service.namespace", model.InvalidValue, fmt.Sprintf("want the name of a namespace (got %s): 503 is answered", quoted(c.Service.Namespace))}}
	}
	return actionOf(&networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: c.Service.Name, Port: port}}, c.Service.Namespace, nil)
}

func eachNameOnce(all []model.ValueMatch, folded func(string) string) []model.ValueMatch {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(v model.ValueMatch) bool {
		name := folded(v.Name)
		defer func() { seen[name] = true }()
		return seen[name]
	})
}
