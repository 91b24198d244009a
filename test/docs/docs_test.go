package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/test/cluster"
	"sluice/test/kit"
	"sluice/test/pages"
)

// root is that of the checkout.
const root = "../.."

// With -trimpath, what is built here is what `go build` in a page builds.
func TestMain(m *testing.M) { cluster.Main(m, "-trimpath") }

// readPages reads all pages, which have to be such that they can be held to
// something.
func readPages(t *testing.T) []*pages.Page {
	t.Helper()
	paths, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	var read []*pages.Page
	for _, path := range paths {
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		page, faults := pages.Parse(path, string(content))
		for _, f := range faults {
			t.Error(f)
		}
		read = append(read, page)
	}
	return read
}

// TestPages does what each page says.
func TestPages(t *testing.T) {
	tools := prepareTools(t)
	writers, err := tools.In(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	manifests := &Manifests{Folder: t.TempDir(), Tools: writers, Chart: filepath.Join(root, "charts", "sluice")}
	checkout := filepath.Join(kit.StateDir(t), "sluice")
	if err := errors.Join(os.Mkdir(checkout, 0o755), NewCheckout(root, checkout)); err != nil {
		t.Fatal(err)
	}
	for _, page := range readPages(t) {
		if generated(page) || len(page.Blocks) == 0 {
			continue
		}
		t.Run(page.Path, func(t *testing.T) {
			r := newRunner(t, page, checkout, tools)
			if uses(page, "yaml") && manifests.Cluster == nil {
				manifests.Cluster = cluster.Shared(t)
				manifests.Tools.Environment = append(writers.Environment, "KUBECONFIG="+manifests.Cluster.Kubeconfig(t, "writer", "system:masters"))
			}
			r.Manifests = manifests.Check
			for _, f := range r.Run() {
				t.Error(f)
			}
		})
	}
}

// newRunner gives a page what a reader has: a copy of a checkout that NewCheckout made, a home, a
// shell, and a cluster if it uses one.
func newRunner(t *testing.T, page *pages.Page, from string, tools Tools) *Runner {
	t.Helper()
	// Its path is short, for the unix sockets below the home.
	folder := kit.StateDir(t)
	checkout, home, notes := filepath.Join(folder, "sluice"), filepath.Join(folder, "home"), filepath.Join(folder, "notes")
	for _, one := range []string{checkout, home, notes} {
		if err := os.Mkdir(one, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyFolder(from, checkout, nil); err != nil {
		t.Fatal(err)
	}
	tools, err := tools.In(home)
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Page: page, Folder: checkout}
	if usesCluster(page) {
		giveCluster(t, r, home)
	}
	if r.Shell, err = StartShell(checkout, notes, tools.Environment); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Shell.Close)
	if commands, there := standIns[page.Path]; there {
		standIn(t, r, commands)
	}
	return r
}

// standIns are the commands that make what the readers of a page have before they
// read it.
var standIns = map[string]string{"docs/migrating/README.md": ingressNginx}

// ingressNginx makes a stand-in of ingress-nginx: a second Sluice, in the namespace of
// an ingress-nginx, with its names, and with a folder at the name of its chart.
const ingressNginx = `
mkdir ingress-nginx && cp -r charts/sluice ingress-nginx/ingress-nginx
helm install ingress-nginx ingress-nginx/ingress-nginx --namespace ingress-nginx --create-namespace \
  --set nameOverride=ingress-nginx --set fullnameOverride=ingress-nginx --set controller.image.repository=registry.example/sluice --set controller.image.tag=0.1.0
kubectl --namespace ingress-nginx rollout status deployment/ingress-nginx-controller
kubectl create deployment web --image=registry.example/agnhost --port=3000 -- /agnhost netexec --http-port=3000
kubectl expose deployment web --port=80 --target-port=3000
kubectl rollout status deployment/web
kubectl create ingress web --class=nginx --rule="web.example/*=web:80"
`

// standIn runs such commands as a block of the page before its first line.
func standIn(t *testing.T, r *Runner, commands string) {
	t.Helper()
	if err := r.block(pages.Block{Language: "sh", Text: strings.TrimSpace(commands)}); err != nil || len(r.faults) > 0 {
		t.Fatalf("the stand-in: %v %v", err, r.faults)
	}
}

// balancedByName is the page whose cluster has a load balancer with a name, as on
// AWS. Those of the others have addresses.
const balancedByName = "README.md"

// onPort8443 are the pages that run a Sluice beside that of the cluster, which listens on the port of
// the admission webhook.
var onPort8443 = []string{"README.md", "docs/cluster.md"}

// giveCluster makes a new cluster the one of the reader's kubeconfig.
func giveCluster(t *testing.T, r *Runner, home string) {
	t.Helper()
	c := cluster.Start(t)
	content, err := os.ReadFile(c.Kubeconfig(t, "reader", "system:masters"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, ".kube", "config")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	controllers := NewControllers(c)
	controllers.Unasked = slices.Contains(onPort8443, r.Page.Path)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	NewBalancers(ctx, controllers, r.Page.Path == balancedByName)
	r.After = func() { controllers.Follow(t) }
}

// prepareTools builds what is of this checkout, and finds what is not.
func prepareTools(t *testing.T) Tools {
	t.Helper()
	clients, err := FindClients(root)
	if err != nil {
		t.Fatal(err)
	}
	plugin, err := kit.BuildPlugin(cluster.SluicePath(), "-trimpath")
	if err != nil {
		t.Fatal(err)
	}
	return Tools{Path: []string{filepath.Dir(plugin), clients}}
}

// generated says whether a page is written by test/reference, from cases that are
// run there; see TestReferenceExamples.
func generated(page *pages.Page) bool { return strings.HasPrefix(page.Path, "docs/reference/") }

func uses(page *pages.Page, language string) bool {
	for _, b := range page.Blocks {
		if b.Language == language {
			return true
		}
	}
	return false
}

// asksCluster matches commands that need one.
var asksCluster = regexp.MustCompile(`\b(kubectl|helm (install|upgrade)|kubeconfig)\b`)

func usesCluster(page *pages.Page) bool {
	for _, b := range page.Blocks {
		for _, c := range b.Commands() {
			if b.Marks.NotRun == "" && asksCluster.MatchString(c.Text) {
				return true
			}
		}
	}
	return false
}

// TestReferenceExamples: the API server and Sluice take each example of the
// reference.
func TestReferenceExamples(t *testing.T) {
	tools := prepareTools(t)
	c := cluster.Shared(t)
	tools, err := tools.In(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools.Environment = append(tools.Environment, "KUBECONFIG="+c.Kubeconfig(t, "writer", "system:masters"))
	var all []string
	for _, page := range readPages(t) {
		kind := map[string]string{"docs/reference/annotations.md": "annotations", "docs/reference/configmap.md": "settings"}[page.Path]
		for _, b := range page.Blocks {
			if kind == "" || b.Language != "yaml" {
				continue
			}
			b.Marks.PartOf = kind
			text, err := whole(b)
			if err != nil {
				t.Errorf("%s:%d: %v", page.Path, b.Line, err)
			}
			all = append(all, strings.Replace(text, "name: part", fmt.Sprintf("name: part-%d", len(all)), 1))
		}
	}
	if len(all) < 100 {
		t.Fatalf("only %d examples were found", len(all))
	}
	path := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(all, "---\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"kubectl", "apply", "--dry-run=server", "--validate=strict", "--server-side", "-f", path},
		{"sluice", "render", "-f", path},
	} {
		if _, err := tools.Run(command[0], command[1:]...); err != nil {
			t.Error(err)
		}
	}
}
