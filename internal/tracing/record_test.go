package tracing

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const (
	someTrace  = "0af7651916cd43dd8448eb211c80319c"
	someSeed   = "b7ad6b716920333"
	someParent = "00f067aa0ba902b7"
	nobody     = "0000000000000000"
)

func contextOf(parent string) string {
	return "00-" + someTrace + "-" + someSeed + "f-01" + parent + "/cart\n"
}

// sent is a datagram as a worker sends it.
func sent(dropped int, records ...string) []byte {
	return []byte(fmt.Sprintf("%d\n%s", dropped, strings.Join(records, "\n")))
}

// recordOf is the JSON of a record with a context and further fields, on one line.
func recordOf(context, fields string) string {
	return fmt.Sprintf(`{"context":%q,"from":1700000000.5,"to":1700000001.5,%s}`, context, strings.ReplaceAll(fields, "\n", ""))
}

// shown describes spans, the request's first.
func shown(spans []*tracepb.Span) []string {
	var lines []string
	for _, s := range spans {
		line := fmt.Sprintf("%s %s %q %s<-%s", hex.EncodeToString(s.TraceId)[:4], strings.ToLower(strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_")), s.Name, hex.EncodeToString(s.SpanId), hex.EncodeToString(s.ParentSpanId))
		line += fmt.Sprintf(" %dms", (s.EndTimeUnixNano-s.StartTimeUnixNano)/1e6)
		for _, a := range s.Attributes {
			line += " " + a.Key + "=" + valueOf(a)
		}
		if s.Status != nil {
			line += " " + s.Status.Code.String()
		}
		lines = append(lines, line)
	}
	return lines
}

func valueOf(a *commonpb.KeyValue) string {
	if v, ok := a.Value.Value.(*commonpb.AnyValue_IntValue); ok {
		return fmt.Sprint(v.IntValue)
	}
	return a.Value.GetStringValue()
}

func spansOf(t *testing.T, records ...string) []*tracepb.Span {
	t.Helper()
	decoded, _ := decode(sent(0, records...))
	var spans []*tracepb.Span
	for _, r := range decoded {
		spans = append(spans, r.spans()...)
	}
	return spans
}

func TestSpansOfARequestWithRetries(t *testing.T) {
	t.Parallel()
	got := shown(spansOf(t, recordOf(contextOf(someParent), `"method":"GET","scheme":"https","host":"shop.example","uri":"/cart/1","protocol":"HTTP/2.0","status":"200",
		"client":"192.0.2.1","agent":"curl","route":"shop/web/cart/80","addresses":"10.0.0.1:80, 10.0.0.2:80","statuses":"502, 200","times":"0.100, 0.300"`)))
	want := []string{
		"0af7 server \"GET /cart\" b7ad6b7169203330<-00f067aa0ba902b7 1000ms http.request.method=GET url.scheme=https server.address=shop.example url.path=/cart/1 http.route=/cart network.protocol.version=2.0 client.address=192.0.2.1 user_agent.original=curl sluice.namespace=shop sluice.ingress=web sluice.service=cart/80 http.response.status_code=200",
		"0af7 client \"GET\" b7ad6b7169203331<-b7ad6b7169203330 300ms http.request.method=GET server.address=10.0.0.2 network.peer.address=10.0.0.2 server.port=80 network.peer.port=80 http.request.resend_count=1 http.response.status_code=200",
		"0af7 client \"GET\" e2<-b7ad6b7169203330 100ms http.request.method=GET server.address=10.0.0.1 network.peer.address=10.0.0.1 server.port=80 network.peer.port=80 http.response.status_code=502 error.type=502 STATUS_CODE_ERROR",
	}
	if len(got) == 3 { // the ID of a failed try is any other
		id := strings.Fields(got[2])[3]
		want[2] = strings.Replace(want[2], "e2<-b7ad6b7169203330", id, 1)
		if strings.HasPrefix(id, someSeed) || !strings.HasSuffix(id, "<-"+someSeed+"0") {
			t.Errorf("the failed try is %s", id)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpansAcrossAnErrorPage(t *testing.T) {
	t.Parallel()
	got := spansOf(t, recordOf(contextOf(nobody), `"method":"BREW","status":"404","addresses":"10.0.0.1:80 : 10.0.0.9:80","statuses":"404 : 404","times":"0.1 : 0.2"`))
	var ids []string
	for _, s := range got {
		ids = append(ids, hex.EncodeToString(s.SpanId))
	}
	if diff := cmp.Diff([]string{someSeed + "0", someSeed + "2", someSeed + "1"}, ids); diff != "" {
		t.Error(diff)
	}
	if got[0].ParentSpanId != nil || got[0].Status != nil || got[0].Name != "_OTHER /cart" {
		t.Errorf("a request of a client without a trace, with 404: %v", shown(got)[0])
	}
}

func TestAnswersOfOurOwnAreNoTries(t *testing.T) {
	t.Parallel()
	got := shown(spansOf(t, recordOf(contextOf(nobody), `"method":"GET","status":"503","addresses":"unix:/var/lib/sluice/run/503.sock","statuses":"503","times":"0.001"`)))
	if len(got) != 1 || !strings.Contains(got[0], "error.type=503 STATUS_CODE_ERROR") {
		t.Error(got)
	}
}

func TestSpanOfAQuestion(t *testing.T) {
	t.Parallel()
	got := shown(spansOf(t, recordOf(contextOf(nobody), `"question":true,"addresses":"10.0.0.1:80","statuses":"401","times":"0.1"`)))
	want := []string{`0af7 client "auth" b7ad6b716920333f<-b7ad6b7169203330 100ms server.address=10.0.0.1 network.peer.address=10.0.0.1 server.port=80 network.peer.port=80 http.response.status_code=401`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A worker writes the records, but clients choose the texts in them.
func TestHostileRecords(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{
		"bytes that are no text": `"host":"` + "\xff\xfe" + `","agent":"\u0000\n","status":"x"`,
		"long lists":             `"addresses":"` + strings.Repeat("1:1, ", 5000) + `","times":"` + strings.Repeat(" : ", 5000) + `"`,
		"times":                  `"addresses":"a, b, c, d","times":"-1, 1e300, NaN, Inf"`,
		"a state":                `"state":"a=\u0000"`,
		"a long text":            `"uri":"` + strings.Repeat("é", 5000) + `"`,
		"no end":                 `"to":-5`,
	} {
		for _, s := range spansOf(t, recordOf(contextOf(nobody), fields)) {
			if s.EndTimeUnixNano < s.StartTimeUnixNano || s.TraceState != "" || len(s.SpanId) != 8 {
				t.Errorf("%s: %v", name, s)
			}
			for _, a := range s.Attributes {
				if text := a.Value.GetStringValue(); !utf8.ValidString(text) || len(text) > longestText+3 {
					t.Errorf("%s: %s is %q", name, a.Key, text)
				}
			}
		}
		if n := len(spansOf(t, recordOf(contextOf(nobody), fields))); n > mostTries+1 {
			t.Errorf("%s: %d spans", name, n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sent(3, recordOf(contextOf(someParent), `"addresses":"a : b, c","statuses":"1","times":"0"`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, dropped := decode(data)
		if dropped < 0 {
			t.Error(dropped)
		}
		for _, r := range records {
			if spans := r.spans(); len(spans) > mostTries+1 {
				t.Errorf("%d spans", len(spans))
			}
		}
	})
}

func TestRecordsWithoutATrace(t *testing.T) {
	t.Parallel()
	for _, context := range []string{"", "00-", contextOf(nobody)[:60], strings.Replace(contextOf(nobody), "0af", "zzz", 1), strings.Replace(contextOf(nobody), someTrace, strings.Repeat("0", 32), 1)} {
		if got := spansOf(t, recordOf(context, `"method":"GET"`)); len(got) != 0 {
			t.Errorf("%q: %v", context, shown(got))
		}
	}
	if _, dropped := decode(sent(7)); dropped != 7 {
		t.Errorf("dropped: %d", dropped)
	}
}
