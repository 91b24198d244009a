package install

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"sluice/test/chart/rendering"
	"sluice/test/cluster"
)

// TestOldValuesServe: the values of five kinds of installations of ingress-nginx
// serve an Ingress of their class. Their sets in testdata/sets show what the chart
// makes of them, and what its notes say.
func TestOldValuesServe(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a process a network and a file system of its own")
	}
	c := cluster.Shared(t)
	c.ApplyYAML(t, kinds)
	awaitKinds(t, c)
	files, err := filepath.Glob("../testdata/sets/old-*.txtar")
	if err != nil || len(files) != 6 {
		t.Fatalf("the sets are %q, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			set, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			serveOld(t, c, name, string(set.Files[0].Data))
		})
	}
}

// serveOld installs the chart with old values in a namespace, and asks its pod.
func serveOld(t *testing.T, c *cluster.Cluster, namespace, values string) {
	t.Helper()
	release := rendering.Default()
	release.Namespace = namespace
	r, err := release.Render(values)
	if err != nil {
		t.Fatal(err)
	}
	c.Apply(t, cluster.Namespace(namespace))
	// The API server does not reach the network of the container.
	c.ApplyYAML(t, strings.ReplaceAll(r.Manifests, "failurePolicy: Fail\n  timeoutSeconds:", "failurePolicy: Ignore\n  timeoutSeconds:"))
	t.Cleanup(func() { c.DeleteYAML(t, r.Manifests) })
	pod := awaitPod(t, c, namespace)
	ns, host := c.NewNamespace(t, namespace), namespace+".example"
	ingress := cluster.Ingress(ns, "web", cluster.Rule(host, "/", "web", 80))
	class := classOf(t, r)
	ingress.Spec.IngressClassName = &class
	c.Apply(t, cluster.Web(ns, "web", 1)...)
	c.Apply(t, ingress)

	s := runContainer(t, c, pod)
	announced := ""
	if strings.Contains(values, "use-proxy-protocol") {
		announced = "PROXY TCP4 203.0.113.20 192.0.2.1 4444 80\r\n"
	}
	cluster.Eventually(t, "an answer of the Ingress", func(ctx context.Context) error { return ask(ctx, announced, host) })
	awaitProbe(t, pod)
	for _, line := range append(s.Log.Lines(t, "level=ERROR"), s.Log.Lines(t, "forbidden")...) {
		t.Error(line)
	}
}

// classOf gives the name of the IngressClass of a rendering.
func classOf(t *testing.T, r *rendering.Rendering) string {
	t.Helper()
	for _, o := range r.Objects {
		if o.GetKind() == "IngressClass" {
			return o.GetName()
		}
	}
	t.Fatal("there is no IngressClass")
	return ""
}

// ask sends one request over a connection that announces its client in words of the
// PROXY protocol, if any, and wants 200.
func ask(ctx context.Context, announced, host string) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", podAddress+":80")
	if err != nil {
		return err
	}
	defer connection.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = connection.SetDeadline(deadline)
	}
	if _, err := fmt.Fprintf(connection, "%sGET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", announced, host); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the status is %d", answer.StatusCode)
	}
	return nil
}
