package translate

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// The reasons of surprises about Ingresses, besides those of model and assemble.
const (
	Unserved   model.Reason = "Unserved"   // neither our classes nor other known ones serve the Ingress
	NearClass  model.Reason = "NearClass"  // the class is unknown, and a served one has nearly the same name
	OtherClass model.Reason = "OtherClass" // the class is not ours, but another controller may serve it
	Unslashed  model.Reason = "Unslashed"  // a rewrite gives URIs without a slash at their beginning
	Keyless    model.Reason = "Keyless"    // the key of kept answers names no credential
	Constant   model.Reason = "Constant"   // all requests have the same key
)

// Surprises reports effects of valid objects that their authors may not expect, sorted.
// The memo may be nil; that of Config saves reading the Ingresses again. It is for sluice
// lint; a sync never calls it.
func Surprises(s *snapshot.Snapshot, o Options, m *Memo) []model.Problem {
	if m == nil {
		m = NewMemo()
	}
	t := m.begin(s, o)
	in := t.input(nil)
	t.problems = nil // Config reports these
	t.slips()
	for _, object := range s.Ingresses() {
		t.unserved(object)
		if ours, _ := t.accepts(object); ours {
			t.report(annotations.OfOthers(object, t.options.AnnotationsPrefix)...)
			t.caution(t.ingress(object))
		}
	}
	return model.SortProblems(slices.Concat(append(t.problems, assemble.NewMemo().Surprises(in)...)...))
}

// Cautions are the surprises about one Ingress that its annotations alone cause.
func Cautions(s *snapshot.Snapshot, o Options, object *networkingv1.Ingress) []model.Problem {
	t := NewMemo().begin(s, o)
	t.problems = nil
	t.caution(t.ingress(object))
	return model.SortProblems(slices.Concat(t.problems...))
}

func (t *translation) caution(ing *owner) {
	t.unslashed(ing)
	t.keyless(ing)
	t.constant(ing)
	t.atServices(ing)
	t.pageless(ing)
	t.uncollected(ing)
	t.lax(ing)
}

// unserved reports an Ingress that no known controller serves.
func (t *translation) unserved(object *networkingv1.Ingress) {
	if ours, remarks := t.accepts(object); ours || len(remarks) > 0 {
		return
	}
	p := model.Problem{Object: snapshot.RefOf(object), Reason: Unserved}
	legacy, field := object.Annotations[legacyClass], object.Spec.IngressClassName
	switch {
	case legacy != "":
		p.Field = legacyClass
		p.Reason, p.Text = t.legacyElsewhere(legacy)
	case field != nil && t.snap.IngressClass(*field) == nil:
		p.Field = "spec.ingressClassName"
		p.Text = fmt.Sprintf("no IngressClass has the name %s, and --ingress-class does not name it: want %s, or its IngressClass among the manifests%s", model.Quoted(*field), t.wantedClass(), keys.DidYouMean(nearClass(*field, t.servedClasses())))
	case t.isSlip(t.snap.IngressClass(t.classOf(object))):
		p.Field, p.Reason = ClassField, NearClass
		class := t.snap.IngressClass(t.classOf(object))
		p.Text = fmt.Sprintf("its IngressClass %s has the spec.controller %s, so that the Ingress is not served%s", model.Quoted(class.Name), model.Quoted(class.Spec.Controller), keys.DidYouMean(t.options.ControllerClass))
	case field == nil && !slices.ContainsFunc(t.snap.IngressClasses(), isDefaultClass):
		p.Field = ClassField
		p.Text = fmt.Sprintf("the Ingress names no class, and no IngressClass is the default: want %s, or --watch-ingress-without-class%s", t.wantedClass(), keys.DidYouMean(nearLegacy(object)))
	}
	if p.Text != "" {
		t.report(p)
	}
}

