package settings

import (
	"maps"
	"reflect"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
)

// kept tells the keys that never fall back: those that protect, those that say
// whose a host is and which annotations are followed, and those that say whose
// address an allow list sees. Without use-forwarded-headers that is the address of a
// load balancer, which an allow list may let in for everybody.
var kept = sync.OnceValue(func() map[string]bool {
	keep := map[string]bool{"host-ownership": true, "annotations-risk-level": true, "allow-snippet-annotations": true}
	for _, key := range BlockKeys("forwarded") {
		keep[key] = true
	}
	for _, doc := range keys.Describe(Settings{}) {
		if doc.Protects {
			keep[doc.Key] = true
		}
	}
	return keep
})

// BlockKeys are the keys of the settings that a block of Blocks prints; nil for
// a name that is none of theirs.
func BlockKeys(block string) []string {
	values, _ := Read(nil)
	for _, b := range values.Blocks() {
		if b.Name != block {
			continue
		}
		var names []string
		for _, doc := range keys.Describe(reflect.ValueOf(b.Data).Interface()) {
			names = append(names, doc.Key)
		}
		return names
	}
	return nil
}

// FallBack gives a ConfigMap with those keys that match as another one says
// them, or with their defaults where that is nil or says nothing. All other keys
// stay. So do those that are kept, and those that nothing reads, which may be a slip
// for one of these.
func FallBack(cm, good *corev1.ConfigMap, match func(key string) bool) *corev1.ConfigMap {
	mayFall := map[string]bool{}
	for _, doc := range keys.Describe(Settings{}) {
		mayFall[doc.Key] = !kept()[doc.Key]
	}
	falls := func(key string, _ string) bool {
		key = strings.ToLower(key)
		return mayFall[key] && match(key)
	}
	fallen := cm.DeepCopy()
	maps.DeleteFunc(fallen.Data, falls)
	if good == nil {
		return fallen
	}
	for key, value := range good.Data {
		if falls(key, value) {
			if fallen.Data == nil {
				fallen.Data = map[string]string{}
			}
			fallen.Data[key] = value
		}
	}
	return fallen
}
