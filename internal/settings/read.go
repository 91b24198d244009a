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
	// inForce is what holds by key, defaults included.
	inForce map[string]inForce
	// given is what the ConfigMap says, by keys in lower case; hidden has the other
	// keys that differ from one of them in case only, as they are written.
	given, hidden map[string]string
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

// inForce is a text with the object that says it, none for a default.
type inForce struct {
	text string
	from model.ObjectRef
}

// hold keeps what is in force for a key.
func (s *source) hold(v keys.InForce) {
	holds := inForce{text: v.Text}
	if v.Name != "" {
		holds.from = s.object
	}
	s.inForce[v.Key] = holds
}

// lookup finds what the ConfigMap says for a key.
func (s *source) lookup(key string) (string, bool) {
	text, ok := s.given[key]
	return text, ok
}

// Read gives the settings of a ConfigMap, or the defaults for nil, and what is
// wrong with it, sorted. Keys may be written in any case, as in ingress-nginx.
func Read(cm *corev1.ConfigMap) (*Settings, []model.Problem) {
	s := &Settings{source: &source{inForce: map[string]inForce{}, broken: map[string]bool{}}}
	if cm != nil {
		s.source.object = model.ObjectRef{Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name}
		s.source.take(cm.Data)
	}
	faults := slices.Concat(keys.Decode(s, s.source.lookup, nil), s.Workers.mend(), s.Log.mend())
	for _, v := range keys.Values(s, s.source.lookup, nil, faults...) {
		s.source.hold(v)
	}
	problems := append(s.invalid(faults), s.unread()...)
	s.Annotations.mend()
	return s, model.SortProblems(problems)
}

// take keeps the data by its keys in lower case. Where two keys differ in case only,
// the one in lower case counts, else the last in order.
func (s *source) take(data map[string]string) {
	s.given, s.hidden = make(map[string]string, len(data)), map[string]string{}
	written := make(map[string]string, len(data))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		lower := strings.ToLower(key)
		if before, twice := written[lower]; twice && data[before] != data[key] {
			s.hidden[before] = data[before]
		}
		s.given[lower], written[lower] = data[key], key // "abc" sorts after "ABC"
	}
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

// unread reports the keys that no field reads, and those that others hide.
func (s *Settings) unread() []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(s.source.hidden)) {
		denies := Catalog().Closes(strings.ToLower(key), s.source.hidden[key])
		s.source.denies = s.source.denies || denies
		problems = append(problems, s.problem(key, model.Ambiguous, "another key differs from this one in case only, and counts", denies))
	}
	for _, key := range slices.Sorted(maps.Keys(s.source.given)) {
		if _, read := s.source.inForce[key]; !read {
			problems = append(problems, s.unreadKey(key))
		}
	}
	return problems
}

func (s *Settings) unreadKey(key string) model.Problem {
	v := Catalog().Judge(key, s.source.lookup, nil)
	denies := v.Fate == keys.Denied
	s.source.denies = s.source.denies || denies
	return s.problem(key, v.Reason, v.Text+s.withdraw(v.Meant), denies)
}

// withdraw has the near miss of a key count as that key with a bad value, where such
// a value leaves nothing open. It gives what holds instead.
func (s *Settings) withdraw(meant string) string {
	if _, given := s.source.given[meant]; given || s.source.controller != nil && !slices.Contains(PerClass(), meant) {
		return ""
	}
	instead := keys.Withdraw(s, meant)
	if instead == "" {
		return ""
	}
	s.source.inForce[meant] = inForce{}
	return " Until this is mended " + instead
}

// mend takes what is no risk for the lowest, as ingress-nginx does.
func (a *Annotations) mend() { a.RiskLevel = max(a.RiskLevel, keys.RiskLow) }
