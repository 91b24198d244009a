package settings

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
)

// kept returns the keys that never fall back: those that are in no file, those that protect with their parts,
// those that permit something to authors of Ingresses or to clients, and those that decide which address an
// allow list sees. Without use-forwarded-headers it sees the address of the load balancer,
// which an allow list can contain. A snippet that is part of a protection can fall back, as nginx may refuse it.
var kept = sync.OnceValue(func() map[string]bool {
	keep := map[string]bool{}
	for _, key := range BlockKeys("forwarded") {
		keep[key] = true
	}
	for _, doc := range keys.Describe(Settings{}) {
		part := slices.ContainsFunc(strings.Fields(doc.Needs), func(need string) bool { return keep[need] }) && doc.Field.Type != reflect.TypeFor[keys.QuestionSnippet]()
		if doc.Protects || doc.Secret || doc.Permits || part {
			keep[doc.Key] = true
		}
	}
	return keep
})

// IsSecret reports whether the value of a key must not be shown or written.
func IsSecret(key string) bool {
	return slices.ContainsFunc(keys.Describe(Settings{}), func(doc keys.Doc) bool { return doc.Secret && doc.Key == strings.ToLower(key) })
}

// BlockKeys returns the keys of the settings that a block of Blocks prints; nil if there
// is no such block.
func BlockKeys(block string) []string { return blockKeys()[block] }

var blockKeys = sync.OnceValue(func() map[string][]string {
	values, _ := Read(nil)
	named := map[string][]string{}
	for _, b := range values.Blocks() {
		for _, doc := range keys.Describe(b.Data) {
			named[b.Name] = append(named[b.Name], doc.Key)
		}
	}
	return named
})

// mayFall returns the keys that can fall back.
var mayFall = sync.OnceValue(func() map[string]bool {
	fall := map[string]bool{}
	for _, doc := range keys.Describe(Settings{}) {
		fall[doc.Key] = !kept()[doc.Key]
	}
	return fall
})

// FallBack returns cm with the values of good for the keys that match. A key that good
// lacks is removed, so that its default applies; good can be nil. Then paths are closed in
// place of a snippet that may restrict access, as they are in place of one for questions that
// were not asked before. Kept keys stay, and so do unread keys, which
// can be misspelled kept keys.
func FallBack(cm, good *corev1.ConfigMap, match func(key string) bool) *corev1.ConfigMap {
	falls := func(key string, _ string) bool {
		key = strings.ToLower(key)
		return mayFall()[key] && match(key)
	}
	fallen := cm.DeepCopy()
	maps.DeleteFunc(fallen.Data, falls)
	withoutGood(fallen, cm, good, falls)
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
