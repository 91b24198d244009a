package controller

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// legacyClass is the annotation that names the class of older Ingresses.
const legacyClass = "kubernetes.io/ingress.class"

// plainPath are the bytes of a path that mean themselves wherever it is printed.
const plainPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-_~"

// leadOf gives an Ingress that claims what another one does, and more if need be,
// in words that nginx surely takes: of each path the folders before the first
// special character. It is for an Ingress whose paths answer 503.
func leadOf(ing *networkingv1.Ingress) *networkingv1.Ingress {
	lead := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{
		Namespace: ing.Namespace, Name: ing.Name, UID: ing.UID, CreationTimestamp: ing.CreationTimestamp,
	}}
	if class, ok := ing.Annotations[legacyClass]; ok {
		lead.Annotations = map[string]string{legacyClass: class}
	}
	ing.Spec.DeepCopyInto(&lead.Spec)
	prefix := networkingv1.PathTypePrefix
	for _, rule := range lead.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for i := range rule.HTTP.Paths {
			rule.HTTP.Paths[i].Path, rule.HTTP.Paths[i].PathType = plainLead(rule.HTTP.Paths[i].Path), &prefix
		}
	}
	return lead
}

// plainLead gives a path itself, or the folders before its first special character.
func plainLead(path string) string {
	end := strings.IndexFunc(path, func(r rune) bool { return !strings.ContainsRune(plainPath, r) })
	if end < 0 && strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + strings.TrimPrefix(path[:strings.LastIndex(path[:max(end, 0)], "/")+1], "/")
}
