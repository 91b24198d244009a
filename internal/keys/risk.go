package keys

import (
	"fmt"
	"slices"
	"strings"
)

// Risk is the possible harm of a key to others. Risks are ordered.
type Risk int

// The risks, as ingress-nginx ranks its annotations.
const (
	RiskUnranked Risk = iota
	RiskLow
	RiskMedium
	RiskHigh
	RiskCritical
)

var riskNames = []string{"", "Low", "Medium", "High", "Critical"}

// UnmarshalText accepts the names in any case.
func (r *Risk) UnmarshalText(text []byte) error {
	i := slices.IndexFunc(riskNames, func(name string) bool { return strings.EqualFold(name, string(text)) })
	if i <= 0 {
		return fmt.Errorf("%q is not a risk", text)
	}
	*r = Risk(i)
	return nil
}

// String is the name, or "" for RiskUnranked.
func (r Risk) String() string { return riskNames[r] }
