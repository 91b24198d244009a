package plugin

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sluice/test/program"
)

// TestMigratePassesFlagsOn: sluice migrate gets the flags as they are given, and no others.
func TestMigratePassesFlagsOn(t *testing.T) {
	t.Parallel()
	sluice := filepath.Join(t.TempDir(), "sluice")
	program.Write(t, sluice, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
	for given, want := range map[string]string{
		"": "",
		"--configmap edge/settings --controller-class example.com/edge --annotations-prefix edge.example.com": "--annotations-prefix=edge.example.com --configmap=edge/settings --controller-class=example.com/edge",
		"--ingress-class one,two --ingress-class-by-name --watch-ingress-without-class":                       "--ingress-class=one --ingress-class=two --ingress-class-by-name=true --watch-ingress-without-class=true",
		"--watch-namespace shop --watch-namespace-selector team=web --default-backend-service edge/errors":    "--default-backend-service=edge/errors --watch-namespace=shop --watch-namespace-selector=team=web",
		"--tcp-services-configmap edge/tcp --udp-services-configmap edge/udp --allow-empty":                   "--allow-empty=true --tcp-services-configmap=edge/tcp --udp-services-configmap=edge/udp",
		"-f one -f two --values three -o json --fail-on 503":                                                  "--fail-on=503 --filename=one --filename=two --output=json --values=three",
		"--context production -n shop": "--context=production --namespace=shop",
	} {
		var out, errs bytes.Buffer
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs}
		status := Main("test", streams, append([]string{"migrate", "--sluice", sluice}, strings.Fields(given)...))
		if got, want := strings.Join(strings.Fields(out.String()), " "), strings.TrimSpace("migrate --from-cluster "+want); status != 0 || got != want {
			t.Errorf("%s: status %d\ngot  %s\nwant %s\n%s", given, status, got, want, &errs)
		}
	}
}
