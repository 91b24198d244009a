package tracing

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// mostTries is the most spans of tries of one request.
const mostTries = 32

// spans returns the spans of a record: that of the request with those of its tries, or that
// of each try of a question.
func (r *record) spans() []*tracepb.Span {
	tries := triesOf(r.Addresses, r.Statuses, r.Times)
	if r.Question {
		return r.questions(tries)
	}
	spans := []*tracepb.Span{r.server()}
	for i, end := len(tries)-1, r.end(); i >= 0; i-- {
		span := r.client(tries[i], end)
		spans = append(spans, span)
		end = span.StartTimeUnixNano
	}
	return spans
}

func (r *record) start() uint64 { return nanoseconds(r.From) }
func (r *record) end() uint64   { return max(nanoseconds(r.To), r.start()) }

// nanoseconds returns the time of nginx, which is in milliseconds.
func nanoseconds(seconds float64) uint64 {
	if !(seconds > 0 && seconds < 1e10) {
		return 0
	}
	return uint64(time.Duration(seconds*1000+0.5) * time.Millisecond)
}

// server returns the span of a request.
// Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server
func (r *record) server() *tracepb.Span {
	c := r.context
	span := &tracepb.Span{
		TraceId: c.trace, SpanId: c.span(ofRequest), ParentSpanId: c.parent, TraceState: r.state(),
		Name: clean(r.name()), Kind: tracepb.Span_SPAN_KIND_SERVER, StartTimeUnixNano: r.start(), EndTimeUnixNano: r.end(),
	}
	span.Attributes = attributes("http.request.method", r.method(), "url.scheme", r.Scheme, "server.address", r.Host, "url.path", r.URI,
		"http.route", c.path, "network.protocol.version", strings.TrimPrefix(r.Protocol, "HTTP/"), "client.address", r.Client, "user_agent.original", r.Agent)
	if namespace, rest, ok := strings.Cut(r.Route, "/"); ok {
		ingress, service, _ := strings.Cut(rest, "/")
		span.Attributes = append(span.Attributes, attributes("sluice.namespace", namespace, "sluice.ingress", ingress, "sluice.service", service)...)
	}
	setStatus(span, r.Status, 500)
	return span
}

// client returns the span of a try at a backend that ended at a time.
// Source: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client
func (r *record) client(t try, end uint64) *tracepb.Span {
	c := r.context
	begin := max(end-min(uint64(t.took), end), r.start())
	span := &tracepb.Span{
		TraceId: c.trace, SpanId: c.idOf(t), ParentSpanId: c.span(ofRequest), TraceState: r.state(),
		Name: clean(r.method()), Kind: tracepb.Span_SPAN_KIND_CLIENT, StartTimeUnixNano: begin, EndTimeUnixNano: max(end, begin),
	}
	span.Attributes = append(attributes("http.request.method", r.method()), t.attributes()...)
	if t.number > 0 {
		span.Attributes = append(span.Attributes, number("http.request.resend_count", int64(t.number)))
	}
	setStatus(span, t.status, r.errorFrom(t))
	return span
}

// errorFrom is the first status of a try that is an error. The 401 and 403 of a server that
// authenticates are answers.
func (r *record) errorFrom(t try) int64 {
	if r.Question && (t.status == "401" || t.status == "403") {
		return 500
	}
	return 400
}

// questions returns the spans of the tries of a question.
func (r *record) questions(tries []try) []*tracepb.Span {
	var spans []*tracepb.Span
	for i, end := len(tries)-1, r.end(); i >= 0; i-- {
		t := tries[i]
		span := r.client(t, end)
		span.Name, end = "auth", span.StartTimeUnixNano
		span.SpanId = r.context.idOfQuestion(t)
		spans = append(spans, span)
	}
	return spans
}

// name is the name of the span of a request.
func (r *record) name() string {
	switch {
	case r.context.name != "":
		return r.context.name
	case r.context.path != "":
		return r.method() + " " + r.context.path
	}
	return r.method()
}

// method is the method of a request, or "_OTHER" for an unusual one, so that no client
// chooses the names of spans.
func (r *record) method() string {
	switch r.Method {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH":
		return r.Method
	case "":
		return ""
	}
	return "_OTHER"
}

