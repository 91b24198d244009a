package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/explain"
)

var update = flag.Bool("update", false, "write the texts in testdata anew")

// shopFlags are the flags by which `make run` serves the example.
var shopFlags = []string{"-f", "../../docs/examples/shop", "--configmap", "shop/sluice", "--https-port", "8443"}

// explaining runs sluice explain.
func explaining(arguments ...string) (out, diagnostics string, err error) {
	var stdout, stderr bytes.Buffer
	command := root()
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	command.SetArgs(append([]string{"explain"}, arguments...))
	err = command.Execute()
	return stdout.String(), stderr.String(), err
}

func TestExplainTheShop(t *testing.T) {
	t.Parallel()
	for name, request := range map[string][]string{
		"cart":     {"https://www.shop.example/cart/7?id=1"},
		"redirect": {"POST", "www.shop.example/health"},
		"lost":     {"green.tea.stores.example/"},
		"office":   {"admin.shop.example/office/1?x=y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, diagnostics, err := explaining(append(request, shopFlags...)...)
			if err != nil || diagnostics != "" {
				t.Fatalf("error %v, and said %q", err, diagnostics)
			}
			file := filepath.Join("testdata", "explain-"+name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
			_, below, _ := strings.Cut(got, "\n\n")
			for line := range strings.Lines(below) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func TestExplainForScripts(t *testing.T) {
	t.Parallel()
	out, _, err := explaining(append([]string{"OPTIONS", "http://www.shop.example/cart", "-o", "json"}, shopFlags...)...)
	var e explain.Explanation
	if err != nil || json.Unmarshal([]byte(out), &e) != nil {
		t.Fatalf("error %v, read:\n%s", err, out)
	}
	if e.Answer.Status != 308 || e.Winner.Object.Name != "cart" || e.Winner.Verdict != explain.Wins || !e.Applied.Behaviours[0].Answers || len(e.Losers) != 3 {
		t.Errorf("read %+v", e)
	}
}

// The outcome comes first, and alone where that is asked for.
func TestExplainLeadsWithTheOutcome(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"https://www.shop.example/cart":    "Service shop/cart:http\n",
		"http://www.shop.example/cart":     "308: https://www.shop.example:8443/cart\n",
		"api.shop.example/v1/images/seven": "404: no rule takes the path, and there is no default backend\n",
		"api.shop.example/%zz":             "400: nginx refuses the request: ",
		"admin.shop.example/office/1":      "Service shop/admin:http, unless allow-list refuses it\n",
	} {
		long, _, err := explaining(append([]string{request}, shopFlags...)...)
		short, _, shortErr := explaining(append([]string{request, "--short"}, shopFlags...)...)
		if err != nil || shortErr != nil || !strings.HasPrefix(short, want) || !strings.HasPrefix(long, short) || strings.Count(short, "\n") != 1 {
			t.Errorf("%s: %v, %v, %s", request, err, shortErr, short)
		}
	}
	if _, _, err := explaining(append([]string{"shop.example/", "--short", "-o", "json"}, shopFlags...)...); err == nil || err.Error() != "--short and -o json: want one of the two (got both)" {
		t.Error(err)
	}
}

// Headers and the query choose among canaries and matches, and a path can be refused.
func TestExplainDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want      string
		arguments []string
	}{
		{"Service shop/web:80 or its canary shop/new:80", []string{"shop.example/"}},
		{"Service shop/new:80", []string{"shop.example/", "--header", "X-Canary: always"}},
		{"Service shop/web:80", []string{"shop.example/", "--header", "x-canary:never"}},
		{"Service shop/new:80", []string{"shop.example/", "--header", "Cookie: a=b; canary=always"}},
		{"Service shop/blue:80", []string{"shop.example/?tenant=blue", "--header", "X-Canary: never"}},
		{"Service shop/green:80", []string{"shop.example/?tenant=blue", "--header", "X-Tenant: green", "--header", "User-Agent: curl"}},
		{`403: sluice.io/deny-paths: the line "/admin/*"`, []string{"shop.example/x/../%61dmin/users"}},
		{`404: sluice.io/deny-paths: the line "~ \\.git 404"`, []string{"shop.example/a/.git/config", "--header", "X-Canary: always"}},
		{"Service shop/web:80", []string{"shop.example/admins", "--header", "X-Canary: never"}},
	} {
		out, _, err := explaining(append(c.arguments, "-f", "testdata/decides.yaml", "--short")...)
		if err != nil || out != c.want+"\n" {
			t.Errorf("%v: error %v, and %s want %s", c.arguments, err, out, c.want)
		}
	}
	out, _, err := explaining("shop.example/", "--header", "X-Canary: always", "-f", "testdata/decides.yaml")
	for _, want := range []string{
		`goes to Service shop/new:80, a canary, because its header x-canary is "always", by Ingress shop/web`,
		`canary shop/new:80 gets 20 of 100 requests`,
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("error %v, want %q in:\n%s", err, want, out)
		}
	}
}

