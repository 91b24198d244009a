package snapshot

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
)

// New sorts and indexes objects. If several objects have the same kind, namespace and
// name, it keeps the first one and reports a Problem for each other one. It does not
// modify the slices of o.
func New(o Objects) (*Snapshot, []model.Problem) { return new(Builder).Next(o) }

// Object is a pointer to a Kubernetes object type.
type Object[T any] interface {
	*T
	metav1.Object
}

// NameOf returns the name of an object.
func NameOf(o metav1.Object) Name { return Name{Namespace: o.GetNamespace(), Name: o.GetName()} }

// firstNames maps names to objects, and reports objects with a name that is taken.
func firstNames[T any, P Object[T]](kind string, objects []P, problems *[]model.Problem) map[Name]P {
	names := make(map[Name]P, len(objects))
	for _, o := range objects {
		name := NameOf(o)
		if _, taken := names[name]; taken {
			*problems = append(*problems, duplicate(kind, name))
			continue
		}
		names[name] = o
	}
	return names
}

func duplicate(kind string, name Name) model.Problem {
	return model.Problem{
		Object: model.ObjectRef{Kind: kind, Namespace: name.Namespace, Name: name.Name},
		Field:  "metadata.name",
		Reason: model.Conflict,
		Text:   "want one " + kind + " of this name (got several): the first is used, the others are left out",
	}
}

// firsts returns the objects that are in the index, in their order, each once.
func firsts[T any, P Object[T]](objects []P, names *index[P]) []P {
	if len(objects) == names.len() {
		return slices.Clone(objects)
	}
	kept, seen := make([]P, 0, names.len()), make(map[P]bool, names.len())
	for _, o := range objects {
		if names.get(NameOf(o)) == o && !seen[o] {
			seen[o] = true
			kept = append(kept, o)
		}
	}
	return kept
}

// compareIngresses orders by age, the oldest first, and then by descending
// "namespace/name".
func compareIngresses(a, b *networkingv1.Ingress) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return compareQualified(NameOf(b), NameOf(a))
}

// compareQualified compares the texts "namespace/name" without building them. It differs
// from Name.Compare: "a-b/x" comes before "a/x".
func compareQualified(a, b Name) int {
	if a.Namespace == b.Namespace {
		return strings.Compare(a.Name, b.Name)
	}
	shared := min(len(a.Namespace), len(b.Namespace))
	if order := strings.Compare(a.Namespace[:shared], b.Namespace[:shared]); order != 0 {
		return order
	}
	if len(a.Namespace) < len(b.Namespace) {
		return cmp.Compare('/', b.Namespace[shared])
	}
	return cmp.Compare(a.Namespace[shared], '/')
}

// belonging is a slice with its Service.
type belonging struct {
	service Name
	slice   *discoveryv1.EndpointSlice
}

// bySlices groups slices by the Service in their label, sorted by name. It ignores slices
// without the label.
func bySlices(all []*discoveryv1.EndpointSlice) map[Name][]*discoveryv1.EndpointSlice {
	owned := make([]belonging, 0, len(all))
	for _, slice := range all {
		if service := slice.Labels[discoveryv1.LabelServiceName]; service != "" {
			owned = append(owned, belonging{Name{slice.Namespace, service}, slice})
		}
	}
	slices.SortFunc(owned, func(a, b belonging) int {
		if order := compareQualified(a.service, b.service); order != 0 {
			return order
		}
		return strings.Compare(a.slice.Name, b.slice.Name)
	})
	sorted := make([]*discoveryv1.EndpointSlice, len(owned))
	groups := make(map[Name][]*discoveryv1.EndpointSlice, len(owned))
	for first, i := 0, 0; i < len(owned); i++ {
		sorted[i] = owned[i].slice
		if i+1 == len(owned) || owned[i+1].service != owned[i].service {
			groups[owned[i].service] = sorted[first : i+1 : i+1]
			first = i + 1
		}
	}
	return groups
}

// addMirrored adds the slices of Endpoints for Services without EndpointSlices.
func addMirrored(groups map[Name][]*discoveryv1.EndpointSlice, mirrored []Mirrored, endpoints *index[*corev1.Endpoints]) {
	made := make(map[*corev1.Endpoints][]*discoveryv1.EndpointSlice, len(mirrored))
	for _, m := range mirrored {
		made[m.Source] = m.Slices
	}
	for name, source := range endpoints.all() {
		if len(groups[name]) > 0 {
			continue
		}
		stand, ok := made[source]
		if !ok {
			stand = Mirror(source).Slices
		}
		if len(stand) > 0 {
			groups[name] = stand
		}
	}
}
