//go:build image

package real

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"sluice/test/cluster"
)

// TestIngressNginxDeployment: what ingress-nginx's manifests make, with Sluice's image,
// and nothing else changed: Sluice starts by the arguments, listens on the ports below
// 1024 by the capability alone, passes the probes, reviews Ingresses with the certificate
// of the Secret, and ends by the preStop hook, when kube-proxy has had the time to hear of
// it, so that an update loses nothing.
func TestIngressNginxDeployment(t *testing.T) {
	w := theWorld(t)
	if err := pushed(); err != nil {
		t.Fatal(err)
	}
	certificate, key, err := w.ServingFiles("webhook", []string{"ingress-nginx-controller-admission.ingress-nginx.svc"})
	if err != nil {
		t.Fatal(err)
	}
	r := &release{w, "ingress-nginx", "ingress-nginx-controller"}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.trouble(t))
		}
		w.kubectl(t, "delete", "--ignore-not-found", "validatingwebhookconfiguration/ingress-nginx-admission", "ingressclass/ingress-nginx", "clusterrole/ingress-nginx", "clusterrolebinding/ingress-nginx")
		w.kubectl(t, "delete", "pods", "--all", "--namespace", r.name, "--grace-period=1", "--wait=false")
		w.kubectl(t, "delete", "--ignore-not-found", "namespace", r.name, "--wait=false")
	})
	w.ApplyYAML(t, strings.NewReplacer("IMAGE", registryHost+"/sluice:"+firstTag,
		"CA-BUNDLE", encoded(t, w.AuthorityFile()), "CERTIFICATE", encoded(t, certificate), "PRIVATE-KEY", encoded(t, key)).Replace(ingressNginx))
	r.rollOut(t)
	s := r.openShop(t)
	w.isContained(t, r.name, r.controller, "/etc", "/usr")
	if _, err := w.try(t, "kubectl", "annotate", "ingress/web", "--namespace", s.namespace(), "nginx.ingress.kubernetes.io/whitelist-source-range=nobody"); err == nil || !strings.Contains(err.Error(), "validate.nginx.ingress.kubernetes.io") {
		t.Errorf("the webhook does not refuse an Ingress: %v", err)
	}
	s.under(t, "a rolling update of ingress-nginx's Deployment", func() {
		w.kubectl(t, "rollout", "restart", "--namespace", r.name, "deployment/"+r.controller)
		r.rollOut(t)
	})
	cluster.EventuallyStatus(t, s.request("/hostname"), 200)
}

func encoded(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(content)
}

