package settings

import (
	"strconv"

	"sluice/internal/keys"
)

// Tracing configures the traces of requests: which requests are in a trace, and the
// collector that gets their spans. Annotations can override the first three.
type Tracing struct {
	Enabled       bool   `key:"enable-opentelemetry" default:"false" empty:"zero" doc:"Whether requests are traced: Sluice continues or begins a trace (W3C Trace Context), passes it on to backends and authentication servers, and sends its spans to the collector at otlp-collector-host."`
	OperationName string `key:"opentelemetry-operation-name" validate:"span_name" doc:"Name of the spans of requests. It may have variables such as $request_method. Default: the method and the path of the rule, such as \"GET /cart\"."`
	TrustIncoming bool   `key:"opentelemetry-trust-incoming-span" default:"true" empty:"zero" doc:"Whether a request with a valid header traceparent belongs to the trace of its client. Otherwise its headers traceparent and tracestate are dropped."`
	CollectorHost string `key:"otlp-collector-host" validate:"collector_host" doc:"Name or IP address of the OpenTelemetry collector. Sluice connects to it without TLS. Without it, Sluice passes traces on but sends no spans."`
	CollectorPort int    `key:"otlp-collector-port" default:"4317" validate:"min=1,max=65535" doc:"Port of the collector. By convention, 4317 is that of gRPC and 4318 that of HTTP."`
	Protocol      string `key:"otlp-collector-protocol" default:"grpc" validate:"oneof=grpc http" doc:"Protocol of the collector: OTLP over gRPC, or over HTTP with the path /v1/traces."`
	ServiceName   string `key:"otel-service-name" default:"nginx" validate:"max=200,header_text" doc:"Name of the service in the spans (service.name)."`
	Sampler       string `key:"otel-sampler" default:"AlwaysOn" validate:"oneof=AlwaysOn AlwaysOff TraceIdRatioBased" doc:"Which traces have spans: all (AlwaysOn), none (AlwaysOff), or the share otel-sampler-ratio (TraceIdRatioBased). The trace ID decides, so that all services with the same ratio choose the same traces."`
	ParentBased   bool   `key:"otel-sampler-parent-based" default:"true" empty:"zero" doc:"Whether the client decides for a request with a trusted traceparent, by its flag. otel-sampler then decides only for new traces."`
	Ratio         string `key:"otel-sampler-ratio" default:"0.01" validate:"ratio" doc:"Share of the traces with spans, if otel-sampler is TraceIdRatioBased."`
	QueueSize     int    `key:"otel-max-queuesize" default:"2048" validate:"min=1,max=65536" doc:"Maximum number of spans that wait for the collector. Sluice drops further ones, and logs their number once a minute."`
	BatchSize     int    `key:"otel-max-export-batch-size" default:"512" validate:"min=1,max=8192" doc:"Maximum number of spans in one message to the collector."`
	Delay         int    `key:"otel-schedule-delay-millis" default:"5000" validate:"min=1,max=60000" unit:"milliseconds" doc:"Longest time that a span waits for others before Sluice sends it."`
}

// Records reports whether spans have a destination.
func (t Tracing) Records() bool { return t.CollectorHost != "" }

// Share returns the share of the new traces that have spans, as a number from 0 to 1.
func (t Tracing) Share() string {
	switch {
	case !t.Records() || t.Sampler == "AlwaysOff":
		return "0"
	case t.Sampler == "TraceIdRatioBased":
		return t.Ratio
	}
	return "1"
}

// mend reports traces for all requests without a collector, and turns them off.
func (t *Tracing) mend() []keys.Fault {
	if !t.Enabled || t.Records() {
		return nil
	}
	t.Enabled = false
	return []keys.Fault{{Key: "enable-opentelemetry", Value: strconv.FormatBool(true), Want: `"true" only beside otlp-collector-host, the name or address of the collector`}}
}