// slips reports IngressClasses whose spec.controller is nearly ours.
func (t *translation) slips() {
	for _, class := range t.snap.IngressClasses() {
		if t.isSlip(class) {
			t.report(model.Problem{Object: model.ObjectRef{Kind: "IngressClass", Name: class.Name}, Field: "spec.controller", Reason: NearClass,
				Text: fmt.Sprintf("%s is not the --controller-class, so that no Ingress of this class is served%s", model.Quoted(class.Spec.Controller), keys.DidYouMean(t.options.ControllerClass))})
		}
	}
}

// isSlip reports whether a class is not served because of a typing mistake in its
// spec.controller.
func (t *translation) isSlip(class *networkingv1.IngressClass) bool {
	return class != nil && !t.options.serves(class) && isSlip(class.Spec.Controller, t.options.ControllerClass)
}

// legacyKey is the name that nearLegacy compares with.
var legacyKey = keys.NewNames([]string{legacyClass})

// nearLegacy returns the key of the legacy annotation if an Ingress has one with a
// typing mistake in it, "" otherwise.
func nearLegacy(object *networkingv1.Ingress) string {
	for key := range object.Annotations {
		if meant := legacyKey.Nearest(key); key != legacyClass && meant != "" {
			return meant
		}
	}
	return ""
}

// legacyElsewhere returns the reason why a class of the legacy annotation is not served
// here. The text is empty if another controller serves it.
func (t *translation) legacyElsewhere(name string) (reason model.Reason, text string) {
	switch {
	case t.snap.IngressClass(name) == nil && nearClass(name, t.options.IngressClasses) != "":
		return NearClass, fmt.Sprintf("no class has the name %s, so that the Ingress is not served%s", model.Quoted(name), keys.DidYouMean(nearClass(name, t.options.IngressClasses)))
	case t.snap.IngressClass(name) == nil:
		return OtherClass, fmt.Sprintf("no class that is served here has the name %s: if it is meant for here, want %s", model.Quoted(name), model.OneOf(t.options.IngressClasses))
	case t.ourClass(name):
		return Unserved, fmt.Sprintf("this annotation is compared with --ingress-class alone, which does not name %s: name the class in spec.ingressClassName instead", model.Quoted(name))
	}
	return "", ""
}

// servedClasses are the names of the classes served here, sorted.
func (t *translation) servedClasses() []string {
	var names []string
	for _, class := range t.snap.IngressClasses() {
		if t.ourClass(class.Name) {
			names = append(names, class.Name)
		}
	}
	for _, name := range t.options.IngressClasses {
		if t.ourClass(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// wantedClass names the classes with which the Ingress would be served here.
func (t *translation) wantedClass() string {
	names := t.servedClasses()
	if len(names) == 0 {
		return "the name of an IngressClass of " + t.options.ControllerClass
	}
	return model.OneOf(names)
}

// unslashed reports a rewrite to a URI without a slash at its beginning: backends
// answer it with 400.
func (t *translation) unslashed(ing *owner) {
	for each := range ing.Annotations.Each() {
		target := each.Rewrite.Target
		if target == "" || strings.ContainsAny(target[:1], "/$") || strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
			continue
		}
		t.report(model.Problem{Object: ing.Ref, Field: each.Field(ing.PrefixKey, "rewrite-target"), Reason: Unslashed,
			Text: fmt.Sprintf("what is passed on does not begin with /, which backends refuse: want %s", claim.Shown("/"+target))})
	}
}

// keyless reports a key of kept answers without a credential: a client could pass with the
// answer about another one, if the server looks at another header than Authorization and
// Cookie, which Sluice adds.
func (t *translation) keyless(ing *owner) {
	for each := range ing.Annotations.Each() {
		auth := each.ExternalAuth
		if auth.URL == "" || auth.CacheKey == "" || auth.OfSettings() || claim.NamesCredential(auth.CacheKey) {
			continue
		}
		t.report(model.Problem{Object: ing.Ref, Field: each.Field(ing.PrefixKey, "auth-cache-key"), Reason: Keyless,
			Text: "the key has no credential of the client, such as $http_authorization or $cookie_NAME: Sluice adds the headers Authorization and Cookie, but if the server looks at another header or the address, the answer about one client counts for others: add that, as $http_NAME or $remote_addr"})
	}
}