// ingressNginx is what the manifests of ingress-nginx make, and the Secret that their Jobs
// would make.
// Source: https://kubernetes.github.io/ingress-nginx/deploy/
const ingressNginx = `
apiVersion: v1
kind: Namespace
metadata: {name: ingress-nginx, labels: {pod-security.kubernetes.io/enforce: baseline}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: ingress-nginx, namespace: ingress-nginx}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: ingress-nginx, namespace: ingress-nginx}
rules:
- {apiGroups: [""], resources: [namespaces], verbs: [get]}
- {apiGroups: [""], resources: [configmaps, pods, secrets, endpoints], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [services], verbs: [get, list, watch]}
- {apiGroups: [networking.k8s.io], resources: [ingresses, ingressclasses], verbs: [get, list, watch]}
- {apiGroups: [networking.k8s.io], resources: [ingresses/status], verbs: [update]}
- {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [ingress-nginx-leader], verbs: [get, update]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}
- {apiGroups: [""], resources: [events], verbs: [create, patch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch, get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ingress-nginx}
rules:
- {apiGroups: [""], resources: [configmaps, endpoints, nodes, pods, secrets, namespaces], verbs: [list, watch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [list, watch]}
- {apiGroups: [""], resources: [nodes], verbs: [get]}
- {apiGroups: [""], resources: [services], verbs: [get, list, watch]}
- {apiGroups: [networking.k8s.io], resources: [ingresses, ingressclasses], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [events], verbs: [create, patch]}
- {apiGroups: [networking.k8s.io], resources: [ingresses/status], verbs: [update]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch, get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ingress-nginx, namespace: ingress-nginx}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ingress-nginx}
subjects: [{kind: ServiceAccount, name: ingress-nginx, namespace: ingress-nginx}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ingress-nginx}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ingress-nginx}
subjects: [{kind: ServiceAccount, name: ingress-nginx, namespace: ingress-nginx}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
---
apiVersion: v1
kind: Secret
metadata: {name: ingress-nginx-admission, namespace: ingress-nginx}
data: {ca: CA-BUNDLE, cert: CERTIFICATE, key: PRIVATE-KEY}
---
apiVersion: v1
kind: Service
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
spec:
  type: LoadBalancer
  ports:
  - {name: http, port: 80, targetPort: http, appProtocol: http}
  - {name: https, port: 443, targetPort: https, appProtocol: https}
  selector: {app.kubernetes.io/component: controller, app.kubernetes.io/name: ingress-nginx}
---
apiVersion: v1
kind: Service
metadata: {name: ingress-nginx-controller-admission, namespace: ingress-nginx}
spec:
  ports: [{name: https-webhook, port: 443, targetPort: webhook, appProtocol: https}]
  selector: {app.kubernetes.io/component: controller, app.kubernetes.io/name: ingress-nginx}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
spec:
  selector:
    matchLabels: {app.kubernetes.io/component: controller, app.kubernetes.io/name: ingress-nginx}
  template:
    metadata:
      labels: {app.kubernetes.io/component: controller, app.kubernetes.io/name: ingress-nginx}
    spec:
      serviceAccountName: ingress-nginx
      terminationGracePeriodSeconds: 300
      nodeSelector: {kubernetes.io/os: linux}
      containers:
      - name: controller
        image: IMAGE
        args:
        - /nginx-ingress-controller
        - --publish-service=$(POD_NAMESPACE)/ingress-nginx-controller
        - --election-id=ingress-nginx-leader
        - --controller-class=k8s.io/ingress-nginx
        - --ingress-class=ingress-nginx
        - --configmap=$(POD_NAMESPACE)/ingress-nginx-controller
        - --validating-webhook=:8443
        - --validating-webhook-certificate=/usr/local/certificates/cert
        - --validating-webhook-key=/usr/local/certificates/key
        env:
        - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: LD_PRELOAD, value: /usr/local/lib/libmimalloc.so}
        lifecycle: {preStop: {exec: {command: [/wait-shutdown]}}}
        livenessProbe:
          {httpGet: {path: /healthz, port: 10254}, initialDelaySeconds: 10, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 5}
        readinessProbe:
          {httpGet: {path: /healthz, port: 10254}, initialDelaySeconds: 10, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3}
        ports: [{name: http, containerPort: 80}, {name: https, containerPort: 443}, {name: webhook, containerPort: 8443}]
        resources: {requests: {cpu: 100m, memory: 90Mi}}
        securityContext:
          allowPrivilegeEscalation: false
          capabilities: {add: [NET_BIND_SERVICE], drop: [ALL]}
          readOnlyRootFilesystem: false
          runAsGroup: 82
          runAsNonRoot: true
          runAsUser: 101
          seccompProfile: {type: RuntimeDefault}
        volumeMounts: [{name: webhook-cert, mountPath: /usr/local/certificates/, readOnly: true}]
      volumes: [{name: webhook-cert, secret: {secretName: ingress-nginx-admission}}]
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: ingress-nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ingress-nginx-admission}
webhooks:
- name: validate.nginx.ingress.kubernetes.io
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  matchPolicy: Equivalent
  clientConfig:
    caBundle: CA-BUNDLE
    service: {name: ingress-nginx-controller-admission, namespace: ingress-nginx, path: /networking/v1/ingresses}
  rules: [{apiGroups: [networking.k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [ingresses]}]
`
