package random

import (
	"maps"
	"slices"
	"strings"

	"sluice/test/recorded"
)

// rules are those of an Ingress, also where it has its paths in the short form.
func (a *asked) rules(in *recorded.Ingress) []recorded.Rule {
	host := a.world.Host
	if in.Host != nil {
		host = *in.Host
	}
	rules := slices.Clone(in.Rules)
	for _, h := range append(slices.Clone(in.Hosts), host) {
		if len(in.Paths) > 0 {
			rules = append(rules, recorded.Rule{Host: h, Paths: in.Paths})
		}
	}
	return rules
}

// covers says whether a rule has the host of the request, also without or with www.
func (a *asked) covers(host string) bool {
	asked := strings.ToLower(a.call().Host)
	_, parent, _ := strings.Cut(asked, ".")
	return host == asked || host == "*."+parent || "www."+host == asked || host == "www."+asked
}

// around says whether an Ingress with a rule for the host of the request is such a one.
func (a *asked) around(holds func(*recorded.Ingress) bool) bool {
	return slices.ContainsFunc(a.world.Ingresses, func(in recorded.Ingress) bool {
		here := slices.ContainsFunc(a.rules(&in), func(r recorded.Rule) bool { return a.covers(r.Host) })
		return here && holds(&in)
	})
}

// owner is the Ingress that takes the request here; it is empty if there is none.
func (a *asked) owner() *recorded.Ingress {
	winner := a.explained().Winner
	for i := range a.world.Ingresses {
		if winner != nil && a.world.Ingresses[i].Name == winner.Object.Name {
			return &a.world.Ingresses[i]
		}
	}
	return &recorded.Ingress{}
}

// field is that of the owner which takes the request.
func (a *asked) field() string {
	if winner := a.explained().Winner; winner != nil {
		return winner.Field
	}
	return ""
}

// uses says whether an Ingress has a path with a Service.
func (a *asked) uses(in *recorded.Ingress, service string) bool {
	return slices.ContainsFunc(a.rules(in), func(r recorded.Rule) bool {
		return slices.ContainsFunc(r.Paths, func(path string) bool {
			words := strings.Fields(path)
			name, _, _ := strings.Cut(words[len(words)-1], ":")
			return name == service
		})
	})
}

// service is the name of the Service that answers here, "" for none.
func (a *asked) service() string {
	_, name, _ := strings.Cut(a.explained().Answer.Service, "/")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// isClosed says whether an Ingress has a mistake for which its paths answer 503.
func (a *asked) isClosed(in *recorded.Ingress) bool {
	for _, p := range a.world.problems {
		if p.Object.Name == in.Name && p.Denies {
			return true
		}
	}
	return false
}

// intercepts says whether the errors with a status are to be answered in another way.
func (a *asked) intercepts(status string) bool {
	list := a.owner().Annotations["custom-http-errors"] + "," + a.world.Config["custom-http-errors"]
	return slices.Contains(strings.Split(list, ","), status)
}

// values are all values of an annotation on the host of the request.
func (a *asked) values(key string) []string {
	values := map[string]bool{}
	a.around(func(in *recorded.Ingress) bool {
		if value := in.Annotations[key]; value != "" {
			values[value] = true
		}
		return false
	})
	return slices.Sorted(maps.Keys(values))
}
