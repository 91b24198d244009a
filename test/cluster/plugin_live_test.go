package cluster

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// debugHeaderSettings let the tests ask nginx for decisions.
const debugHeaderSettings = `apiVersion: v1
kind: Secret
metadata: {name: debug, namespace: NAME}
stringData: {token: 0123456789abcdef}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: NAME}
data: {debug-header-secret: NAME/debug, debug-header-cidrs: "127.0.0.1, 10.0.0.0/8"}
`

// pluginLive: nginx decides as computed, whether the controller asks it or the plugin; the
// exit status is 1 if something else answers.
func pluginLive(t *testing.T, p *pluginScene) {
	in := func(arguments ...string) []string { return append(arguments, "--namespace", p.system) }
	const as = "nginx decides as computed.\n"
	got := p.must(t, in("explain", "--live", "https://www.plugin.example/cart")...)
	for _, text := range []string{"Server:   www.plugin.example\n", "Location: = /cart\n", "Owner:    Ingress plugin/shop\n", "Backend:  plugin/web/80\n", "Endpoint: 10.244.", as} {
		if !strings.Contains(got, text) {
			t.Errorf("it says\n%s, not %q", got, text)
		}
	}
	for _, target := range []string{"http://www.plugin.example/", "http://bad.plugin.example/", "http://nobody.plugin.example/x"} {
		if got := p.must(t, in("explain", "--live", "HEAD", target)...); !strings.HasSuffix(got, as) {
			t.Errorf("%s: %s", target, got)
		}
	}
	var live struct{ Decision struct{ Backend string } }
	if err := json.Unmarshal([]byte(p.must(t, in("explain", "--live", "www.plugin.example/cart", "-o", "json")...)), &live); err != nil {
		t.Error(err)
	}

	with := p.call
	with.environment = []string{"SLUICE_DEBUG_TOKEN=0123456789abcdef"}
	address := p.get("bad.plugin.example", "/").To
	if got := with.must(t, in("explain", "--live", "http://bad.plugin.example/", "--address", address)...); !strings.HasSuffix(got, as) {
		t.Errorf("at %s: %s", address, got)
	}
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Sluice-Debug", `{"host":"bad.plugin.example","modifier":"^~","location":"/","object":"Ingress plugin/other","path":"/","status":200}`)
	}))
	t.Cleanup(stranger.Close)
	other := with.run(t, in("explain", "--live", "http://bad.plugin.example/", "--address", strings.TrimPrefix(stranger.URL, "http://"))...)
	if other.status != 1 || strings.Contains(other.errs, "error") || !strings.Contains(other.out, `object: nginx says "Ingress plugin/other", computed is "Ingress plugin/bad"`) {
		t.Errorf("another answer: %+v", other)
	}
	p.fails(t, in("explain", "--live", "www.plugin.example/", "--address", address), "in the environment variable SLUICE_DEBUG_TOKEN")
	p.fails(t, in("explain", "--live", "POST", "www.plugin.example/"), "method: want GET, HEAD or OPTIONS")
	p.fails(t, in("explain", "www.plugin.example/", "--address", address), "--address: want it with --live")
	with.environment = []string{"SLUICE_DEBUG_TOKEN=0123456789abcdeX"}
	with.fails(t, in("explain", "--live", "http://bad.plugin.example/", "--address", address), "tells no decision: want the right token")
}
