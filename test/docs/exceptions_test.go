package docs

import (
	"fmt"
	"slices"
	"testing"

	"sluice/test/pages"
)

// noSecrets is why what needs a pod with a Secret as a volume is not run.
const noSecrets = ": the kubelet of the tests mounts no Secrets; TestWebhook of test/cluster has the API server ask Sluice"

// exceptions are the commands that are not run, by their pages, each with the
// reason that its block gives.
var exceptions = []string{
	"README.md: make test: it is what runs this",
	"README.md: ./build.sh image amd64: it fetches Debian's packages, and needs a registry",
	`README.md: skopeo copy "oci-archive:dist/sluice-$V-amd64.oci.tar" "docker://registry.example/sluice:$V": it fetches Debian's packages, and needs a registry`,
	"docs/first-ingress.md: ./build.sh image amd64: it fetches Debian's packages, and needs a registry",
	`docs/first-ingress.md: skopeo copy "oci-archive:dist/sluice-$V-amd64.oci.tar" "docker://registry.example/sluice:$V": it fetches Debian's packages, and needs a registry`,
	"docs/cert-manager.md: spec:\n  acme:\n    solvers:\n    - http01:\n        ingress:\n          ingressClassName: nginx: " +
		"it is a part of an Issuer of cert-manager, a kind that the API server of the tests does not have",
	"docs/migrating/compare.md: sluice compare --a http://192.0.2.1 --b http://192.0.2.2 --from-cluster --ignore Known: it needs the load balancers of two controllers",
	"docs/migrating/compare.md: kubectl logs -n ingress-nginx deployment/ingress-nginx-controller > access.log: it needs the load balancers of two controllers, and a log",
	"docs/migrating/compare.md: sluice compare --a http://192.0.2.1 --b http://192.0.2.2 --from-cluster --access-log access.log: it needs the load balancers of two controllers, and a log",
	"docs/image.md: ./build.sh image amd64: it fetches Debian's packages; make test-image does it",
	"docs/image.md: ls dist: it fetches Debian's packages; make test-image does it",
	"docs/image.md: docker build -f rootfs/Dockerfile -t sluice .: it needs a container engine",
	"docs/admission.md: " + `kubectl --namespace sluice create secret generic sluice-admission --from-file=cert=webhook/tls.crt --from-file=key=webhook/tls.key` + noSecrets,
	"docs/admission.md: " + `kubectl patch validatingwebhookconfiguration sluice-admission --type json \
  --patch "[{op: add, path: /webhooks/0/clientConfig/caBundle, value: $(base64 -w0 webhook/tls.crt)},
            {op: add, path: /webhooks/1/clientConfig/caBundle, value: $(base64 -w0 webhook/tls.crt)}]"` + noSecrets,
	"docs/image.md: docker load -i dist/sluice-*-amd64.oci.tar: it needs a container engine",
}

// TestExceptions: no command, and no block without commands, is left out that is not
// listed here, and none is listed that is not left out.
func TestExceptions(t *testing.T) {
	t.Parallel()
	var found []string
	for _, page := range readPages(t) {
		for _, b := range page.Blocks {
			if b.Marks.NotRun == "" {
				continue
			}
			left := b.Commands()
			if len(left) == 0 {
				left = []pages.Command{{Text: b.Text}}
			}
			for _, c := range left {
				found = append(found, fmt.Sprintf("%s: %s: %s", page.Path, c.Text, b.Marks.NotRun))
			}
		}
	}
	for _, one := range found {
		if !slices.Contains(exceptions, one) {
			t.Errorf("it is not run, and not listed here: %s", one)
		}
	}
	for _, one := range exceptions {
		if !slices.Contains(found, one) {
			t.Errorf("it is listed here, and no page has it: %s", one)
		}
	}
}
