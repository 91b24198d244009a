package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// refusal is the reason why the annotation with a key cannot be honoured.
type refusal struct {
	key    string
	reason model.Reason
	text   string
}

// refused reports a refusal, and closes the paths of the annotation.
func (i *owner) refused(by *refusal) *claim.Attached { return i.refuse(by.key, by.reason, by.text) }

// secretAt returns the Secret that the annotation with a key names. err is the fault of the
// name.
func (t *translation) secretAt(ing *owner, key string, name snapshot.Name, err error) (*corev1.Secret, *refusal) {
	if err != nil {
		return nil, &refusal{key, model.InvalidValue, err.Error()}
	}
	secret, missing := t.secretFor(ing, name)
	if secret == nil {
		return nil, &refusal{key, model.NotFound, missing}
	}
	return secret, nil
}

// entry is a name with its value in a ConfigMap.
type entry struct{ Name, Value string }

// entriesAt returns the entries of the ConfigMap that the annotation with a key names, sorted
// by name. wrong returns the fault of an entry, "" for none.
func (t *translation) entriesAt(ing *owner, key, reference string, wrong func(entry) string) ([]entry, *refusal) {
	of, err := snapshot.ParseReference(reference, ing.Ref.Namespace)
	if err != nil {
		return nil, &refusal{key, model.InvalidValue, err.Error()}
	}
	configMap, missing := t.configMapFor(ing, of)
	if configMap == nil {
		return nil, &refusal{key, model.NotFound, missing}
	}
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(configMap.Data)) {
		e := entry{name, strings.TrimSpace(configMap.Data[name])}
		if text := wrong(e); text != "" {
			return nil, &refusal{key, model.InvalidValue, fmt.Sprintf("ConfigMap %s: %s", of, text)}
		}
		entries = append(entries, e)
	}
	return entries, nil
}
