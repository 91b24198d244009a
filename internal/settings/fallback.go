package settings

import (
	"maps"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
)

// ownershipKey says whose a host is.
const ownershipKey = "host-ownership"

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
// stay. So do keys that keep somebody out: those that protect, host-ownership, and
// those that nothing reads, which may be a slip for one of these.
func FallBack(cm, good *corev1.ConfigMap, match func(key string) bool) *corev1.ConfigMap {
	mayFall := map[string]bool{}
	for _, doc := range keys.Describe(Settings{}) {
		mayFall[doc.Key] = !doc.Protects && doc.Key != ownershipKey
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
