package annotations

// OpenTelemetry has the requests for the paths traced.
type OpenTelemetry struct {
	Enabled       bool   `key:"enable-opentelemetry" from:"enable-opentelemetry" risk:"low" doc:"Whether requests are traced: Sluice continues or begins a trace (W3C Trace Context), passes it on to backends and authentication servers, and sends its spans to the collector of the settings."`
	OperationName string `key:"opentelemetry-operation-name" risk:"medium" validate:"max=200,operation_name" doc:"Name of the spans of requests. Default: the setting opentelemetry-operation-name, otherwise the method and the path of the rule, such as \"GET /cart\"."`
	TrustIncoming bool   `key:"opentelemetry-trust-incoming-span" from:"opentelemetry-trust-incoming-span" risk:"low" doc:"Whether a request with a valid header traceparent belongs to the trace of its client. Otherwise its headers traceparent and tracestate are dropped."`
}
