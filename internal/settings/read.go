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

// source is the origin of Settings.
type source struct {
	object model.ObjectRef
	// inForce holds the text in force for each key, including defaults.
	inForce map[string]inForce
	// given is the data of the ConfigMap, by keys in lower case. hidden holds the other
	// keys that differ only in case from one of these, as they are written.
	given, hidden map[string]string
	// broken are the keys that protect and have an invalid value.
	broken map[string]bool
	// once holds the results of Once.
	once sync.Map
	// denies is the result of Denies.
	denies bool
	// mistakes is the result of Mistakes.
	mistakes []Mistake
	// controller are the settings of the controller, if these belong to a class; nil
	// otherwise.
	controller *Settings
}

// inForce is a text with the object that contains it, which is empty for a default.
type inForce struct {
	text string
	from model.ObjectRef
}

// hold stores the text in force for a key.
func (s *source) hold(v keys.InForce) {
	holds := inForce{text: v.Text}
	if v.Secret && v.Text != "" {
		holds.text = "(secret)"
	}
	if v.Name != "" {
		holds.from = s.object
	}
	s.inForce[v.Key] = holds
}

// lookup finds a key of the ConfigMap.
func (s *source) lookup(key string) (string, bool) {
	text, ok := s.given[key]
	return text, ok
}

// Read returns the settings in a ConfigMap, which can be nil, and its Problems, sorted.
// Keys can be in any case, as in ingress-nginx.
func Read(cm *corev1.ConfigMap) (*Settings, []model.Problem) {
	s := &Settings{source: &source{inForce: map[string]inForce{}, broken: map[string]bool{}}}
	if cm != nil {
		s.source.object = model.ObjectRef{Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name}
		s.source.take(cm.Data)
	}
	faults := slices.Concat(keys.Decode(s, s.source.lookup, nil), s.Workers.mend(), s.Log.mend(), s.Proxy.mend(), s.Tracing.mend())
	for _, v := range keys.Values(s, s.source.lookup, nil, faults...) {
		s.source.hold(v)
	}
	problems := slices.Concat(s.invalid(faults), s.unread(), s.lonely(faults), s.unmended())
	s.Annotations.mend()
	s.TLS.SharedTickets = s.TLS.SessionTickets && len(s.Tickets.Key) > 0
	s.closeUnknown()
	return s, model.SortProblems(problems)
}

// take stores the data by its keys in lower case. If keys differ only in case, the one in
// lower case counts, otherwise the last in order.
func (s *source) take(data map[string]string) {
	s.given, s.hidden = make(map[string]string, len(data)), map[string]string{}
	written := make(map[string]string, len(data))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		lower := strings.ToLower(key)
		if before, twice := written[lower]; twice && data[before] != data[key] {
			s.hidden[before] = data[before]
		}
		s.given[lower], written[lower] = data[key], key // upper case sorts first
	}
}

func (s *Settings) invalid(faults []keys.Fault) []model.Problem {
	var problems []model.Problem
	for _, f := range faults {
		// A part of a protection counts only beside the rest.
		needed, _ := s.Value(f.Needs)
		denies := f.Protects || needed != "" && !f.Alone
		if f.Needs == "" {
			f.Default = "" // that an administrator knows
		}
		if denies {
			s.source.broken[f.Key] = true
			s.source.denies = s.source.denies || everywhere[f.Key]
		}
		if f.Closes {
			denies, s.source.denies = true, true
		}
		problems = append(problems, s.problem(f.Key, model.InvalidValue, f.Text(), denies))
		s.mistaken(s.mistakeOf(f, denies))
	}
	return problems
}

// mistakeOf returns an invalid value as a mistake.
func (s *Settings) mistakeOf(f keys.Fault, denies bool) Mistake {
	f.Meanwhile = ""
	m := Mistake{Key: f.Key, Problem: s.problem(f.Key, model.InvalidValue, f.Text(), denies)}
	switch {
	case f.Protects, f.Closes:
		m.Closes = f.Key
	case denies:
		m.Closes = f.Needs
	}
	return m
}

func (s *Settings) problem(key string, reason model.Reason, text string, denies bool) model.Problem {
	return model.Problem{Object: s.source.object, Field: key, Reason: reason, Text: text, Denies: denies}
}

// unread reports the keys that no field reads, and the hidden ones.
func (s *Settings) unread() []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(s.source.hidden)) {
		denies := Catalog().Closes(strings.ToLower(key), s.source.hidden[key])
		s.source.denies = s.source.denies || denies
		problem := s.problem(key, model.Ambiguous, "another key differs from this one in case only, and counts", denies)
		problems = append(problems, problem)
		if lower := strings.ToLower(key); denies {
			s.mistaken(Mistake{Key: lower, Problem: problem, Closes: lower})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.source.given)) {
		if _, read := s.source.inForce[key]; !read {
			problems = append(problems, s.unreadKey(key))
		}
	}
	return problems
}

// lonely reports valid keys that have no effect, because the keys that they need are empty.
func (s *Settings) lonely(faults []keys.Fault) []model.Problem {
	var problems []model.Problem
	for _, doc := range keys.Describe(s) {
		text, given := s.source.given[doc.Key]
		needed := strings.Fields(doc.Needs)
		on := func(key string) bool {
			value, _ := s.Value(key)
			return value != "" && value != "false"
		}
		invalid := slices.ContainsFunc(faults, func(f keys.Fault) bool { return f.Key == doc.Key })
		if given && len(needed) > 0 && strings.TrimSpace(text) != "" && !doc.IsOff(text) && !invalid && !slices.ContainsFunc(needed, on) {
			problems = append(problems, s.problem(doc.Key, model.Unread, "it has no effect without "+model.OneOf(needed), false))
		}
	}
	return problems
}

func (s *Settings) unreadKey(key string) model.Problem {
	v := Catalog().Judge(key, s.source.lookup)
	denies := v.Fate == keys.Denied
	s.source.denies = s.source.denies || denies
	instead := s.withdraw(v.Meant)
	if m := (Mistake{Key: v.Meant, Problem: s.problem(key, v.Reason, v.Text, denies)}); denies {
		m.Closes = v.Meant
		s.mistaken(m)
	} else if instead != "" {
		s.mistaken(m)
	}
	return s.problem(key, v.Reason, v.Text+instead, denies)
}

// withdraw treats a near miss of a key as that key with an invalid value, if that closes
// something. It returns the consequence for the message.
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

// mend replaces an empty risk with the lowest, as ingress-nginx does.
func (a *Annotations) mend() { a.RiskLevel = max(a.RiskLevel, keys.RiskLow) }
