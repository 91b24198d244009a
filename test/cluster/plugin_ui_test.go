package cluster

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// pluginUI: the page gets its answers from the pod, through the API server and kubectl exec. That
// it works in a browser is for test/browser.
func pluginUI(t *testing.T, p *pluginScene) {
	page := p.serveUI(t, "--namespace", p.system)
	for path, want := range map[string][]string{
		"":                                     {"<!doctype html>", `src="page.js"`},
		"table/general":                        {p.system + "/" + p.pods[0].Name, "1.2"},
		"table/routes?search=" + p.host():      {p.host(), "/cart", "https://" + p.host() + "/cart"},
		"table/problems?search=" + p.name:      {"Ingress " + p.name + "/bad", "proxy-connect-timeout"},
		"table/certificates":                   {p.host(), "(default)"},
		"table/backends":                       {p.name + "-web-80"},
		"table/reloads":                        {"start", "loaded"},
		"conf?search=" + p.name + "/shop+cors": {"Ingress " + p.name + "/shop cors"},
		"explain?url=" + url.QueryEscape("https://"+p.host()+"/cart"): {"Ingress " + p.name + "/shop", "Exact /cart"},
	} {
		status, body := page.get(t, path)
		for _, text := range want {
			if status != http.StatusOK || !strings.Contains(body, text) {
				t.Errorf("%s: %d, without %q: %s", path, status, text, body)
			}
		}
	}
	if status, body := page.get(t, "table/rates"); status != http.StatusOK || strings.Contains(body, `"error"`) {
		t.Errorf("rates: %d %s", status, body)
	}
	var explained struct{ Error string }
	if _, body := page.get(t, "explain?url=x%20y"); json.Unmarshal([]byte(body), &explained) != nil || !strings.Contains(explained.Error, "url: want http://host/path") {
		t.Errorf("a URL that is none: %s", body)
	}
	page.interrupted(t)
	if _, err := http.Get(page.address); err == nil {
		t.Error("after Ctrl-C it goes on to serve")
	}
	p.fails(t, []string{"ui", "--namespace", p.system, "--pod", "nobody"}, "nobody")
	p.misused(t, []string{"ui", "--port", "70000"}, "--port")
}

// uiPage is the page of a plugin.
type uiPage struct {
	*watching
	address string
}

// serveUI starts the plugin and takes the address that it prints.
func (v call) serveUI(t *testing.T, flags ...string) *uiPage {
	t.Helper()
	w := v.watch(t, append([]string{"ui"}, flags...)...)
	return &uiPage{w, w.next(t, "http://127.0.0.1:")}
}

func (u *uiPage) get(t *testing.T, path string) (status int, body string) {
	t.Helper()
	response, err := http.Get(u.address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
