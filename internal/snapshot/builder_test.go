package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// editor changes objects at random. Every object it makes differs from all
// others by its UID.
type editor struct {
	random *rand.Rand
	made   int
}

func (e *editor) meta(name string) metav1.ObjectMeta {
	e.made++
	return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(fmt.Sprint(e.made))}
}

func (e *editor) name() string { return fmt.Sprintf("n%d", e.random.IntN(12)) }

func (e *editor) slice() *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: e.meta(e.name())}
	if service := e.random.IntN(5); service > 0 {
		s.Labels = map[string]string{discoveryv1.LabelServiceName: fmt.Sprintf("n%d", service)}
	}
	return s
}

func (e *editor) endpoints() *corev1.Endpoints {
	return &corev1.Endpoints{ObjectMeta: e.meta(e.name())}
}

// edit adds, removes, replaces or moves one object of a list, which may give two
// of a name. Replacements mostly keep the name, as edits do.
func edit[T any, P Object[T]](e *editor, list []P, fresh func() P) []P {
	list = slices.Clone(list)
	if len(list) == 0 || e.random.IntN(4) == 0 {
		return slices.Insert(list, e.random.IntN(len(list)+1), fresh())
	}
	at := e.random.IntN(len(list))
	switch e.random.IntN(6) {
	case 0:
		return slices.Delete(list, at, at+1)
	case 1:
		other := e.random.IntN(len(list))
		list[at], list[other] = list[other], list[at]
	case 2:
		list[at] = fresh()
	default:
		by := fresh()
		by.SetName(list[at].GetName())
		list[at] = by
	}
	return list
}

func (e *editor) change(o Objects) Objects {
	switch e.random.IntN(8) {
	case 0:
		o.Ingresses = edit(e, o.Ingresses, func() *networkingv1.Ingress { return &networkingv1.Ingress{ObjectMeta: e.meta(e.name())} })
	case 1:
		o.IngressClasses = edit(e, o.IngressClasses, func() *networkingv1.IngressClass { return &networkingv1.IngressClass{ObjectMeta: e.meta(e.name())} })
	case 2:
		o.Services = edit(e, o.Services, func() *corev1.Service { return &corev1.Service{ObjectMeta: e.meta(e.name())} })
	case 3:
		o.Endpoints = edit(e, o.Endpoints, e.endpoints)
		o.Mirrored = nil
		for _, endpoints := range o.Endpoints {
			o.Mirrored = append(o.Mirrored, Mirror(endpoints))
		}
	case 4: // nothing
	default:
		o.EndpointSlices = edit(e, o.EndpointSlices, e.slice)
	}
	return o
}

// content is a snapshot without what it remembers of the one before.
func content(s *Snapshot) *Snapshot {
	bare := *s
	bare.mark, bare.recent = new(mark), nil
	bare.byName, bare.classNames, bare.services, bare.slices = settled(s.byName), settled(s.classNames), settled(s.services), settled(s.slices)
	bare.secrets, bare.configMaps, bare.namespaces = settled(s.secrets), settled(s.configMaps), settled(s.namespaces)
	return &bare
}

// settled is an index with the same entries and nothing recent.
func settled[V any](x *index[V]) *index[V] {
	return indexOf(maps.Collect(x.all()))
}

func sets(c Changes) Changes {
	for _, names := range []*[]Name{&c.Ingresses, &c.Services, &c.Secrets} {
		slices.SortFunc(*names, Name.Compare)
		*names = append([]Name{}, slices.Compact(*names)...)
	}
	return c
}

// A Builder gives what New gives, whatever changed from one call to the next,
// and leaves the snapshots it gave before as they were.
func TestBuilderGivesWhatNewGives(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		e := &editor{random: rand.New(rand.NewPCG(seed, 0))}
		var b Builder
		var o, before Objects
		var last *Snapshot
		early, _ := b.Next(o)
		for step := range 150 {
			o = e.change(o)
			want, wantProblems := New(o)
			got, problems := b.Next(o)
			if !reflect.DeepEqual(content(got), content(want)) || !reflect.DeepEqual(problems, wantProblems) {
				t.Fatalf("seed %d, step %d: got %+v, %v\nwant %+v, %v", seed, step, got, problems, want, wantProblems)
			}
			if last != nil {
				if again, _ := New(before); !reflect.DeepEqual(content(last), content(again)) {
					t.Fatalf("seed %d, step %d: the snapshot before changed", seed, step)
				}
				if diff := cmp.Diff(sets(content(got).Since(content(last))), sets(got.Since(last))); diff != "" {
					t.Fatalf("seed %d, step %d: changes (-by comparing +as remembered):\n%s", seed, step, diff)
				}
				for _, name := range content(got).Since(content(early)).Services {
					if !slices.Contains(got.Since(early).Services, name) {
						t.Fatalf("seed %d, step %d: %s changed since an earlier snapshot, which is not remembered", seed, step, name)
					}
				}
				if step%40 == 0 {
					early = got
				}
			}
			last, before = got, o
		}
	}
}

// What did not change is not indexed again.
func TestBuilderKeepsIndexes(t *testing.T) {
	t.Parallel()
	e := &editor{random: rand.New(rand.NewPCG(1, 1))}
	var o Objects
	for range 300 {
		o = e.change(o)
	}
	var b Builder
	first, _ := b.Next(o)
	o.Services = append(slices.Clone(o.Services), &corev1.Service{ObjectMeta: e.meta("another")})
	second, _ := b.Next(o)
	same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	if !same(first.byName, second.byName) || !same(first.slices, second.slices) || !same(first.ingresses, second.ingresses) {
		t.Error("a Service that came made indexes of other kinds anew")
	}
	if same(first.services, second.services) {
		t.Error("the index of Services is the one of before")
	}
}
