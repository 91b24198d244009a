package controller

import (
	"sluice/internal/model"
	"sluice/internal/settings"
)

// Configured are settings of the controller itself.
type Configured struct {
	Tracing settings.Tracing
	Log     settings.Log
}

// configured reads them from the blocks and not from the ConfigMap: a group of settings that was
// refused has its last good form there.
func configured(s model.Static) (of Configured) {
	for _, b := range s.Blocks {
		switch data := b.Data.(type) {
		case settings.Tracing:
			of.Tracing = data
		case settings.Log:
			of.Log = data
		}
	}
	return of
}
