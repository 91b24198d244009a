package route

import (
	"strings"

	"sluice/internal/model"
)

// chooseLocation returns the location of a path: the exact one, else the longest
// prefix, unless patterns are allowed and one matches. It also returns the reason for
// each other location of the server. Clients reach no internal location. Source:
// ngx_http_core_find_location in nginx's src/http/ngx_http_core_module.c
func chooseLocation(server *model.Server, path string) (*model.Location, Outcome, []LocationVerdict) {
	s := find(server, path, matchPattern)
	winner, outcome := s.result()
	verdicts := make([]LocationVerdict, 0, len(server.Locations))
	for _, l := range server.Locations {
		verdicts = append(verdicts, s.verdict(l))
	}
	return winner, outcome, verdicts
}

// find searches the location of a path.
func find(server *model.Server, path string, match matcher) search {
	s := search{path: path, internal: server.InternalFor(path), match: match}
	s.literals(server.Locations)
	if s.triesPatterns() {
		s.patterns(server.Locations)
	}
	return s
}

// matcher is the type of matchPattern.
type matcher func(pattern, text string, steps int) (matches, known bool)

// search holds the results of nginx's search for the location of a path.
type search struct {
	path  string
	match matcher
	// internal is the location for subrequests with this path, which nginx hides
	// from clients: it answers 404.
	internal *model.Location
	// exact is the "=" location with this path.
	exact *model.Location
	// longest is the longest prefix of the path.
	longest *model.Location
	// slashed is the location to which nginx redirects: /foo/ exists and is proxied,
	// and /foo does not.
	slashed *model.Location
	// pattern is the first match; undecided is an earlier pattern that package pcre
	// cannot evaluate.
	pattern, undecided *model.Location
}

// literals searches without patterns.
func (s *search) literals(locations []*model.Location) {
	for _, l := range locations {
		switch {
		case l.Modifier == model.Pattern:
		case l.Modifier == model.Equal && l.Path == s.path:
			if s.exact == nil {
				s.exact = l
			}
		case l.Modifier != model.Equal && strings.HasPrefix(s.path, l.Path):
			if s.longest == nil || len(l.Path) > len(s.longest.Path) {
				s.longest = l
			}
		case l.Path == s.path+"/" && l.Proxy != nil && s.slashed == nil:
			s.slashed = l
		}
	}
	if s.exact != nil || s.longest != nil && s.longest.Path == s.path {
		s.slashed = nil
	}
}

func (s *search) triesPatterns() bool {
	return s.exact == nil && s.slashed == nil && (s.longest == nil || s.longest.Modifier == model.Prefix)
}

// patterns tries the patterns in the order of the file.
func (s *search) patterns(locations []*model.Location) {
	for _, l := range locations {
		if l.Modifier != model.Pattern {
			continue
		}
		matches, known := s.match(l.Path, s.path, l.MatchLimit)
		if !known {
			s.undecided = l
			return
		}
		if matches {
			s.pattern = l
			return
		}
	}
}

func (s *search) result() (*model.Location, Outcome) {
	switch {
	case s.internal != nil:
		return nil, Unmatched
	case s.exact != nil:
		return s.exact, Served
	case s.slashed != nil:
		return s.slashed, Redirects
	case s.undecided != nil:
		return s.undecided, Unknown
	case s.pattern != nil:
		return s.pattern, Served
	case s.longest != nil:
		return s.longest, Served
	}
	return nil, Unmatched
}

// verdict returns why a location wins or loses, in the order of nginx's search.
func (s *search) verdict(l *model.Location) LocationVerdict {
	winner, outcome := s.result()
	lost := func(verdict Verdict, by *model.Location) LocationVerdict { return LocationVerdict{l, verdict, by} }
	switch {
	case l == winner && outcome == Unknown:
		return lost(Undecided, nil)
	case l == winner:
		return lost(Wins, nil)
	case !s.fits(l):
		return lost(DoesNotMatch, nil)
	case s.internal != nil:
		return lost(ExactFirst, s.internal)
	case s.exact != nil:
		return lost(ExactFirst, s.exact)
	case s.slashed != nil:
		return lost(SlashFirst, s.slashed)
	case l.Modifier != model.Pattern && l != s.longest:
		return lost(LongerFirst, s.longest)
	case l.Modifier != model.Pattern:
		return lost(PatternFirst, winner)
	case !s.triesPatterns():
		return lost(PrefixOnlyFirst, s.longest)
	}
	return lost(EarlierFirst, winner)
}

// fits reports whether a location would take the path if it were the only one, or may do
// so if package pcre cannot evaluate its pattern.
func (s *search) fits(l *model.Location) bool {
	switch l.Modifier {
	case model.Equal:
		return l.Path == s.path
	case model.Pattern:
		matches, known := s.match(l.Path, s.path, l.MatchLimit)
		return matches || !known
	}
	return strings.HasPrefix(s.path, l.Path)
}
