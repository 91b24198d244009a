package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// source is where Settings came from.
type source struct {
	object model.ObjectRef
	// values are the texts in force by key, defaults included.
	values map[string]string
	// broken are the keys that protect and could not be read or carried out.
	broken map[string]bool
}

// Read gives the settings of a ConfigMap, or the defaults for nil, and what is
// wrong with it. Keys may be written in any case, as in ingress-nginx.
func Read(cm *corev1.ConfigMap) (*Settings, []model.Problem) {
	s := &Settings{}
	s.source.values, s.source.broken = map[string]string{}, map[string]bool{}
	given := map[string]string{}
	if cm != nil {
		s.source.object = model.ObjectRef{Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name}
		given = byLowerCase(cm.Data)
	}
	lookup := func(key string) (string, bool) { v, ok := given[key]; return v, ok }
	faults := keys.Decode(s, lookup, nil)
	problems := s.problemsOf(faults)
	s.keepTexts(lookup, faults)
	return s, append(problems, s.unread(given)...)
}

// byLowerCase gives the data by its keys in lower case. Where two keys differ
// in case only, the one in lower case counts, else the first in order.
func byLowerCase(data map[string]string) map[string]string {
	lower := make(map[string]string, len(data))
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(data))) {
		lower[strings.ToLower(key)] = data[key]
	}
	for key, value := range data {
		if key == strings.ToLower(key) {
			lower[key] = value
		}
	}
	return lower
}

func (s *Settings) problemsOf(faults []keys.Fault) []model.Problem {
	var problems []model.Problem
	for _, f := range faults {
		if f.Protects {
			s.source.broken[f.Key] = true
		}
		problems = append(problems, model.Problem{
			Object: s.source.object, Field: f.Key, Reason: model.InvalidValue,
			Text: f.Text(), Denies: f.Protects,
		})
	}
	return problems
}

// keepTexts remembers, for Value, what is in force for each key.
func (s *Settings) keepTexts(lookup keys.Lookup, faults []keys.Fault) {
	for _, doc := range keys.Describe(s) {
		s.source.values[doc.Key] = doc.Default
		if text, ok := keys.Given(s, doc.Key, lookup); ok {
			s.source.values[doc.Key] = text
		}
	}
	for _, f := range faults {
		delete(s.source.values, f.Key)
	}
}

// unread reports the keys that no field reads.
func (s *Settings) unread(given map[string]string) []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if _, read := s.source.values[key]; read || s.source.broken[key] {
			continue
		}
		problems = append(problems, s.unreadKey(key, given[key])...)
	}
	return problems
}

func (s *Settings) unreadKey(key, value string) []model.Problem {
	p := model.Problem{Object: s.source.object, Field: key, Reason: model.Unread}
	known, ok := knownKeys[key]
	_ = value
	switch {
	case !ok:
		p.Text = "no such key"
	default:
		p.Reason = model.Unsupported
		p.Text = fmt.Sprintf("this key is not supported yet %v", known)
	}
	return []model.Problem{p}
}

var knownKeys = map[string]bool{}
