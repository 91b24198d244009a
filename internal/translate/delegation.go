package translate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// delegation is the annotation by which a Secret lets Ingresses of other namespaces
// use it: the namespaces, separated by commas, or "*" for all.
const delegation = "sluice/tls-delegation"

// secret gives a Secret for an Ingress of a namespace, nil if there is none that it
// may use; text says so then. Of another namespace a Secret that does not delegate
// itself is as if it were not there: what is said must not tell which it is, or
// everybody could find out the names of others' Secrets.
func (t *translation) secret(name snapshot.Name, namespace string) (secret *corev1.Secret, text string) {
	secret = t.snap.Secret(name)
	switch {
	case name.Namespace == namespace && secret == nil:
		return nil, NoSecret(name)
	case name.Namespace != namespace && !delegates(secret, namespace):
		return nil, fmt.Sprintf("no Secret %s is delegated to the namespace %s (its annotation %s has to name %s, or *)", shown(name.String()), namespace, delegation, quoted(namespace))
	}
	return secret, ""
}

// NoSecret is how a Problem says that there is no such Secret.
func NoSecret(name snapshot.Name) string {
	return fmt.Sprintf("Secret %s does not exist", shown(name.String()))
}

// delegates says whether a Secret, nil for none, lets a namespace use it.
func delegates(secret *corev1.Secret, namespace string) bool {
	if secret == nil {
		return false
	}
	return slices.ContainsFunc(delegatees(secret), func(item string) bool { return item == namespace || item == everybody })
}

// everybody stands for all namespaces.
const everybody = "*"

// delegatees are the namespaces that a Secret delegates itself to, as written.
func delegatees(secret *corev1.Secret) []string {
	var list []string
	for item := range strings.SplitSeq(secret.Annotations[delegation], ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// misdelegated reports what is written in the annotation of a Secret and is no
// namespace, on the Secret itself.
func misdelegated(secret *corev1.Secret) []model.Problem {
	wrong := func(item string) bool { return item != everybody && len(validation.IsDNS1123Label(item)) > 0 }
	at := slices.IndexFunc(delegatees(secret), wrong)
	if at < 0 {
		return nil
	}
	return []model.Problem{{Object: model.ObjectRef{Kind: "Secret", Namespace: secret.Namespace, Name: secret.Name}, Field: delegation, Reason: model.InvalidValue,
		Text: fmt.Sprintf("want namespaces separated by commas, or * for all (got %s): the Secret is delegated to the others only", quoted(delegatees(secret)[at]))}}
}
