package claim

import (
	"time"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// Object is an object that makes claims, as it writes them. It is known by its
// pointer and must not be changed.
type Object struct {
	Ref model.ObjectRef `json:"ref"`
	// Created orders owners. Of the same second the first by "namespace/name" counts.
	Created time.Time `json:"created"`
	// Annotations are those of an Ingress; they hold for all its claims.
	Annotations map[string]string `json:"annotations"`
	// Claims come in the order in which they count where nothing else decides.
	Claims []Asked `json:"claims"`
}

// Asked is a claim as an object writes it.
type Asked struct {
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

// Source is the object as the reader of annotations takes it.
func (o *Object) Source() annotations.Source {
	return annotations.Source{Object: o.Ref, Given: o.Annotations, Paths: func(yield func(string) bool) {
		for i := range o.Claims {
			if !yield(o.Claims[i].Path) {
				return
			}
		}
	}}
}