// state is the tracestate of the client: at most 512 printable characters.
func (r *record) state() string {
	for _, ch := range []byte(r.State) {
		if ch < ' ' || ch > '~' {
			return ""
		}
	}
	return r.State
}

// try is one try at an endpoint.
type try struct {
	// part counts nginx's internal redirects before it, and number the tries before it
	// in the part. last is set for the last one of the part.
	part, number    int
	last            bool
	address, status string
	took            time.Duration
}

// triesOf reads nginx's variables of tries, separated by ", ", and by " : " between internal
// redirects. Those at our own sockets, which answer without an endpoint, are none.
func triesOf(addresses, statuses, times string) []try {
	var tries []try
	allStatuses, allTimes := strings.Split(statuses, " : "), strings.Split(times, " : ")
	for part, of := range strings.Split(addresses, " : ") {
		names := strings.Split(of, ", ")
		for number, name := range names {
			if name == "" || strings.HasPrefix(name, "unix:") || len(tries) == mostTries {
				continue
			}
			seconds, _ := strconv.ParseFloat(item(allTimes, part, number), 64)
			if !(seconds > 0 && seconds < 1e6) {
				seconds = 0
			}
			tries = append(tries, try{part: part, number: number, last: number == len(names)-1, address: name,
				status: item(allStatuses, part, number), took: time.Duration(seconds * float64(time.Second))})
		}
	}
	return tries
}

func item(parts []string, part, number int) string {
	if part >= len(parts) {
		return ""
	}
	items := strings.Split(parts[part], ", ")
	if number >= len(items) {
		return ""
	}
	return strings.TrimSpace(items[number])
}

func (t try) attributes() []*commonpb.KeyValue {
	at, err := netip.ParseAddrPort(t.address)
	if err != nil {
		return attributes("network.peer.address", t.address)
	}
	port := int64(at.Port())
	address := at.Addr().String()
	return append(attributes("server.address", address, "network.peer.address", address), number("server.port", port), number("network.peer.port", port))
}

// idOf is the ID of the span of a try. Backends get that of the last try of a part, because
// nginx makes the headers once for all of them.
func (c spanContext) idOf(t try) []byte {
	if t.last && firstTry+t.part <= lastTry {
		return c.span(byte(firstTry + t.part))
	}
	return c.other(0, t)
}

func (c spanContext) idOfQuestion(t try) []byte {
	if t.last && t.part == 0 {
		return c.span(ofQuestion)
	}
	return c.other(1, t)
}

// other is an ID that no header has.
func (c spanContext) other(kind byte, t try) []byte {
	text := append(append([]byte(nil), c.trace...), c.seed...)
	text = append(text, kind)
	text = binary.BigEndian.AppendUint32(text, uint32(t.part))
	text = binary.BigEndian.AppendUint32(text, uint32(t.number))
	sum := sha256.Sum256(text)
	return sum[:8]
}

// setStatus sets the status of an answer, which is an error from a code on, or without an
// answer.
func setStatus(span *tracepb.Span, status string, errorFrom int64) {
	code, err := strconv.ParseInt(status, 10, 64)
	if err != nil {
		span.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
		return
	}
	span.Attributes = append(span.Attributes, number("http.response.status_code", code))
	if code >= errorFrom {
		span.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
		span.Attributes = append(span.Attributes, text("error.type", status))
	}
}

// attributes returns those of pairs of names and texts. Empty ones are left out.
func attributes(pairs ...string) []*commonpb.KeyValue {
	var list []*commonpb.KeyValue
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(list, text(pairs[i], pairs[i+1]))
		}
	}
	return list
}

// longestText is the most bytes of an attribute.
const longestText = 1024

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: clean(value)}}}
}

func number(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

// clean returns a text as protobuf takes it: valid UTF-8, of a limited length.
func clean(value string) string {
	if len(value) > longestText {
		value = value[:longestText]
	}
	if !utf8.ValidString(value) {
		return strings.ToValidUTF8(value, "\uFFFD")
	}
	return value
}
