package settings

import (
	"sluice/internal/keys"
	"sluice/internal/model"
)

// Memory configures the sizes of the dictionaries, with their names in ingress-nginx. A
// dictionary allocates memory as it fills. A new size would empty it, so nginx keeps the
// sizes that it started with.
type Memory struct {
	Dictionaries keys.Dictionaries `key:"lua-shared-dicts" default:"certificate_data: 128m, configuration_data: 64m" doc:"Sizes of nginx's memory for certificates (certificate_data) and endpoints (configuration_data). A number without a unit is in megabytes. A change takes effect when Sluice restarts."`
}

// usualMemory is the default of lua-shared-dicts.
var usualMemory = model.Memory{Backends: 64 << 20, Certificates: 128 << 20}

// Sizes returns the sizes of the dictionaries.
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
