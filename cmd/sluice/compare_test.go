package main

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/compare"
)

func TestAddressesOfControllers(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]compare.Addresses{
		"http://192.0.2.1":       {HTTP: "192.0.2.1:80", HTTPS: "192.0.2.1:443"},
		"https://lb.example/":    {HTTP: "lb.example:80", HTTPS: "lb.example:443"},
		"192.0.2.1":              {HTTP: "192.0.2.1:80", HTTPS: "192.0.2.1:443"},
		"http://[2001:db8::1]":   {HTTP: "[2001:db8::1]:80", HTTPS: "[2001:db8::1]:443"},
		"http://127.0.0.1:8080":  {HTTP: "127.0.0.1:8080"},
		"https://127.0.0.1:8443": {HTTPS: "127.0.0.1:8443"},
		"127.0.0.1:8080":         {HTTP: "127.0.0.1:8080"},
	} {
		if got, err := addressesOf("a", given); err != nil || got != want {
			t.Errorf("%s: got %v, %v", given, got, err)
		}
	}
	for _, wrong := range []string{"", "ftp://x", "http://", "http://x/path", "http://x?y", "http://u:p@x", "http://x:0", "http://x:99999", "http://x:y"} {
		if got, err := addressesOf("a", wrong); err == nil {
			t.Errorf("%q: got %v", wrong, got)
		}
	}
}

func TestCompareRefusesWrongCommandLines(t *testing.T) {
	t.Parallel()
	controllers := []string{"--a", "http://127.0.0.1:1", "--b", "http://127.0.0.1:2"}
	services := manifestsOf(t, "service")
	for want, arguments := range map[string][]string{
		"want Ingresses with -f or --from-cluster, or requests with --access-log":         controllers,
		"--a: want http://HOST[:PORT]":                                                    {"-f", "."},
		"--b: want http://HOST[:PORT]":                                                    {"-f", ".", "--a", "http://x"},
		"--a-https: want HOST:PORT":                                                       slices.Concat(controllers, []string{"-f", ".", "--a-https", "x"}),
		"--a and --b: want addresses of both for the same scheme":                         {"-f", ".", "--a", "http://x:1", "--b", "https://x:2"},
		"-f and --from-cluster: want one of the two":                                      slices.Concat(controllers, []string{"-f", ".", "--from-cluster"}),
		"--kubeconfig and --context: want --from-cluster, too":                            slices.Concat(controllers, []string{"-f", ".", "--context", "x"}),
		"--access-log-fields and --access-log-host: want --access-log, too":               slices.Concat(controllers, []string{"-f", ".", "--access-log-host", "x"}),
		"no Ingress is among the manifests: name others, or allow it with --allow-empty":  slices.Concat(controllers, []string{"-f", services}),
		"no Ingress among the manifests is of a class and namespace that are served":      slices.Concat(controllers, []string{"-f", manifestsOf(t, "service nobody")}),
		"--a: dial tcp 127.0.0.1:1":                                                       slices.Concat(controllers, []string{"-f", services, "--allow-empty"}),
		"--access-log-fields: want FIELD=NAME":                                            slices.Concat(controllers, []string{"--access-log", "x", "--access-log-fields", "path=x"}),
		"--rate: want a number above 0 (got 0)":                                           slices.Concat(controllers, []string{"-f", ".", "--rate", "0"}),
		"--rate: want a number above 0 (got NaN)":                                         slices.Concat(controllers, []string{"-f", ".", "--rate", "NaN"}),
		"--concurrency: want a number from 1 to 1000 (got 0)":                             slices.Concat(controllers, []string{"-f", ".", "--concurrency", "0"}),
		"--tries: want a number from 2 to 100 (got 1)":                                    slices.Concat(controllers, []string{"-f", ".", "--tries", "1"}),
		"--timeout: want more than 0":                                                     slices.Concat(controllers, []string{"-f", ".", "--timeout", "0"}),
		"--limit: want 0 or more (got -1)":                                                slices.Concat(controllers, []string{"-f", ".", "--limit", "-1"}),
		"--schemes: want http and https (got \"h2\")":                                     slices.Concat(controllers, []string{"-f", ".", "--schemes", "h2"}),
		"--methods: want methods such as GET, but not CONNECT (got \"G T\")":              slices.Concat(controllers, []string{"-f", ".", "--methods", "G T"}),
		"--ignore: want Header:NAME, Cookie:NAME, or one of":                              slices.Concat(controllers, []string{"-f", ".", "--ignore", "Body:x"}),
		"-o: want text or json (got \"yaml\")":                                            slices.Concat(controllers, []string{"-f", ".", "-o", "yaml"}),
		"want flags alone (got \"http://x\"): the controllers are given with --a and --b": slices.Concat(controllers, []string{"http://x"}),
	} {
		var out, diagnostics strings.Builder
		command := root()
		command.SetArgs(append([]string{"compare"}, arguments...))
		command.SetOut(&out)
		command.SetErr(&diagnostics)
		command.SetFlagErrorFunc(flagError)
		if status := carryOut(command, &diagnostics); status != usageStatus || !strings.Contains(diagnostics.String(), want) {
			t.Errorf("%v: status %d, %s", arguments, status, &diagnostics)
		}
	}
}
