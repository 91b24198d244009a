package translate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// delegation is the annotation by which a Secret lets Ingresses of other namespaces use
// it: namespaces, separated by commas, or "*" for all.
const delegation = "sluice.io/tls-delegation"

// delegationIn returns the delegation among the annotations of an object. Our
// annotations once began with "sluice/" instead of "sluice.io/"; that form counts if
// the newer one is missing.
func delegationIn(annotations map[string]string, key string) string {
	if text, written := annotations[key]; written {
		return text
	}
	return annotations[strings.Replace(key, "sluice.io/", "sluice/", 1)]
}

// secret reads a Secret for Ingresses of a namespace. If they may not use it, secret is
// nil and text has the reason. One of another namespace that is not delegated is
// reported like a missing one, so that nobody can find out the names of others'
// Secrets. The remarks are for the owner of the Secret.
func (t *translation) secret(into *reads, name snapshot.Name, namespace string) (secret *corev1.Secret, text string, remarks []model.Problem) {
	secret = into.secret(t.snap, name)
	switch foreign := name.Namespace != namespace; {
	case secret == nil && t.snap.Forbids(refTo(kindSecret, name)):
		return nil, noPermission(name), nil
	case !foreign && secret == nil:
		return nil, NoSecret(name), nil
	case !foreign:
		return secret, "", nil
	case secret != nil:
		remarks = misdelegated(secret)
	}
	if secret == nil || !claim.Delegates(delegationIn(secret.Annotations, delegation), namespace) {
		return nil, fmt.Sprintf("no Secret %s is delegated to the namespace %s (its annotation %s has to name %s, or *)", claim.Shown(name.String()), namespace, delegation, model.Quoted(namespace)), remarks
	}
	return secret, "", remarks
}

// NoSecret is the text of a Problem with a missing Secret.
func NoSecret(name snapshot.Name) string {
	return "Secret " + claim.Shown(name.String()) + Missing
}

// Missing is the end of what NoSecret says.
const Missing = " does not exist"

// misdelegated reports an invalid namespace in the delegation of a Secret, on the
// Secret.
func misdelegated(secret *corev1.Secret) []model.Problem {
	text := delegationIn(secret.Annotations, delegation)
	at := wrongDelegatee(text)
	if at < 0 {
		return nil
	}
	return []model.Problem{{Object: model.ObjectRef{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name}, Field: delegation, Reason: model.InvalidValue,
		Text: fmt.Sprintf("want namespaces separated by commas, or * for all (got %s): the Secret is delegated to the others only", model.Quoted(claim.Delegatees(text)[at]))}}
}

// wrongDelegatee is the index of the first delegatee that is not a namespace, or -1.
func wrongDelegatee(text string) int {
	return slices.IndexFunc(claim.Delegatees(text), func(item string) bool { return item != claim.Everybody && len(validation.IsDNS1123Label(item)) > 0 })
}

// readDelegation reports an invalid namespace in the delegation of hosts.
func (i *owner) readDelegation() {
	if at := wrongDelegatee(i.Delegation); at >= 0 {
		i.report(claim.HostDelegation, model.InvalidValue, fmt.Sprintf("want namespaces separated by commas, or * for all (got %s): the hosts are delegated to the others only", model.Quoted(claim.Delegatees(i.Delegation)[at])))
	}
}

// HostDelegationOf returns the delegation of hosts of a Namespace, empty for none.
func HostDelegationOf(n *corev1.Namespace) string {
	return delegationIn(n.Annotations, claim.HostDelegation)
}
