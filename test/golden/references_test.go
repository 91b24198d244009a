package golden

import (
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// A source may read only the Secrets and ConfigMaps that translate.References and
// translate.ConfigMaps name, and the default certificate: no case is worked out
// otherwise without the others.
func TestNothingIsReadThatIsNotNamed(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found: %v", err)
	}
	var kept, left atomic.Int64
	t.Run("cases", func(t *testing.T) {
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				c := readCase(t, path)
				all := c.manifests(t).Objects
				options := c.options(t, all)
				few := onlyNamed(t, all, options)
				kept.Add(int64(len(few.Secrets)))
				left.Add(int64(len(all.Secrets) - len(few.Secrets)))
				config, problems := translated(all, options)
				without, others := translated(few, options)
				if diff := difference(config, without); diff != "" {
					t.Errorf("without what is not named:\n%s", diff)
				}
				if diff := difference(problems, others); diff != "" {
					t.Errorf("problems without what is not named:\n%s", diff)
				}
			})
		}
	})
	if kept.Load() == 0 || left.Load() == 0 {
		t.Errorf("of all cases %d Secrets are named and %d are not: want some of both, or this shows nothing", kept.Load(), left.Load())
	}
}

func translated(objects snapshot.Objects, o translate.Options) (model.Config, []model.Problem) {
	snap, _ := snapshot.New(objects) // of two objects with one name both are kept or none
	return translate.Config(snap, o, nil)
}

// difference is cmp.Diff, asked only where something differs: it takes long.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// onlyNamed leaves out the Secrets and ConfigMaps that need not be read.
func onlyNamed(t *testing.T, objects snapshot.Objects, o translate.Options) snapshot.Objects {
	t.Helper()
	snap, _ := snapshot.New(objects)
	secrets, configMaps := translate.Secrets(snap.ConfigMap, o), translate.ConfigMaps(snap.IngressClasses(), o)
	configMaps = append(configMaps, translate.HeaderConfigMaps(snap.ConfigMap(o.ConfigMap))...)
	known, _ := snapshot.New(snapshot.Objects{IngressClasses: objects.IngressClasses, Namespaces: objects.Namespaces, ConfigMaps: translate.OnlyLayers(objects.ConfigMaps)})
	of := translate.Settings(known, o)
	for _, ing := range snap.Ingresses() {
		if ours, _ := translate.Accepts(snap, o, ing); !ours {
			continue
		}
		named := translate.References(ing, of(ing), o)
		if !slices.IsSortedFunc(named, model.ObjectRef.Compare) || len(slices.Compact(slices.Clone(named))) < len(named) {
			t.Errorf("Ingress %s names %v: want them sorted, each once", ing.Name, named)
		}
		for _, ref := range named {
			if name := (snapshot.Name{Namespace: ref.Namespace, Name: ref.Name}); ref.Kind == "Secret" {
				secrets = append(secrets, name)
			} else {
				configMaps = append(configMaps, name)
			}
		}
	}
	objects.Secrets = keep[corev1.Secret](objects.Secrets, secrets)
	objects.ConfigMaps = keep[corev1.ConfigMap](objects.ConfigMaps, configMaps)
	return objects
}

func keep[T any, P interface {
	*T
	metav1.Object
}](objects []P, names []snapshot.Name) []P {
	return slices.DeleteFunc(slices.Clone(objects), func(o P) bool {
		return !slices.Contains(names, snapshot.Name{Namespace: o.GetNamespace(), Name: o.GetName()})
	})
}
