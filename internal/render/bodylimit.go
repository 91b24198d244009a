package render

import (
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/syntax"
)

// bodyLimitView is the limit in bytes that a candidate of a dispatch has for bodies, and the Lua file
// that compares.
type bodyLimitView struct {
	Most   int64
	Script string
}

// limitOf returns the limit of bodies that a text sets, outer if it sets none.
func limitOf(text []byte, outer keys.Size) keys.Size {
	limit := outer
	syntax.Directives(text, func(d syntax.Directive) {
		var own keys.Size
		if d.Depth == 0 && d.Name == "client_max_body_size" && own.UnmarshalText([]byte(d.Arg)) == nil {
			limit = own
		}
	})
	return limit
}

// bodyLimit limits the body of a candidate of a dispatch. nginx compares the announced length with
// the limit of the location that it finds by the path only, which passes the request on.
func (s *serverRendering) bodyLimit(location *model.Location) insertion {
	return func() error {
		if !s.isCandidate(location) {
			return nil
		}
		before := s.page.here()
		if err := s.locationBlocks.printAll(); err != nil {
			return err
		}
		most := limitOf(s.page.Bytes()[before.length:], s.bodies).Bytes()
		s.page.back(before)
		if most == 0 {
			return nil
		}
		return s.page.execute(s.templates.core["body-limit"], bodyLimitView{most, s.env.entry("body_limit")})
	}
}

// isCandidate reports whether a dispatch of the server names a location.
func (s *serverRendering) isCandidate(location *model.Location) bool {
	if location.Modifier != model.Named {
		return false
	}
	if s.candidates == nil {
		s.candidates = map[string]bool{}
		for _, l := range s.server.Locations {
			for _, candidate := range l.Dispatch {
				s.candidates[candidate.To] = true
			}
		}
	}
	return s.candidates[location.Path]
}
