package explain

import (
	"slices"

	"sluice/internal/model"
)

// Printed returns the servers as package render printed them: a location that it
// refused returns 503, and one whose path cannot be written is left out.
func Printed(in Input) []*model.Server {
	refused := slices.DeleteFunc(slices.Clone(in.Problems), func(p model.Problem) bool { return p.Reason != model.Refused })
	if len(refused) == 0 {
		return in.Config.Static.Servers
	}
	servers := make([]*model.Server, 0, len(in.Config.Static.Servers))
	for _, server := range in.Config.Static.Servers {
		s := *server
		s.Locations = nil
		for _, l := range server.Locations {
			if l := printedLocation(l, refused); l != nil {
				s.Locations = append(s.Locations, l)
			}
		}
		servers = append(servers, &s)
	}
	return servers
}

// printedLocation returns a location as printed, nil if it was left out.
func printedLocation(l *model.Location, refused []model.Problem) *model.Location {
	for _, p := range refused {
		switch {
		case p.Object != l.Rule.Object:
		case p.Denies && (p.Field == "" || p.Field == l.Rule.Field):
			return &model.Location{Modifier: l.Modifier, Path: l.Path, Rule: l.Rule, PlainHTTP: l.PlainHTTP, Return: &model.Return{Code: 503}}
		case !p.Denies && p.Field != "" && p.Field == l.Rule.Field:
			return nil
		}
	}
	return l
}
