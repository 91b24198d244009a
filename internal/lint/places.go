package lint

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
)

// places holds the positions of objects.
type places struct {
	objects map[model.ObjectRef][]Place
	// lines are the first lines of documents, by document without line.
	lines map[Place]int
}

// locate records the place of each object of the documents, and of Deployments that
// run a controller.
func locate(m Manifests) places {
	w := places{objects: map[model.ObjectRef][]Place{}, lines: map[Place]int{}}
	for _, d := range m.Documents {
		file := model.OneLine(d.File, mostText)
		w.lines[Place{File: file, Document: d.Number}] = d.Line
		at := Place{File: file, Document: d.Number, Line: d.Line}
		note(w, "Ingress", d.Objects.Ingresses, at)
		note(w, "IngressClass", d.Objects.IngressClasses, at)
		note(w, "Service", d.Objects.Services, at)
		note(w, "EndpointSlice", d.Objects.EndpointSlices, at)
		note(w, "Endpoints", d.Objects.Endpoints, at)
		note(w, "Secret", d.Objects.Secrets, at)
		note(w, "ConfigMap", d.Objects.ConfigMaps, at)
		note(w, "Namespace", d.Objects.Namespaces, at)
	}
	for _, n := range m.Notes {
		if n.Arguments != nil {
			ref := ParseRef(n.Object)
			w.objects[ref] = append(w.objects[ref], w.document(n.File, n.Document))
		}
	}
	return w
}

func note[T metav1.Object](w places, kind string, objects []T, at Place) {
	for _, o := range objects {
		ref := model.ObjectRef{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
		w.objects[ref] = append(w.objects[ref], at)
	}
}

// of returns the places of a Problem: that of its object or, if several objects have
// its name, those of the ones that are left out. A Problem without a place has an
// empty one.
func (w places) of(p model.Problem) []Place {
	at := w.objects[p.Object]
	switch {
	case len(at) == 0:
		return []Place{{}}
	case len(at) > 1 && p.Reason == model.Conflict && p.Field == "metadata.name":
		return at[1:]
	}
	return at[:1]
}

// first returns the position of an object, that of the used one if several have its name.
func (w places) first(ref model.ObjectRef) Place { return w.of(model.Problem{Object: ref})[0] }

// document returns the place of a document.
func (w places) document(file string, number int) Place {
	at := Place{File: model.OneLine(file, mostText), Document: number}
	at.Line = w.lines[at]
	return at
}
