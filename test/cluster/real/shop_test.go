//go:build image

package real

import (
	"net/http"
	"strings"
	"testing"

	"sluice/test/cluster"
)

// shop is a Deployment of agnhost behind a release, with its Service and Ingress, in a
// namespace of the release's name with -shop at the end.
type shop struct {
	*release
	host string
	to   string // the address that is asked
}

// openShop waits until the shop is served at the address of the release.
func (r *release) openShop(t *testing.T) *shop {
	t.Helper()
	return r.openShopAt(t, r.address(t))
}

// openShopAt is openShop at another address.
func (r *release) openShopAt(t *testing.T, address string) *shop {
	t.Helper()
	s := &shop{r, r.name + ".example", address}
	replace := strings.NewReplacer("NAMESPACE", s.namespace(), "CLASS", r.name, "HOST", s.host, "IMAGE", "registry.k8s.io/"+agnhostImage)
	r.ApplyYAML(t, replace.Replace(shopObjects))
	t.Cleanup(func() { r.kubectl(t, "delete", "namespace", s.namespace(), "--wait=false") })
	r.kubectl(t, "rollout", "status", "--namespace", s.namespace(), "deployment/web", "--timeout=5m")
	cluster.EventuallyStatus(t, s.request("/hostname"), http.StatusOK)
	return s
}

func (s *shop) namespace() string { return s.name + "-shop" }

// request asks for a path.
func (s *shop) request(path string) cluster.Request {
	return cluster.Request{URL: "http://" + s.host + path, To: s.to + ":80"}
}

// The pods have a preStop hook, as everybody is told to give theirs: see
// TestRollingUpdatesLoseNothing.
const shopObjects = `
apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: IMAGE
        args: [netexec, --http-port=3000]
        ports: [{containerPort: 3000}]
        readinessProbe: {httpGet: {path: /readyz, port: 3000}, periodSeconds: 1}
        lifecycle: {preStop: {sleep: {seconds: 3}}}
        securityContext:
          runAsNonRoot: true
          allowPrivilegeEscalation: false
          capabilities: {drop: [ALL]}
          seccompProfile: {type: RuntimeDefault}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAMESPACE}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 3000}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: NAMESPACE}
spec:
  ingressClassName: CLASS
  rules: [{host: HOST, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
`
