package annotations

// CustomHeaders adds headers to answers.
type CustomHeaders struct {
	ConfigMap string `key:"custom-headers" risk:"medium" validate:"configmap_ref" closes:"true" doc:"ConfigMap whose data are headers of all answers, each with its value; the setting global-allowed-response-headers has to allow their names. One of another namespace has to delegate itself, by its annotation sluice.io/delegation."`
}
