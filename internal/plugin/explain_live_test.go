package plugin

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/internal/debugapi"
)

// TestLiveIsShown: what nginx decided, and how it differs.
func TestLiveIsShown(t *testing.T) {
	t.Parallel()
	live := debugapi.Live{
		Request: "GET https://shop.example/a", Summary: "it goes to Service shop/web:80",
		Decision: debugapi.Decision{Host: "shop.example", Modifier: "^~", Location: "/a/", Object: "Ingress shop/web", Path: "/a", URI: "/b", Backend: "shop/web/80", Endpoint: "10.0.0.1:80", UpstreamStatus: "200", Status: 200, Seconds: 0.0123},
	}
	const decided = `GET https://shop.example/a: status 200 after 0.012 s
  Server:   shop.example
  Location: ^~ /a/
  Owner:    Ingress shop/web
  Path:     /a
  URI:      /b
  Backend:  shop/web/80
  Endpoint: 10.0.0.1:80, status 200

Computed: it goes to Service shop/web:80
`
	show := func() string {
		var out bytes.Buffer
		if err := printLive(output{Writer: &out, format: asText}, live); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got, want := show(), decided+"nginx decides as computed.\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	live.Differences, live.Notes = []debugapi.Difference{{Of: "uri", Decided: "/b", Computed: "/c"}}, []string{"cors answers it"}
	if got, want := show(), decided+"Not compared: cors answers it\nnginx decides otherwise than computed:\n  uri: nginx says \"/b\", computed is \"/c\"\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestDecisionAtAnAddress: the request is sent as written, with the token.
func TestDecisionAtAnAddress(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r.Method + " " + r.Host + r.RequestURI; r.Header.Get(debugapi.DecisionHeader) == "secret" {
			w.Header().Set(debugapi.DecisionHeader, "{}")
		}
	}))
	t.Cleanup(server.Close)
	at := strings.TrimPrefix(server.URL, "http://")
	if _, err := decisionAt(t.Context(), at, "GET", "shop.example/"); err == nil || !strings.Contains(err.Error(), "in the environment variable SLUICE_DEBUG_TOKEN") {
		t.Error(err)
	}
	t.Setenv(tokenVariable, "secret")
	for target, want := range map[string]string{
		"shop.example": "shop.example/", "http://shop.example/a%20b/../c?d#e": "shop.example/a%20b/../c?d", "shop.example:8080?q": "shop.example:8080/?q", "http://shop.example//x": "shop.examplehttp://shop.example//x",
	} {
		if decision, err := decisionAt(t.Context(), at, "HEAD", target); err != nil || decision != "{}" || asked != "HEAD "+want {
			t.Errorf("%s: %q, %v, asked %q, want %q", target, decision, err, asked, want)
		}
	}
	if request, err := liveRequest(t.Context(), "GET", "http://shop.example/a%zz"); err != nil || request.URL.Opaque != "/a%zz" {
		t.Errorf("what nginx refuses is sent, too: %+v, %v", request, err)
	}
	t.Setenv(tokenVariable, "wrong")
	if _, err := decisionAt(t.Context(), at, "GET", "shop.example/"); err == nil || !strings.Contains(err.Error(), "with status 200 tells no decision: want the right token") {
		t.Error(err)
	}
	if _, err := decisionAt(t.Context(), at, "GET", "ftp://shop.example/"); err == nil || !strings.Contains(err.Error(), "want http://host/path") {
		t.Error(err)
	}
}

// TestLiveChangesNothing: another method is refused before anybody is asked.
func TestLiveChangesNothing(t *testing.T) {
	t.Setenv(tokenVariable, "secret")
	for _, method := range []string{"DELETE", "POST", "get"} {
		err := (&view{}).live(method, "http://shop.example/cart/7", "127.0.0.1:1")
		if err == nil || !strings.Contains(err.Error(), `method: want GET, HEAD or OPTIONS, which change nothing (got "`+method+`")`) {
			t.Errorf("%s: %v", method, err)
		}
	}
}
