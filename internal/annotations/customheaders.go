package annotations

// CustomHeaders adds headers to answers.
type CustomHeaders struct {
	ConfigMap string `key:"custom-headers" risk:"medium" validate:"configmap_ref" closes:"true" doc:"ConfigMap with headers for all answers. The setting global-allowed-response-headers has to allow their names. A ConfigMap of another namespace has to delegate itself, with its annotation sluice.io/delegation."`
}
