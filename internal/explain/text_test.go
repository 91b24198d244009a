package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func textOf(t *testing.T, e *Explanation) string {
	t.Helper()
	var out bytes.Buffer
	if err := e.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Whatever is in a URL or in an Ingress, each line stays one line that prints, and
// of many candidates and endpoints only the first are printed.
func TestHostileTextIsFitToBeShown(t *testing.T) {
	t.Parallel()
	giant := strings.Repeat("x", 200_000)
	rules := []string{"shop.example / Prefix web"}
	for i := range 30 {
		rules = append(rules, fmt.Sprintf("shop.example /%d Prefix web", i))
	}
	in := inputOf(t, ingress("a", rules, `cors-allow-origin: "a\u202e\u0000\e[31m"`, "proxy-body-size: "+giant[:5000], `enable-cors: "true"`), nil)
	for i := range 1000 {
		in.Config.Dynamic.Backends[0].Endpoints = append(in.Config.Dynamic.Backends[0].Endpoints, in.Config.Dynamic.Backends[0].Endpoints[0])
		in.Config.Dynamic.Backends[0].Endpoints[i+1].Port = i + 1
	}
	in.Snapshot.Ingresses()[0].Spec.Rules[3].HTTP.Paths[0].Path = "/\n" + giant // as no API server lets pass
	in.Snapshot.Ingresses()[0].Spec.Rules[4].HTTP.Paths[0].Backend.Service.Name = "\x1b[31m\u2028"
	for _, uri := range []string{"/%0a%0d%1b[31m%e2%80%ae", "/\x1b\n\u202e", "/" + giant, "/%ff\xfe?\u2028", "/\xff"} {
		e := Explain(in, Request{Method: "GET", Scheme: "http", Host: "shop.example", URI: uri})
		encoded, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(textOf(t, e)+"\n"+string(encoded), "\n") {
			if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%.40q: this does not print: %.300q", uri, line)
			}
		}
		for text := range strings.SplitSeq(string(encoded), `"`) {
			if len(text) > 2*mostShown { // what was escaped is escaped again
				t.Errorf("%.40q: a text of %d bytes: %.300q", uri, len(text), text)
			}
		}
		for line := range strings.Lines(textOf(t, e)) {
			if len(line) > 2*mostShown+20 {
				t.Errorf("%.40q: a line of %d bytes: %.300q", uri, len(line), line)
			}
		}
	}
	e := asked(t, in, "shop.example/")
	for _, want := range []string{"\n            and 991 more\n", " more with the verdict DoesNotMatch\n", "\nProblems of Ingress shop/a:\n"} {
		if !strings.Contains(textOf(t, e), want) {
			t.Errorf("%q is not in:\n%s", want, textOf(t, e))
		}
	}
	if len(e.Applied.Backend.Endpoints) != 1001 {
		t.Errorf("JSON has %d endpoints", len(e.Applied.Backend.Endpoints))
	}
}

// A script finds every list, and never null for one.
func TestJSONHasNoNullLists(t *testing.T) {
	t.Parallel()
	in := inputOf(t, ingress("a", []string{"shop.example / Prefix web"}), nil)
	for url, nulls := range map[string]int{
		"shop.example/":     2, // denied, rewrite
		"shop.example/%zz":  2, // winner, applied
		"nobody.example/":   3, // denied, rewrite, backend
		"TRACE nobody/":     2,
		"https://nobody/?x": 3,
	} {
		encoded, err := json.Marshal(asked(t, in, url))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(string(encoded), ":null"); got != nulls {
			t.Errorf("%s: %d nulls, want %d: %s", url, got, nulls, encoded)
		}
		for _, list := range []string{"steps", "servers", "locations", "losers", "problems"} {
			if !strings.Contains(string(encoded), `"`+list+`":[`) {
				t.Errorf("%s: no list %s in %s", url, list, encoded)
			}
		}
	}
}

func TestTextOfWhatIsDenied(t *testing.T) {
	t.Parallel()
	in := inputOf(t, ingress("a", []string{"shop.example / Prefix web"}, "whitelist-source-range: x"), nil)
	got := textOf(t, asked(t, in, "shop.example//a/%2e/b?c"))
	for _, want := range []string{
		"Path:       /a/b\n            the query is cut off: //a/%2e/b\n            percent escapes are decoded, once: //a/./b\n            slashes are merged: /a/./b\n            dot segments are resolved: /a/b\n",
		"Denied:     503, until this is fixed\n            nginx.ingress.kubernetes.io/whitelist-source-range: want IP addresses",
		"HTTPS:      no redirect: the status is answered first\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
}
