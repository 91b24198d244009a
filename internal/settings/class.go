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

// OfClass returns the settings for the Ingresses of a class: those of its ConfigMap, if
// perClass allows the key, and otherwise those of s, the settings of the controller. An
// invalid value counts as missing. s does not change.
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

// takeOut removes and reports the keys of a class that only the controller can set. One that
// protects closes the paths of the class.
func (c *Settings) takeOut(perClass func(key string) bool) []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(c.source.given)) {
		if _, read := c.source.inForce[key]; read && !perClass(key) {
			// A class may mean to protect its paths by it.
			denies := Catalog().Closes(key, c.source.given[key]) || everywhere[key] && strings.TrimSpace(c.source.given[key]) != ""
			c.source.denies = c.source.denies || denies
			delete(c.source.given, key)
			problems = append(problems, c.problem(key, model.Unsupported, "this setting is one for the whole nginx, and not for the Ingresses of a class: it counts only in the ConfigMap of the controller", denies))
		}
	}
	return problems
}

// lower reduces annotations-risk-level to that of the controller, if a class has a higher
// one.
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

// Controller returns the settings of the controller. They are s itself unless s belongs to
// a class.
func (s *Settings) Controller() *Settings {
	if s.source.controller != nil {
		return s.source.controller
	}
	return s
}

// Origin returns the ConfigMap with the text in force for a key; false if the text is the
// default.
func (s *Settings) Origin(key string) (model.ObjectRef, bool) {
	from := s.source.inForce[key].from
	return from, from != model.ObjectRef{}
}

// Origins returns the Namespace of s, if it has annotations for its Ingresses, and the
// ConfigMaps: that of the class, if there is one, and that of the controller.
func (s *Settings) Origins() []model.ObjectRef {
	if s.namespace != nil {
		of := *s
		of.namespace = nil
		return append([]model.ObjectRef{s.namespace.object}, of.Origins()...)
	}
	if s.source.controller == nil {
		return []model.ObjectRef{s.source.object}
	}
	return append([]model.ObjectRef{s.source.object}, s.source.controller.Origins()...)
}

// PerClass returns the keys that a class can set although they are no defaults of
// annotations.
func PerClass() []string {
	return []string{"global-auth-ca", "http-redirect-code", "no-auth-locations", "no-tls-redirect-locations", "use-port-in-redirects", "annotations-risk-level", defaultKey, fixedKey}
}
