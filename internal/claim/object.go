package claim

import (
	"time"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// Object is an object that makes claims, as written. It is identified by its pointer
// and must not change.
type Object struct {
	Ref model.ObjectRef `json:"ref"`
	// Created orders owners. Of the same second, the first "namespace/name" wins.
	Created time.Time `json:"created"`
	// Annotations are those of an Ingress; they apply to all its claims.
	Annotations map[string]string `json:"annotations"`
	// Claims are in the order in which they win if nothing else decides.
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
	// Path and PathType are as in the rule of an Ingress. Match selects requests of the
	// path.
	Path     string      `json:"path"`
	PathType string      `json:"pathType"`
	Match    model.Match `json:"match"`
	// Service gets the requests. The default backend gets them if the name is empty.
	Service model.ServicePort `json:"service"`
	// Field is the field of the claim in the object.
	Field string `json:"field"`
}

// Source returns the object in the form that package annotations reads.
func (o *Object) Source() annotations.Source {
	return annotations.Source{Object: o.Ref, Given: o.Annotations, Paths: func(yield func(string) bool) {
		for i := range o.Claims {
			if !yield(o.Claims[i].Path) {
				return
			}
		}
	}}
}
