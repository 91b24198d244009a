package settings

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// OfClass gives the settings of the Ingresses of a class: what its ConfigMap says,
// where perClass lets it, and else what s says, which are the settings of the
// controller. A value that is not valid counts as not said. s is not changed.
func (s *Settings) OfClass(cm *corev1.ConfigMap, perClass func(key string) bool) (*Settings, []model.Problem) {
	c := *s
	c.source = &source{
		object:     model.ObjectRef{Kind: "ConfigMap", Namespace: cm.Namespace, Name: cm.Name},
		inForce:    maps.Clone(s.source.inForce),
		broken:     maps.Clone(s.source.broken),
		denies:     s.source.denies,
		controller: s,
	}
	c.source.take(cm.Data)
	problems := append(c.unread(), c.takeOut(perClass)...)
	changed, faults := keys.Override(&c, c.source.lookup)
	for _, v := range changed {
		c.source.hold(v)
		delete(c.source.broken, v.Key)
	}
	problems = append(problems, c.invalid(faults)...)
	c.Annotations.mend()
	return &c, model.SortProblems(append(problems, c.lower()...))
}

// takeOut removes what only the whole nginx can have from what a class says, and
// reports it.
func (c *Settings) takeOut(perClass func(key string) bool) []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(c.source.given)) {
		if _, read := c.source.inForce[key]; read && !perClass(key) {
			delete(c.source.given, key)
			problems = append(problems, c.problem(key, model.Unsupported, "this setting is one for the whole nginx, and not for the Ingresses of a class: it counts only in the ConfigMap of the controller", false))
		}
	}
	return problems
}

// lower keeps a class from allowing riskier annotations than the controller does.
func (c *Settings) lower() []model.Problem {
	const key = "annotations-risk-level"
	most := c.source.controller.Annotations.RiskLevel
	if c.Annotations.RiskLevel <= most {
		return nil
	}
	problem := c.problem(key, model.InvalidValue, fmt.Sprintf("want no more than the ConfigMap of the controller allows, which is %s (got %s)", most, c.Annotations.RiskLevel), false)
	c.Annotations.RiskLevel, c.source.inForce[key] = most, c.source.controller.source.inForce[key]
	return []model.Problem{problem}
}

// Controller gives the settings of the controller, which nginx.conf says once for
// all. They are s itself unless s is of a class.
func (s *Settings) Controller() *Settings {
	if s.source.controller != nil {
		return s.source.controller
	}
	return s
}

// Origin is the ConfigMap that says the text in force for a key; false where it is
// the default.
func (s *Settings) Origin(key string) (model.ObjectRef, bool) {
	from := s.source.inForce[key].from
	return from, from != model.ObjectRef{}
}

// Origins are the ConfigMaps that s was read from: that of the class, if it is of
// one, and that of the controller.
func (s *Settings) Origins() []model.ObjectRef {
	if s.source.controller == nil {
		return []model.ObjectRef{s.source.object}
	}
	return append([]model.ObjectRef{s.source.object}, s.source.controller.Origins()...)
}

// PerClass are the keys, besides those that annotations have as their defaults,
// that can be said for the Ingresses of a class.
func PerClass() []string {
	return []string{"http-redirect-code", "no-tls-redirect-locations", "use-port-in-redirects", "annotations-risk-level"}
}
