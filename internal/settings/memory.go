package settings

import (
	"sluice/internal/keys"
	"sluice/internal/model"
)

// Memory is how much nginx keeps of what it is told while it runs. The names of
// the dictionaries are those of ingress-nginx.
//
// A dictionary takes memory as it fills. Another size would empty it, so that
// nginx keeps those that it was started with.
type Memory struct {
	Dictionaries keys.Dictionaries `key:"lua-shared-dicts" default:"certificate_data: 128m, configuration_data: 64m" doc:"Sizes of what nginx keeps certificates (certificate_data) and endpoints (configuration_data) in; m is added to a number alone. A change takes effect when Sluice is started again."`
}

// usualMemory is what the default of lua-shared-dicts says.
var usualMemory = model.Memory{Backends: 64 << 20, Certificates: 128 << 20}

// Sizes are those of the dictionaries; one that is not named has its usual size.
func (m Memory) Sizes() model.Memory {
	sizes := usualMemory
	if size := m.Dictionaries.Configuration; size != "" {
		sizes.Backends = size.Bytes()
	}
	if size := m.Dictionaries.Certificate; size != "" {
		sizes.Certificates = size.Bytes()
	}
	return sizes
}
