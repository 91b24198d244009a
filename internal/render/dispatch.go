package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/model"
	paths "sluice/internal/route"
	"sluice/internal/tokens"
)

// passingView is the data of the templates that go on in an internal location: To is its name, or
// the variable with that, Script the Lua file that goes there.
type passingView struct{ To, Script string }

// dispatchView is the data of the template of a dispatch: maps that choose a candidate for
// each request. Their names are hashes of their content, so that locations share them.
type dispatchView struct {
	Parameters []patternMap
	Conditions []patternMap
	Choices    []choice
}

// patternMap is a map that matches a variable with a pattern.
type patternMap struct {
	Variable, Of string
	Pattern      tokens.Limited
}

// choice is a map that names the first candidate whose conditions hold. If there is none,
// Next names another choice, or Last is the candidate.
type choice struct {
	Variable string
	// Of are the variables of the conditions, each 0 or 1.
	Of         []string
	Candidates []chosen
	Next, Last string
}

// chosen is a candidate with a pattern of its conditions.
type chosen struct {
	Pattern tokens.Limited
	To      string
}

// mostTested is the maximum of conditions of a choice, because their names are one token.
const mostTested = 100

// dispatchBlock is the block that prints the maps of a dispatch.
const dispatchBlock = "dispatch"

// dispatch prepares the maps of a location, and returns the variable with the name of the
// internal location.
func (s *serverRendering) dispatch(location *model.Location) (variable string, err error) {
	all := location.Dispatch
	for _, candidate := range all {
		if !slices.ContainsFunc(s.server.Internal, func(i *model.Internal) bool { return i.Modifier == model.Named && i.Path == candidate.To }) {
			return "", &tokens.Refusal{Want: "candidates that are internal locations of the server", Got: candidate.To}
		}
	}
	last := len(all) - 1
	if len(all[last].Conditions) > 0 || location.RedirectToHTTPS != nil || location.Rewrite != nil || len(location.Blocks) > 0 {
		return "", &tokens.Refusal{Want: "a dispatch that does nothing else and ends with a candidate for all requests", Got: location.Path}
	}
	view := &dispatchView{}
	if variable, err = view.choose(all[:last], all[last].To, s.global.Patterns.MatchLimit); err != nil {
		return "", err
	}
	return variable, s.sharedBlocks([]model.Block{{Name: dispatchBlock, Data: view, Source: location.Rule.Object}})
}

// instead returns the internal location that answers in place of one without endpoints, nil for none.
func (s *serverRendering) instead(location *model.Location) *passingView {
	for _, block := range location.Blocks {
		if to, ok := block.Data.(interface{ Instead() string }); ok {
			return &passingView{to.Instead(), s.env.entry("instead")}
		}
	}
	return nil
}

// choose adds the choice among candidates, and returns its variable. If there are too many
// conditions, another choice gets the rest.
func (v *dispatchView) choose(candidates []model.Candidate, last string, matchLimit int) (variable string, err error) {
	c := choice{Last: last}
	positions := make([][]int, 0, len(candidates))
	for i, candidate := range candidates {
		if len(c.Of)+len(candidate.Conditions) > mostTested && i > 0 {
			if c.Next, err = v.choose(candidates[i:], last, matchLimit); err != nil {
				return "", err
			}
			candidates = candidates[:i]
			break
		}
		positions = append(positions, c.test(v, candidate.Conditions, matchLimit))
	}
	for i, candidate := range candidates {
		bits := []byte(strings.Repeat(".", len(c.Of)))
		for _, at := range positions[i] {
			bits[at] = '1'
		}
		c.Candidates = append(c.Candidates, chosen{tokens.Limited{Text: "^" + string(bits)}, candidate.To})
	}
	if len(c.Of) > mostTested {
		return "", &tokens.Refusal{Want: "at most 100 conditions of one candidate", Got: candidates[0].To}
	}
	c.Variable = "dispatch_" + hashed(c)
	v.Choices = append(v.Choices, c)
	return c.Variable, nil
}

// test adds conditions, and returns their places among those of the choice.
func (c *choice) test(v *dispatchView, conditions []model.Condition, matchLimit int) []int {
	var places []int
	for _, condition := range conditions {
		variable := v.condition(condition, matchLimit)
		at := slices.Index(c.Of, variable)
		if at < 0 {
			at = len(c.Of)
			c.Of = append(c.Of, variable)
		}
		places = append(places, at)
	}
	return places
}

// condition adds a map that is 1 if a condition holds, and returns its variable.
func (v *dispatchView) condition(c model.Condition, matchLimit int) (variable string) {
	variable = "match_" + hashed(c)
	known := func(m patternMap) bool { return m.Variable == variable }
	if slices.ContainsFunc(v.Conditions, known) {
		return variable
	}
	of, limit := "", cmp.Or(c.MatchLimit, matchLimit)
	switch c.Of {
	case model.OfMethod:
		of = "request_method"
	case model.OfHeader:
		of = "http_" + strings.ReplaceAll(c.Name, "-", "_")
	case model.OfQuery:
		of = "query_" + hashed([]any{c.Name, limit})
		if parameter := (patternMap{of, "", tokens.LimitPattern(paths.ParameterPattern(c.Name), limit)}); !slices.Contains(v.Parameters, parameter) {
			v.Parameters = append(v.Parameters, parameter)
		}
	}
	v.Conditions = append(v.Conditions, patternMap{variable, of, tokens.LimitPattern(c.Pattern, limit)})
	return variable
}

// hashed returns a name for a plain value.
func hashed(content any) string {
	return model.SHA256(fmt.Sprintf("%#v", content))[:16]
}
