package e2e

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/kube"
	"sluice/internal/snapshot"
)

// TestRotatedTokenIsUsed: the API server sees the token that a kubelet wrote last, without a
// restart. client-go reads the file once a minute.
func TestRotatedTokenIsUsed(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	authority := write("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	token := write("token", "first")
	client, err := kube.Connect(kube.Options{QPS: 10, Burst: 10, UserAgent: "sluice", Kubeconfig: write("kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: u, user: {tokenFile: %q}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, server.URL, authority, token))})
	if err != nil {
		t.Fatal(err)
	}
	sent := func() string {
		_ = client.Get(t.Context(), kube.Services, snapshot.Name{Namespace: "default", Name: "x"}, &corev1.Service{})
		return <-seen
	}
	if got := sent(); got != "Bearer first" {
		t.Fatalf("the first token is sent as %q", got)
	}
	write("token", "second")
	for deadline := time.Now().Add(3 * time.Minute); sent() != "Bearer second"; time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatal("the second token is not sent")
		}
	}
}
