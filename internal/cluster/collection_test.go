package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/snapshot"
)

// services is a collection of Services, which counts its changes.
func services(keep func(*corev1.Service) bool) (c *collection[corev1.Service, *corev1.Service], changes *int) {
	changes = new(int)
	return &collection[corev1.Service, *corev1.Service]{keep: keep, strip: stripService, changed: func() { *changes++ }}, changes
}

func service(name string, port int32, version int) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, ResourceVersion: strconv.Itoa(version), Labels: map[string]string{"version": strconv.Itoa(version)}},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: port}}},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An object that comes again with the same content, by the watch or by a list,
// is no change and stays the same pointer.
func TestSameContentIsNoChange(t *testing.T) {
	t.Parallel()
	c, changes := services(nil)
	must(t, c.Replace([]any{service("a", 80, 1), service("b", 80, 2)}, "2"))
	before := c.all()
	must(t, c.Update(service("a", 80, 3)))
	must(t, c.Replace([]any{service("a", 80, 3), service("b", 80, 2)}, "3"))
	if !slices.Equal(c.all(), before) || *changes != 1 {
		t.Errorf("%d changes, want that of the first list alone; objects %v, want %v", *changes, c.all(), before)
	}
	must(t, c.Update(service("a", 81, 4)))
	must(t, c.Replace([]any{service("a", 81, 4)}, "5"))
	must(t, c.Delete(service("a", 81, 6)))
	if *changes != 4 || len(c.all()) != 0 {
		t.Errorf("%d changes, want 4; objects %v, want none", *changes, c.all())
	}
}

// The first list is a change, even if nothing is in it: it is known then.
func TestTheFirstListIsAChange(t *testing.T) {
	t.Parallel()
	c, changes := services(nil)
	if c.hasSynced() {
		t.Error("it is known before there was a list")
	}
	must(t, c.Replace(nil, "1"))
	if !c.hasSynced() || *changes != 1 {
		t.Errorf("%d changes, want 1; known %v", *changes, c.hasSynced())
	}
}

// What is read apart and what a watch brings may overtake each other: the newer
// version of each object stays, and what was deleted later stays away.
func TestReadingApart(t *testing.T) {
	t.Parallel()
	c, _ := services(nil)
	must(t, c.Replace(nil, "1"))
	c.startApart()
	must(t, c.Update(service("newer", 90, 9)))
	must(t, c.Update(service("older", 70, 3)))
	must(t, c.Update(service("gone", 80, 4)))
	must(t, c.Delete(service("gone", 80, 8)))
	must(t, c.Delete(service("back", 80, 3)))
	c.merge([]*corev1.Service{service("newer", 80, 5), service("older", 80, 5), service("gone", 80, 5), service("back", 80, 5), service("new", 80, 5)})
	c.endApart()
	got := map[string]int32{}
	for _, o := range c.all() {
		got[o.Name] = o.Spec.Ports[0].Port
	}
	if want := (map[string]int32{"newer": 90, "older": 80, "back": 80, "new": 80}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Whatever a watch and lists bring, a collection holds what they say is there.
func TestCollectionHoldsWhatThereIs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		kept := func(o *corev1.Service) bool { return o.Name != "n3" }
		c, _ := services(kept)
		there := map[string]int32{}
		for version := range 300 {
			name, port := fmt.Sprintf("n%d", random.IntN(8)), int32(1+random.IntN(3))
			switch random.IntN(12) {
			case 0:
				var list []any
				for name, port := range there {
					list = append(list, service(name, port, version))
				}
				must(t, c.Replace(list, strconv.Itoa(version)))
			case 1, 2, 3:
				must(t, c.Delete(service(name, port, version)))
				delete(there, name)
			default:
				must(t, c.Update(service(name, port, version)))
				there[name] = port
			}
			got := map[string]int32{}
			for _, o := range c.all() {
				got[o.Name] = o.Spec.Ports[0].Port
				if c.get(snapshot.Name{Namespace: "shop", Name: o.Name}) != o {
					t.Fatalf("seed %d, version %d: %s is not found by its name", seed, version, o.Name)
				}
			}
			want := map[string]int32{}
			for name, port := range there {
				if name != "n3" {
					want[name] = port
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d, version %d: got %v, want %v", seed, version, got, want)
			}
		}
	}
}

// What was read apart from the watch does not bring back what has gone meanwhile,
// whether the watch told so or a list that was read anew.
func TestReadApartDoesNotBringBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		meanwhile func(c *collection[corev1.Service, *corev1.Service])
		want      int
	}{
		"nothing happens":                {func(*collection[corev1.Service, *corev1.Service]) {}, 1},
		"it is deleted":                  {func(c *collection[corev1.Service, *corev1.Service]) { must(t, c.Delete(service("a", 80, 6))) }, 0},
		"another of its name was before": {func(c *collection[corev1.Service, *corev1.Service]) { must(t, c.Delete(service("a", 80, 3))) }, 1},
		"a newer list is without it":     {func(c *collection[corev1.Service, *corev1.Service]) { must(t, c.Replace(nil, "6")) }, 0},
		"an older list is without it":    {func(c *collection[corev1.Service, *corev1.Service]) { must(t, c.Replace(nil, "4")) }, 1},
		"a newer list has it": {func(c *collection[corev1.Service, *corev1.Service]) {
			must(t, c.Replace([]any{service("a", 81, 6)}, "6"))
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := services(nil)
			must(t, c.Replace(nil, "1"))
			c.startApart()
			test.meanwhile(c)
			c.merge([]*corev1.Service{service("a", 80, 5)})
			c.endApart()
			if got := len(c.all()); got != test.want {
				t.Errorf("%d Services, want %d", got, test.want)
			}
		})
	}
}
