package render

import (
	"maps"
	"slices"

	"sluice/internal/tokens"
)

// UserVariables lists the variables that values of users may name.
func UserVariables() []string { return slices.Sorted(maps.Keys(tokens.KnownVariables)) }
