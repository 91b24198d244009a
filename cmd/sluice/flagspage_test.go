package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"sluice/test/markdown"
)

const flagsPagePath = "../../docs/reference/flags.md"

// TestFlagsPage: docs/reference/flags.md is what the code says.
func TestFlagsPage(t *testing.T) {
	t.Parallel()
	want := flagsPage()
	if *update {
		if err := os.WriteFile(flagsPagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(flagsPagePath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("docs/reference/flags.md is not what the code says; `make golden` writes it (-code +page):\n%s", diff)
	}
}

const flagsIntroduction = `# Flags

These are the flags of ` + "`sluice run`" + `, and those of ` + "`/nginx-ingress-controller`" + ` in the image, which is ` + "`sluice run`" + ` with the flags of ingress-nginx. ` + "`make golden`" + ` writes this page from the code.

## Of sluice run

` + "`/nginx-ingress-controller`" + ` has these flags too.

`

const flagsOfIngressNginx = `
## Of /nginx-ingress-controller

A Deployment of ingress-nginx keeps its arguments: Sluice accepts all flags of ingress-nginx. Under this name

- the health check (` + "`--health-check-path`" + `), which ingress-nginx's Deployments use for liveness and readiness, fails until a worker serves the first configuration, and again from SIGTERM on. ` + "`/readyz`" + ` exists as well.
- open requests have as long as the ConfigMap's ` + "`worker-shutdown-timeout`" + ` when the pod stops. After the end of nginx, the process waits for ` + "`/wait-shutdown`" + ` to see that, at most for ` + "`--post-shutdown-grace-period`" + `.
- values of ` + "`--status-update-interval`" + ` and ` + "`--election-ttl`" + ` that are too small become the smallest valid values.

These flags differ from ` + "`sluice run`" + `:

`

const flagsWithoutEffect = `
## Without effect

` + "`/nginx-ingress-controller`" + ` accepts these flags of ingress-nginx without effect. At the start, Sluice logs those that were given, as a warning if you may miss their effect.

| flag | why it has no effect |
|---|---|
`

func flagsPage() string {
	var page strings.Builder
	page.WriteString(flagsIntroduction)
	of := runCommand().Flags()
	writeFlags(&page, of, func(f *pflag.Flag) bool { _, is := inertNamed(f.Name); return !is })
	page.WriteString(flagsOfIngressNginx)
	writeFlags(&page, ingressNginxCommand().Flags(), func(f *pflag.Flag) bool {
		same := of.Lookup(f.Name)
		return !f.Hidden && (same == nil || same.Usage != f.Usage || same.DefValue != f.DefValue)
	})
	page.WriteString(flagsWithoutEffect)
	for _, i := range inerts {
		fmt.Fprintf(&page, "| `--%s` | %s |\n", i.name, i.reason)
	}
	return markdown.Wrap(page.String())
}

// writeFlags writes a table of those flags that are wanted.
func writeFlags(page *strings.Builder, of *pflag.FlagSet, wanted func(*pflag.Flag) bool) {
	page.WriteString("| flag | default | meaning |\n|---|---|---|\n")
	of.VisitAll(func(f *pflag.Flag) {
		if !wanted(f) {
			return
		}
		value := strings.Trim(f.DefValue, "[]")
		if f.Name == "state-dir" {
			value = "" // it depends on the environment
		}
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(page, "| `--%s` | %s | %s |\n", f.Name, value, strings.ReplaceAll(f.Usage, "|", `\|`))
	})
}
