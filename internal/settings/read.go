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

// Read gives the settings of a ConfigMap, or the defaults for nil, and what is
// wrong with it, sorted. Keys may be written in any case, as in ingress-nginx.
func Read(cm *corev1.ConfigMap) (*Settings, []model.Problem) {
	s := &Settings{source: &source{broken: map[string]bool{}}}
	given := map[string]string{}
	if cm != nil {
		s.source.object = model.ObjectRef{Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name}
		given = byLowerCase(cm.Data)
	}
	s.source.given = given
	lookup := func(key string) (string, bool) { v, ok := given[key]; return v, ok }
	faults := slices.Concat(keys.Decode(s, lookup, nil), s.Workers.mend(), s.Log.mend())
	s.source.texts = keys.Texts(s, lookup, faults)
	return s, model.SortProblems(append(s.invalid(faults), s.unread(given)...))
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
func (s *Settings) unread(given map[string]string) []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if _, read := s.source.texts[key]; !read {
			problems = append(problems, s.unreadKey(key, given[key]))
		}
	}
	return problems
}

func (s *Settings) unreadKey(key, value string) model.Problem {
	at := slices.IndexFunc(known, func(k knownKey) bool { return k.name == key })
	if at < 0 {
		return s.unknownKey(key, value)
	}
	k := known[at]
	switch denies := k.protects && k.says(value); {
	case k.idle:
		return s.problem(key, model.Unread, "this setting has no effect, as in ingress-nginx", false)
	case k.instead != "":
		return s.problem(key, model.Unsupported, "this setting of ingress-nginx has no effect: "+k.instead, false)
	case !k.says(value):
		return s.problem(key, model.NoEffect, "this setting of ingress-nginx is not supported yet, and its value asks for nothing", false)
	default:
		s.source.denies = s.source.denies || denies
		return s.problem(key, model.Unsupported, "this setting of ingress-nginx is not supported yet", denies)
	}
}

// says is true if a value is neither empty nor the one by which nothing is asked
// for.
func (k knownKey) says(value string) bool {
	value = strings.TrimSpace(value)
	return value != "" && !strings.EqualFold(value, k.off)
}

// unknownKey reports a key that neither we nor ingress-nginx know. A near miss of
// one that protects is that one with a bad value.
func (s *Settings) unknownKey(key, value string) model.Problem {
	nearest := keyNames().Nearest(key)
	if key == annotationOfAllowList {
		nearest = allowListKey
	}
	off, protects := protecting()[nearest]
	denies := protects && strings.TrimSpace(value) != "" && !strings.EqualFold(strings.TrimSpace(value), off)
	s.source.denies = s.source.denies || denies
	return s.problem(key, model.Unread, "no setting has this name"+keys.DidYouMean(nearest), denies)
}

// The allow list has one name as a setting and another one as an annotation.
const (
	allowListKey          = "whitelist-source-range"
	annotationOfAllowList = "allowlist-source-range"
)

// protecting are the settings that protect, with the value by which nothing is
// asked for.
var protecting = sync.OnceValue(func() map[string]string {
	list := map[string]string{}
	for _, doc := range keys.Describe(Settings{}) {
		if doc.Protects {
			list[doc.Key] = strings.Join(doc.Off[:min(1, len(doc.Off))], "")
		}
	}
	for _, k := range known {
		if k.protects {
			list[k.name] = k.off
		}
	}
	return list
})

// keyNames are all names that a user may have meant; of two that are as near, the
// one that protects counts.
var keyNames = sync.OnceValue(func() keys.Names {
	names := slices.Sorted(maps.Keys(protecting()))
	for _, doc := range keys.Describe(Settings{}) {
		names = append(names, doc.Key)
	}
	for _, k := range known {
		names = append(names, k.name)
	}
	return keys.NewNames(names)
})
