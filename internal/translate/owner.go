package translate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// owner is an object that makes claims, with the objects that it was made of.
type owner struct {
	*claim.Owner
	attaching *annotations.Annotations // those whose objects are read now, nil for none
	pass      uint64
	// object is the Ingress that it was read from, nil for another object. given are
	// its annotations.
	object *networkingv1.Ingress
	given  map[string]string
	// reads are the other objects that its annotations name.
	reads reads
	// reduced are the same object with less, by the fields of the Problems that say so.
	reduced map[string]reduced
}

// ownerOf reads an owner, and remembers it.
func (t *translation) ownerOf(o *claim.Object) *owner {
	return t.remembered(o, t.settings, 0, func() *owner { return t.readOwner(o) })
}

func (t *translation) readOwner(o *claim.Object) *owner {
	ing := &owner{given: o.Annotations, Owner: &claim.Owner{
		Ref: o.Ref, Age: claim.Age{Created: o.Created, Name: o.Ref.Namespace + "/" + o.Ref.Name}, Settings: t.settings,
		Annotations: annotations.Of(o.Source(), t.settings, t.options.AnnotationsPrefix), PrefixKey: t.options.AnnotationsPrefix + "/",
	}}
	if field, text := wrongName(o.Ref); text != "" {
		ing.report(field, model.InvalidValue, text)
		return ing
	}
	ing.Problems = slices.Clone(ing.Annotations.Problems())
	if ing.Annotations.Withheld() {
		return ing
	}
	t.attach(ing)
	byHost := map[string]*claim.Rules{}
	for i := range o.Claims {
		ing.readClaim(&o.Claims[i], byHost)
	}
	ing.limit()
	return ing
}

// readClaim reads a claim. It drops headers and parameters that repeat a name.
func (i *owner) readClaim(asked *claim.Asked, byHost map[string]*claim.Rules) {
	if asked.Listener != "" {
		i.report(asked.Field+".listener", model.Unsupported, fmt.Sprintf("want no listener but that of HTTP and HTTPS (got %s): it is not served", model.Quoted(asked.Listener)))
		return
	}
	rules := i.rulesAt(asked.Field, asked.Host, byHost)
	if rules == nil {
		return
	}
	rules.AnyLabels = rules.AnyLabels || asked.AnyLabels
	c := claim.Claim{Owner: i.Owner, Field: asked.Field, Path: asked.Path, PathType: claim.PathType(asked.PathType), Action: askedAction(asked)}
	if m := asked.Match; !m.Any() {
		c.Match = &model.Match{Method: m.Method, Headers: eachNameOnce(m.Headers, strings.ToLower), Query: eachNameOnce(m.Query, strings.Clone)}
	}
	i.addClaim(rules, c)
}

// askedAction checks a Service like that of an Ingress.
func askedAction(c *claim.Asked) claim.Action {
	if c.Service == (model.ServicePort{}) {
		return claim.Action{Default: true}
	}
	port := networkingv1.ServiceBackendPort{Name: c.Service.Port}
	if number, err := strconv.ParseInt(c.Service.Port, 10, 32); err == nil {
		port = networkingv1.ServiceBackendPort{Number: int32(number)}
	}
	if len(validation.IsDNS1123Label(c.Service.Namespace)) > 0 {
		return claim.Action{Service: &claim.Service{Fault: &claim.Fault{Field: ".service.namespace", Reason: model.InvalidValue, Text: fmt.Sprintf("want the name of a namespace (got %s): 503 is answered", model.Quoted(c.Service.Namespace))}}}
	}
	return claim.Action{Service: backendService(&networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: c.Service.Name, Port: port}}, c.Service.Namespace, nil)}
}

func eachNameOnce(all []model.ValueMatch, folded func(string) string) []model.ValueMatch {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(v model.ValueMatch) bool {
		name := folded(v.Name)
		defer func() { seen[name] = true }()
		return seen[name]
	})
}
