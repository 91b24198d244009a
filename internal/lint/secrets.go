package lint

import (
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// issuers are the annotations for which cert-manager creates the Secrets of spec.tls.
// Source: https://cert-manager.io/docs/usage/ingress/#supported-annotations
var issuers = []string{"cert-manager.io/issuer", "cert-manager.io/cluster-issuer"}

// formerIssuers are the annotations of cert-manager before 0.11, which nothing reads
// any more.
var formerIssuers = []string{"certmanager.k8s.io/issuer", "certmanager.k8s.io/cluster-issuer"}

// tlsACME is the boolean annotation that cert-manager and others adopted from
// kube-lego.
const tlsACME = "kubernetes.io/tls-acme"

// ToBeIssued is the reason for a missing Secret that an issuer will create.
const ToBeIssued model.Reason = "ToBeIssued"

// missingSecrets filters the Problems of missing Secrets: it returns those of Secrets that
// count as existing as assumed, and turns those that an issuer creates into notes. The memo
// is that of Config.
func missingSecrets(problems []model.Problem, snap *snapshot.Snapshot, memo *translate.Memo, o Options) (left, assumed []model.Problem) {
	named := secretsOf(memo)
	for _, p := range problems {
		name := snapshot.Name{Namespace: p.Object.Namespace, Name: p.Object.Name}
		missing := p.Object.Kind == "Secret" && p.Reason == model.NotFound
		var object *networkingv1.Ingress
		if p.Reason == model.NotFound && !missing {
			object = snap.IngressOf(p.Object)
			for _, ing := range concerned(p.Object, object, snap) {
				if name, missing = missingSecret(p, named(ing)); missing {
					break
				}
			}
		}
		if missing && o.SecretThere != nil && o.SecretThere(name) {
			assumed = append(assumed, p)
			continue
		}
		if missing && isCertificate(p) {
			p = unissued(p, object, name)
		}
		left = append(left, p)
	}
	return left, assumed
}

// concerned returns the Ingresses that a Problem can be about: the one that has it, or all that
// the annotations of a Namespace or the settings are for.
func concerned(o model.ObjectRef, object *networkingv1.Ingress, snap *snapshot.Snapshot) []*networkingv1.Ingress {
	switch {
	case object != nil:
		return []*networkingv1.Ingress{object}
	case o.Kind == "ConfigMap":
		return snap.Ingresses()
	case o.Kind == "Namespace":
		return slices.DeleteFunc(slices.Clone(snap.Ingresses()), func(ing *networkingv1.Ingress) bool { return ing.Namespace != o.Name })
	}
	return nil
}

// unissued adapts the Problem of a missing Secret of spec.tls to whether an issuer
// will create it.
func unissued(p model.Problem, object *networkingv1.Ingress, name snapshot.Name) model.Problem {
	if isIssued(object) {
		p.Reason, p.Text = ToBeIssued, "Secret "+name.String()+" does not exist yet: the issuer in the annotations creates it; until then clients get the default certificate"
		return p
	}
	p.Text += formerIssuer(object)
	return p
}

// secretsOf returns a function that returns the Secrets that an Ingress refers to, by what a Problem
// says of one that is missing. An Ingress can have thousands of both.
func secretsOf(memo *translate.Memo) func(*networkingv1.Ingress) map[string]snapshot.Name {
	known := map[*networkingv1.Ingress]map[string]snapshot.Name{}
	return func(object *networkingv1.Ingress) map[string]snapshot.Name {
		if secrets, found := known[object]; found {
			return secrets
		}
		secrets := map[string]snapshot.Name{}
		for _, ref := range memo.References(object) {
			if name := (snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}); ref.Kind == "Secret" {
				secrets[translate.NoSecret(name)] = name
			}
		}
		known[object] = secrets
		return secrets
	}
}

// missingSecret returns the Secret that is missing according to a Problem of an Ingress with these.
func missingSecret(p model.Problem, secrets map[string]snapshot.Name) (snapshot.Name, bool) {
	for _, said, found := strings.Cut(p.Text, "Secret "); found; _, said, found = strings.Cut(said, "Secret ") {
		if until, _, missing := strings.Cut(said, translate.Missing); missing {
			if name, refers := secrets["Secret "+until+translate.Missing]; refers {
				return name, true
			}
		}
	}
	return snapshot.Name{}, false
}

// isCertificate reports whether a Problem is about a Secret of spec.tls.
func isCertificate(p model.Problem) bool {
	return strings.HasPrefix(p.Field, "spec.tls[") && strings.HasSuffix(p.Field, "].secretName")
}

// isIssued reports whether an issuer creates the Secrets of an Ingress.
func isIssued(object *networkingv1.Ingress) bool {
	acme, _ := strconv.ParseBool(object.Annotations[tlsACME])
	return acme || slices.ContainsFunc(issuers, func(key string) bool { return object.Annotations[key] != "" })
}

// formerIssuer returns a hint about an annotation that no longer creates Secrets;
// empty if there is none.
func formerIssuer(object *networkingv1.Ingress) string {
	for i, key := range formerIssuers {
		if object.Annotations[key] != "" {
			return "; cert-manager has not read the annotation " + key + " since 0.11: write " + issuers[i]
		}
	}
	return ""
}
