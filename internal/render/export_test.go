package render

import (
	"maps"
	"slices"
)

// UserVariables lists the variables that values of users may name.
func UserVariables() []string { return slices.Sorted(maps.Keys(knownVariables)) }
