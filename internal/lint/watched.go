package lint

import (
	"fmt"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// Unlabelled is the reason for Namespaces that are missing from the manifests, so
// that it is unknown whether a selector selects them.
const Unlabelled model.Reason = "Unlabelled"

// FindUnlabelled returns one Problem for all Namespaces that a selector needs and the
// objects lack.
func FindUnlabelled(o snapshot.Objects, w snapshot.Watch) []model.Problem {
	missing := w.Unlabelled(o)
	if len(missing) == 0 {
		return nil
	}
	which, object := "it is", "it"
	if more := len(missing) - 1; more > 0 {
		which, object = fmt.Sprintf("it and %d more with Ingresses are", more), "them"
	}
	return []model.Problem{{Object: model.ObjectRef{Kind: "Namespace", Name: missing[0]}, Field: "metadata.labels", Reason: Unlabelled,
		Text: fmt.Sprintf("%s not among the manifests, so that it is not known whether --watch-namespace-selector (%s) selects %s: Ingresses there are taken as served", which, w.Selector, object)}}
}

// unwatched reports the Ingresses of namespaces that are not watched.
func unwatched(o snapshot.Objects, w snapshot.Watch) []model.Problem {
	why := "--watch-namespace names " + w.Namespace
	if w.Namespace == "" && w.Selector != nil {
		why = fmt.Sprintf("--watch-namespace-selector (%s) does not select its Namespace", w.Selector)
	}
	var problems []model.Problem
	for _, object := range o.Ingresses {
		if w.Skips(o, object.Namespace) {
			problems = append(problems, model.Problem{Object: snapshot.RefOf(object),
				Field: "metadata.namespace", Reason: Unwatched, Text: "it is not served: " + why})
		}
	}
	return problems
}
