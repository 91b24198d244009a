package bench

import (
	"context"
	"fmt"
	"net"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"sluice/test/bench/measure"
)

// BenchmarkTracing loads a Sluice without tracing, and some that trace, in turns: without a span,
// with spans of 1 % of the requests, and with spans of all. The collector drops what it gets.
func BenchmarkTracing(b *testing.B) {
	for range b.N {
		ports, collector := answering(b), collectSpans(b)
		kinds := []struct{ name, sampler, ratio string }{{"without spans", "AlwaysOff", "0"}, {"1 % of spans", "TraceIdRatioBased", "0.01"}, {"all spans", "AlwaysOn", "1"}}
		plain := loadedSluice(b, "true", ports)
		pinTo(0, plain.PID())
		all := []*traffic{{pid: plain.PID(), to: plainTarget(plain.HTTP)}}
		for _, k := range kinds {
			s := loadedSluice(b, fmt.Sprintf(tracedSettings, collector, k.sampler, k.ratio), ports)
			pinTo(0, s.PID())
			all = append(all, &traffic{pid: s.PID(), to: plainTarget(s.HTTP)})
		}
		for round := range 2 * turns {
			for i := range all {
				all[(round+i)%len(all)].load(b, turn)
			}
		}
		for i, k := range kinds {
			rates, costs := all[i+1].beside(all[0])
			for _, f := range []measure.Figure{
				{What: "throughput with tracing", Unit: "x", Samples: rates, Beside: "the same without"},
				{What: "CPU per request with tracing", Unit: "x", Samples: costs, Beside: "the same without"},
			} {
				f.Work = k.name
				f.Report(b)
			}
		}
	}
}

// tracedSettings follow disable-access-log in the ConfigMap.
const tracedSettings = `true"
  enable-opentelemetry: "true"
  otlp-collector-host: 127.0.0.1
  otlp-collector-port: "%d"
  otel-sampler: %s
  otel-sampler-ratio: "%s`

// dropSpans is a collector that drops what it gets.
type dropSpans struct {
	coltracepb.UnimplementedTraceServiceServer
}

func (dropSpans) Export(context.Context, *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	return &coltracepb.ExportTraceServiceResponse{}, nil
}

// collectSpans starts a collector, and returns its port.
func collectSpans(b *testing.B) int {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer()
	coltracepb.RegisterTraceServiceServer(server, dropSpans{})
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(server.Stop)
	return listener.Addr().(*net.TCPAddr).Port
}
