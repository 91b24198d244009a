package route

import (
	"slices"

	"sluice/internal/model"
)

// dispatch follows a location that dispatches to the internal location that answers.
func (c *Choice) dispatch(r Request) {
	if !slices.ContainsFunc(c.Locations, func(v LocationVerdict) bool { return len(v.Location.Dispatch) > 0 }) {
		return
	}
	var all []LocationVerdict
	for _, v := range c.Locations {
		all = append(all, v)
		if v.Verdict != Wins || len(v.Location.Dispatch) == 0 {
			for _, candidate := range v.Location.Dispatch {
				all = append(all, LocationVerdict{c.Server.Named(candidate.To), v.Verdict, v.By})
			}
			continue
		}
		c.Dispatched = v.Location
		all = append(all, c.candidates(r)...)
	}
	c.Locations = all
}

// candidates evaluates the candidates of the chosen location and takes one.
func (c *Choice) candidates(r Request) []LocationVerdict {
	var verdicts []LocationVerdict
	var winner *model.Location
	for _, candidate := range c.Dispatched.Dispatch {
		target := c.Server.Named(candidate.To)
		holds, known := r.holds(candidate.Conditions)
		v := LocationVerdict{target, OtherRequests, nil}
		switch {
		case winner != nil:
			v.Verdict, v.By = MoreSpecificFirst, winner
		case !known:
			winner, v.Verdict = target, Undecided
			c.Location, c.Outcome = target, Unknown
		case holds:
			winner, v.Verdict = target, Wins
			c.Location = target
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}
