package injection

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/manifest/decode"
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

// settings tells the ConfigMap of the settings from those of TCP and UDP services.
func (s subject) settings() bool { return s.kind == "ConfigMap" && s.name == "config" }

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
	var total tally
	t.Cleanup(func() { t.Logf("in all %s", &total) })
	for _, s := range subjects(worldObjects(t)) {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			everyField(t, s, &total)
		})
	}
}

// placesAtOnce is how many places a judge of its own is called to: few enough
// that all processors are busy to the end.
const placesAtOnce = 10

// everyField changes one object, and adds what was judged to the total. It is
// an error if nearly all was passed over.
func everyField(t *testing.T, s subject, total *tally) {
	var own tally
	stages := s.stages(t)
	t.Cleanup(func() {
		t.Log(&own)
		if own.places < 20 || own.cases < 16*own.places || own.refused < 50 && len(stages[0].read) == 0 {
			t.Errorf("only %d cases in %d places, and %d refused", own.cases, own.places, own.refused)
		}
		total.add(&own)
	})
	for _, st := range stages {
		places := len(placesOf(s.take(st.objects).(runtime.Object).DeepCopyObject(), st.extra))
		for from := 0; from < places; from += placesAtOnce {
			until := min(from+placesAtOnce, places)
			t.Run(fmt.Sprintf("%splaces %d to %d", st.name, from, until-1), func(t *testing.T) {
				t.Parallel()
				j := newJudge(t, s, st.objects)
				for at := from; at < until; at++ {
					j.everyValue(s, at, st)
				}
				own.add(&j.tally)
			})
		}
	}
}

// stage is the objects that a subject is one of, and the keys that are tried
// besides those it has. Only the keys in question are, if there are some.
type stage struct {
	name    string
	objects snapshot.Objects
	extra   map[string][]string
	only    []string
	// read are the places that an earlier object of the kind has too. How a field is read
	// as YAML does not depend on the object. Only a text that comes out as another one
	// makes a case of its own.
	read map[string]bool
}

// stages are where a subject is tried. Each annotation is tried on the Ingress
// that has most of them, and what proxies in front are asked for beside each way
// of believing them.
func (s subject) stages(t *testing.T) []stage {
	st := stage{objects: worldObjects(t), read: map[string]bool{}}
	for _, earlier := range subjects(st.objects) {
		if earlier.list == s.list && earlier.at < s.at {
			for _, p := range placesOf(earlier.take(st.objects).(runtime.Object).DeepCopyObject(), nil) {
				st.read[p.path] = true
			}
		}
	}
	if s.settings() || s.name == "rich" {
		st.extra = everyKey()[s.kind]
	}
	if !s.settings() {
		return []stage{st}
	}
	if s.name == "inner" { // that of a class
		st.objects.Ingresses = []*networkingv1.Ingress{ingress(t, st.objects, "inner"), ingress(t, st.objects, "neighbour")}
		return []stage{st}
	}
	var few []*networkingv1.Ingress
	for _, name := range []string{"rich", "plain", "neighbour", "asking"} {
		few = append(few, ingress(t, st.objects, name))
	}
	st.objects.Ingresses = few
	stages := []stage{st}
	for i, data := range together {
		believing := stage{name: fmt.Sprintf("together %d, ", i), objects: withData(st.objects, data), only: dependent}
		believing.extra = map[string][]string{"data": dependent}
		if data["use-forwarded-headers"]+data["use-proxy-protocol"] != "" {
			stages = append(stages, believing)
		}
	}
	return stages
}

// tries says whether a place is among those in question.
func (st stage) tries(p place) bool {
	return st.only == nil || slices.ContainsFunc(st.only, func(key string) bool { return p.path == "data["+key+"]" })
}

