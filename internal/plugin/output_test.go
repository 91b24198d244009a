package plugin

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sluice/internal/debugapi"
)

// hostile is what nobody should find on a terminal.
const hostile = "a\x1b[2Jb\x07c\u202ed\u009be\x00"

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	rows := table{heading: []string{"NAME", "N", "MORE"}, wide: 1, rows: [][]cell{cells("ä", "1", "x"), cells(hostile, "22", "y")}}
	if err := (output{Writer: &out, format: asTable}).table(rows); err != nil {
		t.Fatal(err)
	}
	want := "NAME                             N\n" +
		"ä                                1\n" +
		`a\x1b[2Jb\ac\u202ed\u009be\x00   22` + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	if err := (output{Writer: &out, format: asWide}).table(rows); err != nil || !strings.Contains(out.String(), "MORE") {
		t.Errorf("wide: %v\n%s", err, out.String())
	}
}

// TestFailingEndpoints come first, with the reason, and are not counted as ready.
func TestFailingEndpoints(t *testing.T) {
	t.Parallel()
	at := func(address string) debugapi.Endpoint { return debugapi.Endpoint{Address: address, Port: 8080} }
	failing := []debugapi.Failing{{Endpoint: at("10.0.0.5"), Reason: "status 503"}}
	backend := debugapi.Backend{Key: "shop/web/80~1", Name: "shop-web-80", Namespace: "shop", Service: "web", Port: "80",
		Endpoints: []debugapi.Endpoint{at("10.0.0.6"), at("10.0.0.7"), at("10.0.0.8")}, Failing: failing}
	none := backend
	none.Endpoints = []debugapi.Endpoint{at("10.0.0.5")}
	var out bytes.Buffer
	if err := printBackends(output{Writer: &out, format: asTable}, []debugapi.Backend{backend, none}); err != nil {
		t.Fatal(err)
	}
	want := "NAME          SERVICE    PORT   READY   ENDPOINTS\n" +
		"shop-web-80   shop/web   80     3/4     10.0.0.5:8080 (status 503),10.0.0.6:8080,10.0.0.7:8080,+ 1 more\n" +
		"shop-web-80   shop/web   80     0/1     10.0.0.5:8080 (status 503)\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestTableIsAligned: each column begins below its heading, with and without
// colours.
func TestTableIsAligned(t *testing.T) {
	t.Parallel()
	for _, colours := range []bool{false, true} {
		var out bytes.Buffer
		rows := table{heading: []string{"NAME", "STATE", "LAST"}, rows: [][]cell{{{"ü", red}, {"s", green}, {"z1", plain}}, {{"longer", plain}, {"", red}, {"z2", plain}}}}
		if err := (output{Writer: &out, colours: colours}).table(rows); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b["); got != colours {
			t.Errorf("colours=%t: %q", colours, out.String())
		}
		text := out.String()
		for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m"} {
			text = strings.ReplaceAll(text, code, "")
		}
		if want := "NAME     STATE   LAST\nü        s       z1\nlonger           z2\n"; text != want {
			t.Errorf("colours=%t: got\n%swant\n%s", colours, text, want)
		}
	}
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	text := "fine ünï\n\ttab " + hostile + "\xff\r\n"
	n, err := harmless{&out}.Write([]byte(text))
	if err != nil || n != len(text) {
		t.Errorf("it took %d of %d: %v", n, len(text), err)
	}
	const want = "fine ünï\n\ttab a\\x1b[2Jb\\ac\\u202ed\\u009be\\x00\\xff\\r\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestErrorsAreHarmless: an error may hold what a server or a user wrote.
func TestErrorsAreHarmless(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &errs, ErrOut: &errs}
	if status := Main("1", streams, []string{"routes", hostile}); status != 2 {
		t.Errorf("the status is %d", status)
	}
	if strings.ContainsAny(errs.String(), "\x1b\x07\u202e\u009b\x00") || !strings.HasPrefix(errs.String(), "error: kubectl sluice routes takes no arguments") {
		t.Errorf("the error is %q", errs.String())
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	f := format{chosen: asTable, valid: []string{asTable, asJSON, asYAML}}
	if err := f.Set("yaml"); err != nil || f.String() != "yaml" {
		t.Errorf("yaml: %v, %s", err, f.String())
	}
	if err := f.Set("xml"); err == nil || err.Error() != `want table, json or yaml (got "xml")` || f.String() != "yaml" {
		t.Errorf("xml: %v, %s", err, f.String())
	}
}

// TestDocumentKeepsWhatIsNew: a controller of a newer version says more than this
// plugin knows.
func TestDocumentKeepsWhatIsNew(t *testing.T) {
	t.Parallel()
	body := []byte(`[{"host":"a","new":{"x":[1,2]}}]`)
	for kind, want := range map[string]string{
		asJSON: "[\n  {\n    \"host\": \"a\",\n    \"new\": {\n      \"x\": [\n        1,\n        2\n      ]\n    }\n  }\n]\n",
		asYAML: "- host: a\n  new:\n    x:\n    - 1\n    - 2\n",
	} {
		var out bytes.Buffer
		if err := printed(output{Writer: &out, format: kind}, body, printRoutes); err != nil || out.String() != want {
			t.Errorf("%s: %v, %q", kind, err, out.String())
		}
	}
	if err := printed(output{Writer: &bytes.Buffer{}, format: asTable}, []byte("no json"), printRoutes); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("of what is no JSON: %v", err)
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 3 * time.Hour: "3h", 47 * time.Hour: "47h", 48 * time.Hour: "2d",
	} {
		if got := ago(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

// TestLeft: what expires soon, has expired, or is not valid yet stands out.
func TestLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, test := range []struct {
		from, to time.Duration
		want     cell
	}{
		{-day, 90 * day, cell{"90d", green}}, {-day, 13 * day, cell{"13d", yellow}}, {-day, 0, cell{"expired", red}}, {day, 90 * day, cell{"not yet valid", red}},
	} {
		if got := left(debugapi.Certificate{NotBefore: now.Add(test.from), NotAfter: now.Add(test.to)}, now); got != test.want {
			t.Errorf("from %s to %s: %v, want %v", test.from, test.to, got, test.want)
		}
	}
}

// TestGeneral shows a controller that is not well.
func TestGeneral(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	body := []byte(`{"version":"1.2.3","nginx":{"version":"1.26.3","capabilities":[],"answers":false,"error":"refused\u001b[2J"},"ready":false,"missing":"no endpoints",
		"lastApply":{"at":"2026-03-01T11:00:00Z","seconds":0.5,"reloaded":true,"hash":"ab","error":"nginx says no"},"confHash":"cd","counts":{"problems":2},
		"settings":[{"key":"a","value":"1","default":""},{"key":"b","value":"2","default":"3"}],"leader":{"leads":false,"identity":"other"}}`)
	print := func(o output, g debugapi.General) error {
		return printGeneral(o, g, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	}
	if err := printed(output{Writer: &out, format: asText}, body, print); err != nil {
		t.Fatal(err)
	}
	const want = `Version:       1.2.3
Ready:         no: no endpoints
nginx:         1.26.3, does not answer: refused\x1b[2J
Can do:        -
Last apply:    failed 60m ago: nginx says no
nginx.conf:    cd
Serves:        0 Ingresses, 0 servers, 0 locations, 0 backends, 0 certificates
Problems:      2
Leader:        other
Settings:      a: 1 (default -)
               b: 2 (default 3)
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
