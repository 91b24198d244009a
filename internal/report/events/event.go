package events

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Limits of the Kubernetes API, in bytes.
const (
	mostName    = 253
	mostMessage = 1024
)

// versions are the API versions of the kinds that can have Problems.
var versions = map[string]schema.GroupVersion{
	"Ingress":       networkingv1.SchemeGroupVersion,
	"IngressClass":  networkingv1.SchemeGroupVersion,
	"EndpointSlice": discoveryv1.SchemeGroupVersion,
	"Service":       corev1.SchemeGroupVersion,
	"Secret":        corev1.SchemeGroupVersion,
	"ConfigMap":     corev1.SchemeGroupVersion,
	"Namespace":     corev1.SchemeGroupVersion,
}

// nameOf returns the name of the event for a Problem of an object. It is the same on
// every replica. Events of objects without a namespace are in "default".
func nameOf(p model.Problem, uid types.UID) snapshot.Name {
	hash := sha256.New()
	for _, part := range []string{string(uid), p.Field, string(p.Reason), p.Text, fmt.Sprint(p.Denies)} {
		fmt.Fprintf(hash, "%d %s", len(part), part)
	}
	suffix := "." + hex.EncodeToString(hash.Sum(nil)[:8])
	base := p.Object.Name[:min(len(p.Object.Name), mostName-len(suffix))]
	name := snapshot.Name{Namespace: p.Object.Namespace, Name: strings.TrimRight(base, ".-") + suffix}
	if name.Namespace == "" {
		name.Namespace = metav1.NamespaceDefault
	}
	return name
}

// message joins the field, the text and the effect of a Problem. A message that is
// too long is cut in the middle, because the effect comes last.
func message(p model.Problem) string {
	field := ""
	if p.Field != "" {
		field = p.Field + ": "
	}
	cost := len(model.Problem{Object: p.Object, Denies: p.Denies}.Message())
	p.Text = model.OneLine(p.Text, mostMessage-len(field)-cost)
	return field + p.Message()
}

// Mended is the reason of the event for a fixed Problem.
const Mended model.Reason = "Mended"

// mended returns the Problem that reports the end of p.
func mended(p model.Problem) model.Problem {
	return model.Problem{Object: p.Object, Field: p.Field, Reason: Mended, Text: "mended; it was " + string(p.Reason) + ": " + p.Text}
}

// event returns the Kubernetes event of an entry.
func (r *Recorder) event(e *entry, now metav1.Time) *corev1.Event {
	o, kind := e.problem.Object, corev1.EventTypeWarning
	if e.ended != nil || e.problem.Reason == model.NoEffect {
		kind = corev1.EventTypeNormal
	}
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: e.name.Namespace, Name: e.name.Name},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: versions[o.Kind].String(), Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
			UID: e.uid, ResourceVersion: e.version,
		},
		Type: kind, Reason: string(e.problem.Reason), Message: message(e.problem),
		Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source:              corev1.EventSource{Component: Component},
		ReportingController: Component, ReportingInstance: r.Instance,
	}
}
