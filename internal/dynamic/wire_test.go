package dynamic

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

// wireCase is a case of testdata/wire.json as far as this half reads it.
type wireCase struct {
	Name   string          `json:"name"`
	Push   json.RawMessage `json:"push"`
	Status int             `json:"status"`
}

func wireCases(t *testing.T) []wireCase {
	t.Helper()
	text, err := os.ReadFile("testdata/wire.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []wireCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestWireCases compares the output of the Go half with the shared cases.
func TestWireCases(t *testing.T) {
	t.Parallel()
	for _, c := range wireCases(t) {
		if c.Push == nil {
			continue // raw text, which only the other half reads
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			var p push
			decoder := json.NewDecoder(bytes.NewReader(c.Push))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&p); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(generic(t, c.Push), generic(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func generic(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestItemsAreEncodedAsInTheCases builds the items of the first cases from the
// model.
func TestItemsAreEncodedAsInTheCases(t *testing.T) {
	t.Parallel()
	cases := wireCases(t)
	l := newLedger()
	err := l.add(model.Dynamic{
		Backends: []*model.Backend{
			{Key: "shop/web/80", Endpoints: []model.Endpoint{{Address: "::ffff:192.0.2.1", Port: 8080}, {Address: "2001:DB8:0::1", Port: 80}}},
			{Key: "default/none/http", WhenEmpty: 404},
		},
		Certificates: []*model.Certificate{{ID: "0a1b", Chain: []byte("-----BEGIN CERTIFICATE-----\n"), Key: []byte("-----BEGIN PRIVATE KEY-----\n")}},
		Names:        []model.CertificateName{{Host: "", ID: "0a1b"}, {Host: "*.shop.example", ID: "0a1b"}},
		Staples:      []*model.Staple{{ID: "0a1b", Response: []byte{0, 1, 2}, Until: 4102444800}, {ID: "0a1c", Response: []byte{0, 1, 2}, Until: 1}},
		TicketKey:    model.Secret("secret"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for number, pushed := range [][]push{
		{{Set: only(l.backends.kind, encodeAll(t, &l.backends, "shop/web/80"))}},
		{{Set: only(l.backends.kind, encodeAll(t, &l.backends, "default/none/http"))}},
		{{Set: only(l.certificates.kind, encodeAll(t, &l.certificates, "0a1b"))}, {Set: only(l.names.kind, encodeAll(t, &l.names, "", "*.shop.example"))}},
		{{Set: only(l.staples.kind, encodeAll(t, &l.staples, "0a1b", "0a1c"))}},
		{{Set: only(l.tickets.kind, encodeAll(t, &l.tickets, "current"))}},
	} {
		var want push
		if err := json.Unmarshal(cases[number].Push, &want); err != nil {
			t.Fatal(err)
		}
		var got set
		for _, p := range pushed {
			got.Backends = append(got.Backends, p.Set.Backends...)
			got.Certificates = append(got.Certificates, p.Set.Certificates...)
			got.Names = append(got.Names, p.Set.Names...)
			got.Staples = append(got.Staples, p.Set.Staples...)
			got.Tickets = append(got.Tickets, p.Set.Tickets...)
		}
		if diff := cmp.Diff(asValue(t, want.Set), asValue(t, got)); diff != "" {
			t.Errorf("%s: %s", cases[number].Name, diff)
		}
	}
}

func encodeAll(t *testing.T, l *list, keys ...string) []json.RawMessage {
	t.Helper()
	var items []json.RawMessage
	for _, key := range keys {
		text, err := l.encode(key)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, text)
	}
	return items
}

func asValue(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return generic(t, text)
}

func TestItemThatIsTooBigIsNamedAndItsContentIsNot(t *testing.T) {
	t.Parallel()
	l := newLedger()
	key := strings.Repeat("hunter2 ", maxItem/8)
	l.certificates.put("0a1b", &model.Certificate{ID: "0a1b", Key: model.Secret(key)}, nil)
	_, err := l.certificates.encode("0a1b")
	if err == nil || !strings.Contains(err.Error(), `certificates: "0a1b": want at most 8388608 bytes`) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("want an error that names the certificate only, got: %.200v", err)
	}
}
