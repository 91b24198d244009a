package settings

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// source is where Settings came from.
type source struct {
	object model.ObjectRef
	// texts are the texts in force by key, defaults included.
	texts map[string]string
	// given is what the ConfigMap says, by keys in lower case.
	given map[string]string
	// broken are the keys that protect and are not valid.
	broken map[string]bool
	// once holds what others derived from these settings.
	once sync.Map
	// denies is set where a key that protects cannot be carried out at all.
	denies bool
	// controller are the settings that hold where those of a class say nothing;
	// nil for those of the controller itself.
	controller *Settings
}

// lookup finds what the ConfigMap says for a key.
func (s *source) lookup(key string) (string, bool) {
	text, ok := s.given[key]
	return text, ok
}

// Read gives the settings of a ConfigMap, or the defaults for nil, and what is
// wrong with it, sorted. Keys may be written in any case, as in ingress-nginx.
func Read(cm *corev1.ConfigMap) (*Settings, []model.Problem) {
	s := &Settings{source: &source{broken: map[string]bool{}}}
	if cm != nil {
		s.source.object = model.ObjectRef{Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name}
		s.source.given = byLowerCase(cm.Data)
	}
	faults := slices.Concat(keys.Decode(s, s.source.lookup, nil), s.Workers.mend(), s.Log.mend())
	s.source.texts = keys.Texts(s, s.source.lookup, faults)
	return s, model.SortProblems(append(s.invalid(faults), s.unread()...))
}

// byLowerCase gives the data by its keys in lower case. Where two keys differ
// in case only, the one in lower case counts, else the last in order.
func byLowerCase(data map[string]string) map[string]string {
	lower := make(map[string]string, len(data))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		lower[strings.ToLower(key)] = data[key] // "abc" sorts after "ABC"
	}
	return lower
}

func (s *Settings) invalid(faults []keys.Fault) []model.Problem {
	var problems []model.Problem
	for _, f := range faults {
		if f.Protects {
			s.source.broken[f.Key] = true
		}
		problems = append(problems, s.problem(f.Key, model.InvalidValue, f.Text(), f.Protects))
	}
	return problems
}

func (s *Settings) problem(key string, reason model.Reason, text string, denies bool) model.Problem {
	return model.Problem{Object: s.source.object, Field: key, Reason: reason, Text: text, Denies: denies}
}

// unread reports the keys that no field reads.
func (s *Settings) unread() []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(s.source.given)) {
		if _, read := s.source.texts[key]; !read {
			problems = append(problems, s.unreadKey(key))
		}
	}
	return problems
}

func (s *Settings) unreadKey(key string) model.Problem {
	v := Catalog().Judge(key, s.source.lookup, nil)
	denies := v.Fate == keys.Denied
	s.source.denies = s.source.denies || denies
	return s.problem(key, v.Reason, v.Text, denies)
}
