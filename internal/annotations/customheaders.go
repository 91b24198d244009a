package annotations

import "sluice/internal/keys"

// CustomHeaders adds headers to answers.
type CustomHeaders struct {
	ConfigMap string `key:"custom-headers" risk:"medium" validate:"configmap_ref" closes:"true" doc:"ConfigMap with headers for all answers. The setting global-allowed-response-headers has to allow their names. A ConfigMap of another namespace has to delegate itself, with its annotation sluice.io/delegation."`
	// Lines come before those of the ConfigMap.
	Lines keys.ResponseHeaders `key:"response-headers" own:"true" risk:"medium" closes:"true" doc:"Headers of all answers, also of errors, in a line each. They replace those of the backend. A line without a value removes the header of the backend."`
}
