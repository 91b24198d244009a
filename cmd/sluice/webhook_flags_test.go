package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestWebhookFlags: a webhook wants either files or a Secret with a Service.
func TestWebhookFlags(t *testing.T) {
	t.Parallel()
	const on = "--validating-webhook=:8443 "
	for line, want := range map[string]string{
		"":                                "",
		"--validating-webhook-secret=a/b": "", // without a webhook nothing of it counts
		on:                                "--validating-webhook: want --validating-webhook-secret",
		on + "--validating-webhook-certificate=a --validating-webhook-key=b":                                         "",
		on + "--validating-webhook-certificate=a":                                                                    "--validating-webhook: want",
		on + "--validating-webhook-certificate=a --validating-webhook-key=b --validating-webhook-configuration=x":    "--validating-webhook-configuration: want --validating-webhook-secret",
		on + "--validating-webhook-secret=a/b --validating-webhook-service=a/c":                                      "",
		on + "--validating-webhook-secret=a/b --validating-webhook-service=a/c --validating-webhook-configuration=d": "",
		on + "--validating-webhook-secret=b --validating-webhook-service=a/c":                                        "--validating-webhook-secret: want namespace/name",
		on + "--validating-webhook-secret=a/b":                                                                       "--validating-webhook-service: want namespace/name",
		on + "--validating-webhook-secret=a/b --validating-webhook-service=a/c --validating-webhook-key=b":           "want no --validating-webhook-certificate",
		"--validating-webhook=8443 --validating-webhook-secret=a/b --validating-webhook-service=a/c":                 "--validating-webhook: want HOST:PORT",
		on + "--validating-webhook-secret=a/b --validating-webhook-service=a/c --validating-webhook-mode=maybe":      "--validating-webhook-mode: want",
	} {
		var f webhookFlags
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.add(flags)
		if err := flags.Parse(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
		err := f.validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
