package controller

import (
	"sluice/internal/model"
	"sluice/internal/settings"
)

// tracingOf returns the settings of traces that a configuration has.
func tracingOf(s model.Static) settings.Tracing {
	for _, b := range s.Blocks {
		if of, ok := b.Data.(settings.Tracing); ok {
			return of
		}
	}
	return settings.Tracing{}
}
