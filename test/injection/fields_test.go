package injection

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"sluice/internal/snapshot"
)

// subject is an object of the world whose strings are changed.
type subject struct {
	kind, name string
	// list is its number in the field of Objects of that name.
	list string
	at   int
}

func (s subject) String() string { return s.kind + " " + s.name }

// subjects are all objects of the world.
func subjects(objects snapshot.Objects) []subject {
	var found []subject
	for list, kind := range map[string]string{
		"Ingresses": "Ingress", "IngressClasses": "IngressClass", "Services": "Service", "EndpointSlices": "EndpointSlice",
		"Endpoints": "Endpoints", "Secrets": "Secret", "ConfigMaps": "ConfigMap", "Namespaces": "Namespace",
	} {
		items := reflect.ValueOf(objects).FieldByName(list)
		for i := range items.Len() {
			name := items.Index(i).Elem().FieldByName("Name").String()
			namespace := items.Index(i).Elem().FieldByName("Namespace").String()
			if namespace != "other" {
				found = append(found, subject{kind: kind, name: name, list: list, at: i})
			}
		}
	}
	return found
}

// with gives the objects with another one in the place of the subject.
func (s subject) with(objects snapshot.Objects, object any) snapshot.Objects {
	items := reflect.ValueOf(&objects).Elem().FieldByName(s.list)
	replaced := reflect.AppendSlice(reflect.MakeSlice(items.Type(), 0, items.Len()), items)
	replaced.Index(s.at).Set(reflect.ValueOf(object))
	items.Set(replaced)
	return objects
}

// take gives the subject itself.
func (s subject) take(objects snapshot.Objects) any {
	return reflect.ValueOf(objects).FieldByName(s.list).Index(s.at).Interface()
}

// shallow gives a copy of what a pointer points to, so that nobody takes it for
// an object that was read before.
func shallow(object any) any {
	v := reflect.ValueOf(object)
	fresh := reflect.New(v.Type().Elem())
	fresh.Elem().Set(v.Elem())
	return fresh.Interface()
}

// TestEveryField puts every hostile value in every string of every object, one
// at a time, both as an object, which is what a cluster delivers, and as YAML.
func TestEveryField(t *testing.T) {
	t.Parallel()
	for _, s := range subjects(worldObjects(t)) {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			everyField(t, s)
		})
	}
}

// everyField changes one object. Each annotation is tried on the Ingress that
// has most of them.
func everyField(t *testing.T, s subject) {
	objects := worldObjects(t)
	var extra map[string][]string
	if s.kind == "ConfigMap" || s.name == "rich" {
		extra = everyKey()
	}
	if s.kind == "ConfigMap" {
		objects.Ingresses = []*networkingv1.Ingress{ingress(t, objects, "rich"), ingress(t, objects, "neighbour")}
	}
	j := newJudge(t, objects)
	for i := range placesOf(s.take(objects), extra) {
		copied := s.take(objects).(runtime.Object).DeepCopyObject()
		p := placesOf(copied, extra)[i]
		for _, value := range valuesFor(p) {
			p.set(value)
			c := hostileCase{subject: s, place: p, value: value}
			object := shallow(copied)
			j.object(c, s.with(objects, object))
			if c.yaml = true; !p.extra && !inert.MatchString(p.path) { // how a text is read does not depend on the field
				j.manifest(c, object)
			}
		}
	}
	j.count(t)
}

// inert is metadata that nothing reads. Values that carry a directive are tried
// there, to see that this is so.
var inert = regexp.MustCompile(`^(status|metadata\.(labels\[(x|app)\]|finalizers|ownerReferences|managedFields|generateName|selfLink|resourceVersion|uid))`)

// valuesFor gives the values for a place: paths where a path belongs.
func valuesFor(p place) []string {
	if inert.MatchString(p.path) {
		return attacks
	}
	if strings.HasPrefix(p.old, "/") || strings.HasSuffix(p.path, "rewrite-target]") {
		return paths
	}
	return corpus
}

// manifest takes an object through YAML. What is refused there has no effect,
// and what comes out as it went in was tried already.
func (j *judge) manifest(c hostileCase, object any) {
	text, err := yaml.Marshal(object)
	if err != nil {
		return // it cannot be written as YAML
	}
	read, _, err := snapshot.FromYAML("hostile.yaml", text)
	j.refusals(c, err)
	if read.Len() == 0 {
		j.refused++
		return
	}
	single := reflect.ValueOf(read).FieldByName(c.subject.list)
	if single.Len() != 1 || read.Len() != 1 {
		j.t.Errorf("%s: one object has become %d", c, read.Len())
		return
	}
	decoded := single.Index(0).Interface()
	if equality.Semantic.DeepEqual(decoded, object) {
		j.same++
		return
	}
	for _, p := range placesOf(decoded, nil) {
		if p.path == c.place.path {
			c.value = p.old // YAML has no word for some bytes
		}
	}
	j.object(c, c.subject.with(j.objects, decoded))
}

// refusals checks that each error of a manifest is one printable line.
func (j *judge) refusals(c hostileCase, err error) {
	for _, e := range snapshot.Errors(err) {
		if text := strings.ToValidUTF8(e.Error()[:min(len(e.Error()), 400)], ""); !presentable(text) {
			j.t.Errorf("%s: the error is not one printable line: %.300q", c, e)
		}
	}
}

// count makes sure that the cases were not all passed over.
func (j *judge) count(t *testing.T) {
	t.Helper()
	t.Logf("%d cases; as YAML %d refused and %d read as they were; %d different files", j.cases, j.refused, j.same, len(j.known))
	if j.cases < 1000 || j.refused < 50 {
		t.Errorf("only %d cases, and %d refused", j.cases, j.refused)
	}
}

// hostileCase is one value in one place.
type hostileCase struct {
	subject subject
	place   place
	value   string
	yaml    bool
}

func (c hostileCase) String() string {
	way := "object"
	if c.yaml {
		way = "YAML"
	}
	return fmt.Sprintf("%s, %s = %s (as %s)", c.subject, c.place.path, named(c.value), way)
}

// in says whether the place is one of these.
func (c hostileCase) in(paths ...string) bool { return slices.Contains(paths, c.place.path) }