// everyValue tries the values of one place, by its number. Where those that are tried first
// leave no trace, nothing reads the place, and some of the others are enough.
func (j *judge) everyValue(s subject, at int, st stage) {
	copied := s.take(j.objects).(runtime.Object).DeepCopyObject()
	all := placesOf(copied, st.extra)
	p := all[at]
	if !st.tries(p) {
		return
	}
	j.places++
	written := newManifest(p, copied)
	elsewhere := readElsewhere(p) || st.read[p.path] && st.extra == nil || isFurtherKey(all[:at], p.path)
	first, others := thin(p.path, valuesFor(p, elsewhere), elsewhere)
	traces := j.traces
	for i, value := range slices.Concat(first, others) {
		if i >= len(first) && j.traces == traces && !chosen(p.path, value, ofAlike) {
			continue
		}
		p.set(value)
		c := hostileCase{subject: s, place: p, value: value}
		object := shallow(copied)
		j.object(c, s.with(j.objects, object))
		read := st.read[p.path] && value != "" && utf8.ValidString(value)   // with the same result
		if c.yaml = true; !read && !p.extra && !inert.MatchString(p.path) { // how a text is read does not depend on the field
			j.manifest(c, written, object)
		}
	}
}

// inert is metadata that nothing reads. Values that carry a directive are tried
// there, to see that this is so.
var inert = regexp.MustCompile(`^(status|metadata\.(labels\[(x|app)\]|finalizers|ownerReferences|managedFields|generateName|selfLink|resourceVersion|uid))`)

// readElsewhere says whether a key before this one is read in the same way: all values are
// tried there.
func readElsewhere(p place) bool {
	key := strings.TrimSuffix(p.path, "]")
	if annotation, found := strings.CutPrefix(key, "metadata.annotations["+prefix); found {
		return alikeAnnotations()[annotation]
	}
	setting, found := strings.CutPrefix(key, "data[")
	return found && alikeSettings()[setting]
}

var (
	alikeAnnotations = sync.OnceValue(func() map[string]bool { return alike(annotationDocs()) })
	alikeSettings    = sync.OnceValue(func() map[string]bool { return alike(settingDocs()) })
)

// noText are types of keys whose values are no text once they are read.
var noText = []string{"bool", "int", "size", "duration"}

// alike are the keys with the type and the valid values of a key before them.
func alike(docs []keys.Doc) map[string]bool {
	type reader struct{ kind, valid string }
	found, first := map[string]bool{}, map[reader]string{}
	for _, doc := range docs {
		for _, name := range doc.Names {
			same := reader{doc.Type, doc.Valid}
			if slices.Contains(noText, doc.Type) {
				same.valid = "" // bounds are for numbers, which no hostile text is
			}
			if first[same] == "" {
				first[same] = name
			}
			found[name] = first[same] != name
		}
	}
	return found
}

// valuesFor gives the values for a place: paths where a path belongs, and only those that
// carry a directive where nothing is read, or all others are tried elsewhere.
func valuesFor(p place, elsewhere bool) []string {
	if inert.MatchString(p.path) || elsewhere {
		return attacks
	}
	if strings.HasPrefix(p.old, "/") || strings.HasSuffix(p.path, prefix+"rewrite-target]") {
		return paths
	}
	if strings.HasPrefix(p.path, "metadata.annotations["+annotations.PathsPrefix) {
		var lines []string
		for _, value := range attacks { // what can be followed is another value than the text of the line
			lines = append(lines, "/specific: "+value)
		}
		return append(lines, corpus...)
	}
	if strings.HasSuffix(p.path, "server-alias]") {
		return aliases
	}
	return corpus
}

// manifest takes an object through YAML. What is refused there has no effect,
// and what comes out as it went in was tried already.
func (j *judge) manifest(c hostileCase, written *manifest, object any) {
	text, err := written.with(c.value, object)
	if err != nil {
		return // it cannot be written as YAML
	}
	read, _, err := decode.FromYAML("hostile.yaml", text)
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
	for _, e := range decode.Errors(err) {
		if text := e.Error(); !presentable(text) {
			j.t.Errorf("%s: the error is not one short printable line: %.300q (%d bytes)", c, text, len(text))
		}
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
