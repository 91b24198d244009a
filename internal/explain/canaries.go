package explain

import (
	"fmt"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// drawn is the choice among the backends of a split: those that may get the request.
type drawn struct {
	main   bool
	shares []bool
	// why is the reason if a share certainly gets it.
	why string
}

// draw evaluates a split as the balancer does: the cookie of the main backend decides first,
// then the first rule that holds, then the weights. All may get a request if only nginx can
// tell.
func (x *explainer) draw(split *model.Split) drawn {
	d := drawn{main: true, shares: make([]bool, len(split.Shares))}
	if split.Cookie != nil {
		if held, ok := x.asked.Variable("cookie_" + split.Cookie.Name); ok && strings.Contains(held, "|") {
			for i := range d.shares {
				d.shares[i] = x.hasEndpoint(split.Shares[i])
			}
			return d
		}
	}
	left := split.Total
	for i, share := range split.Shares {
		takes, by, known := x.ruled(share.Rules)
		switch {
		case !known:
			d.shares[i] = true
		case by != nil && takes:
			return x.certain(split, d, i, reasonOf(by))
		case by != nil:
			continue // a rule keeps the request from it
		}
		d.shares[i] = d.shares[i] || share.Weight > 0 && left > 0
		left -= share.Weight
	}
	return x.byWeight(split, d, left)
}

// certain is the choice of a share that a rule gives the request, unless only nginx can tell
// about an earlier one.
func (x *explainer) certain(split *model.Split, before drawn, place int, why string) drawn {
	unknown := false
	d := drawn{shares: make([]bool, len(split.Shares))}
	for i := range place {
		_, _, known := x.ruled(split.Shares[i].Rules)
		d.shares[i] = !known && before.shares[i]
		unknown = unknown || d.shares[i]
	}
	d.shares[place] = true
	return x.withEndpoints(split, d, why, unknown)
}

// byWeight completes the choice by weights. left is the weight of the main backend.
func (x *explainer) byWeight(split *model.Split, d drawn, left int) drawn {
	d.main = left > 0
	return x.withEndpoints(split, d, "its weight leaves no requests to others", false)
}

// withEndpoints gives the requests for shares without endpoints to the main backend.
func (x *explainer) withEndpoints(split *model.Split, d drawn, why string, unknown bool) drawn {
	possible := 0
	for i, share := range split.Shares {
		if d.shares[i] && !x.hasEndpoint(share) {
			d.shares[i], d.main = false, true
		}
		if d.shares[i] {
			possible++
		}
	}
	if possible == 1 && !d.main && !unknown {
		d.why = why
	}
	return d
}

func (x *explainer) hasEndpoint(share model.Share) bool {
	return !x.isEmpty(x.Config.Dynamic.Backend(share.Backend))
}

// ruled returns the first rule that holds, nil for none, and whether it takes the request.
// known is false if only nginx can tell.
func (x *explainer) ruled(rules []model.ShareRule) (takes bool, by *model.ShareRule, known bool) {
	for i, rule := range rules {
		value, ok := x.asked.Variable(rule.Variable)
		switch {
		case rule.Pattern == "" && value == rule.Value:
			return rule.Takes, &rules[i], true
		case rule.Pattern == "" || !ok:
			continue
		}
		compiled, err := pcre.Compile(rule.Pattern, 0)
		if err != nil {
			return false, nil, false
		}
		_, matches, err := compiled.MatchWithin(value, rule.Limit)
		if err != nil {
			return false, nil, false
		}
		if matches {
			return rule.Takes, &rules[i], true
		}
	}
	return false, nil, true
}

// reasonOf names the header or cookie of a rule.
func reasonOf(rule *model.ShareRule) string {
	if name, ok := strings.CutPrefix(rule.Variable, "cookie_"); ok {
		return fmt.Sprintf("its cookie %s is %q", name, rule.Value)
	}
	name := strings.ReplaceAll(strings.TrimPrefix(rule.Variable, "http_"), "_", "-")
	if rule.Pattern != "" {
		return fmt.Sprintf("its header %s matches %q", name, rule.Pattern)
	}
	return fmt.Sprintf("its header %s is %q", name, rule.Value)
}