// What is answered is no error of the command, whatever it is.
func TestExplainSucceedsWhereNothingIsServed(t *testing.T) {
	t.Parallel()
	for _, request := range []string{"api.shop.example/v1/images/seven", "api.shop.example/%zz"} {
		if out, _, err := explaining(append([]string{request}, shopFlags...)...); err != nil || !strings.Contains(out, " is answered 40") {
			t.Errorf("%s: error %v, and:\n%s", request, err, out)
		}
	}
}

func TestExplainSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, arguments := range map[string][]string{
		"want a URL": {"-f", "x"},
		`METHOD: want it in capitals, such as GET (got "get")`:                        {"get", "shop.example/", "-f", "x"},
		`URL: want http://host/path, https://host/path or host/path (got "ftp://x/")`: {"ftp://x/", "-f", "x"},
		"-f: want a folder, a file or - (got nothing)":                                {"shop.example/"},
		`--header: want "NAME: VALUE" (got "x-canary")`:                               {"shop.example/", "-f", "x", "--header", "x-canary"},
		`--header: want no Host, which the URL has (got "host: a")`:                   {"shop.example/", "-f", "x", "--header", "host: a"},
		`--header: want a value without control characters (got "a: b\r\nc")`:         {"shop.example/", "-f", "x", "--header", "a: b\r\nc"},
		`-o: want text or json (got "yaml")`:                                          {"shop.example/", "-f", "x", "-o", "yaml"},
		"--https-port: want a port from 1 to 65535 (got 0)":                           {"shop.example/", "-f", "x", "--https-port", "0"},
		`--configmap: want NAMESPACE/NAME (got "conf")`:                               {"shop.example/", "-f", "x", "--configmap", "conf"},
		"no such file or directory":                                                   {"shop.example/", "-f", "testdata/nothing-here"},
	} {
		if out, _, err := explaining(arguments...); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%v: got %v, want %s", arguments, err, want)
		}
	}
}

// Of manifests that cannot be read as a whole, what can be read is explained.
func TestExplainUsesWhatItCanRead(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"good.yaml": manifests, "bad.yaml": "kind: Ingress\nspec: ["} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, diagnostics, err := explaining("shop.example/cart/1", "-f", folder)
	if err == nil || err.Error() != "1 error in the manifests" || !strings.Contains(diagnostics, "bad.yaml") {
		t.Errorf("error %v, and said %q", err, diagnostics)
	}
	want := "503: Service shop/web does not exist: 503 is answered\nGET http://shop.example/cart/1 is answered 503 by Ingress shop/web, spec.rules[0].http.paths[0] (Prefix /cart): Service shop/web does not exist: 503 is answered\n"
	if !strings.HasPrefix(out, want) {
		t.Errorf("want %q in:\n%s", want, out)
	}
}
