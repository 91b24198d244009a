package injection

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

const prefix = "nginx.ingress.kubernetes.io/"

// world is the objects that every case changes one value of: each kind, each way
// of matching, each behaviour, and beside them a neighbour of another namespace
// that nothing here may touch.
const world = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: inner}
spec: {controller: k8s.io/ingress-nginx, parameters: {apiGroup: "", kind: ConfigMap, name: inner, scope: Namespace, namespace: sluice}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inner, namespace: sluice}
data: {http-redirect-code: "301", proxy-read-timeout: "11", whitelist-source-range: "127.0.0.0/8"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: inner
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/tls-cert-namespace: "other"
spec:
  ingressClassName: inner
  tls: [{hosts: [inner.stores.example], secretName: delegated}]
  rules:
  - host: inner.stores.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: v1
kind: Namespace
metadata: {name: default}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: sluice}
data: {http-redirect-code: "307", use-gzip: "true", enable-brotli: "true", use-geoip2: "true", proxy-set-headers: sluice/to-backends, add-headers: sluice/to-clients, log-format-upstream: "$status $location_path", global-allowed-response-headers: "X-One", otlp-collector-host: collector.test, opentelemetry-operation-name: "GET $uri", otel-sampler: TraceIdRatioBased, otel-sampler-ratio: "0.5", otel-service-name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: to-backends, namespace: sluice}
data: {X-Site: "site $host", Accept-Encoding: ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: to-clients, namespace: sluice}
data: {X-Served-By: "sluice $request_id"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: headers, namespace: default}
data: {X-One: "one $host"}
---
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: default}
data: {ann: e1BMQUlOfXNlY3JldA==}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: asking
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-type: "basic"
    nginx.ingress.kubernetes.io/auth-secret: "users"
    nginx.ingress.kubernetes.io/auth-secret-type: "auth-map"
    nginx.ingress.kubernetes.io/auth-realm: "The shop"
    nginx.ingress.kubernetes.io/custom-headers: "default/headers"
spec:
  ingressClassName: nginx
  rules:
  - host: asking.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: questions, namespace: default}
data: {X-One: "one $host"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: authenticated
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-url: "https://$host/check?u=$escaped_request_uri"
    nginx.ingress.kubernetes.io/auth-method: "POST"
    nginx.ingress.kubernetes.io/auth-proxy-set-headers: "questions"
    nginx.ingress.kubernetes.io/auth-response-headers: "X-User, X-Email"
    nginx.ingress.kubernetes.io/auth-request-redirect: "/$host"
    nginx.ingress.kubernetes.io/auth-signin: "https://login.example/start?x=1"
    nginx.ingress.kubernetes.io/auth-signin-redirect-param: "back"
    nginx.ingress.kubernetes.io/auth-always-set-cookie: "true"
    nginx.ingress.kubernetes.io/auth-cache-key: "$cookie_session"
    nginx.ingress.kubernetes.io/auth-cache-duration: "200 202 5m, 401 1m"
    nginx.ingress.kubernetes.io/auth-keepalive: "8"
    nginx.ingress.kubernetes.io/auth-keepalive-timeout: "5"
    nginx.ingress.kubernetes.io/enable-opentelemetry: "true"
    nginx.ingress.kubernetes.io/opentelemetry-operation-name: "checkout"
spec:
  ingressClassName: nginx
  rules:
  - host: authenticated.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: tcp, namespace: sluice}
data: {"9001": "default/raw:7000:PROXY:PROXY", "9002": "default/raw:raw"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: udp, namespace: sluice}
data: {"9001": "default/raw:datagram"}
---
apiVersion: v1
kind: Service
metadata: {name: raw, namespace: default}
spec: {ports: [{name: raw, port: 7000, targetPort: raw}, {name: datagram, port: 7000, protocol: UDP, targetPort: datagram}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: raw-1, namespace: default, labels: {kubernetes.io/service-name: raw}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.7]}]
ports: [{name: raw, port: 17000}, {name: datagram, port: 17001, protocol: UDP}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  ports: [{name: http, port: 80, targetPort: 8080}, {name: named, port: 81, targetPort: app}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1]}]
ports: [{name: http, port: 8080}, {name: named, port: 8081}]
---
apiVersion: v1
kind: Service
metadata: {name: away, namespace: default}
spec: {type: ExternalName, externalName: away.example.org, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: old, namespace: default}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: old, namespace: default}
subsets: [{addresses: [{ip: 10.0.0.9}], ports: [{port: 80}]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: rich
  namespace: default
  uid: 5e9e4a6c-6a34-4d0c-9f0e-0d5b0b8a1c11
  labels: {app: shop}
  annotations:
    nginx.ingress.kubernetes.io/enable-cors: "true"
    nginx.ingress.kubernetes.io/cors-allow-origin: "https://a.example, https://*.b.example:8443"
    nginx.ingress.kubernetes.io/cors-expose-headers: "X-Seen"
    nginx.ingress.kubernetes.io/allowlist-source-range: "127.0.0.0/8, 2001:db8::/32"
    nginx.ingress.kubernetes.io/denylist-source-range: "127.0.0.66, 2001:db8:1::/48"
    nginx.ingress.kubernetes.io/upstream-vhost: "shop.$host"
    nginx.ingress.kubernetes.io/client-body-buffer-size: "16k"
    nginx.ingress.kubernetes.io/proxy-body-size: "3m"
    nginx.ingress.kubernetes.io/proxy-buffering: "on"
    nginx.ingress.kubernetes.io/proxy-buffer-size: "8k"
    nginx.ingress.kubernetes.io/proxy-http-version: "1.0"
    nginx.ingress.kubernetes.io/proxy-cookie-domain: "a.internal a.example"
    nginx.ingress.kubernetes.io/proxy-cookie-path: "/a /b"
    nginx.ingress.kubernetes.io/proxy-redirect-from: "/a"
    nginx.ingress.kubernetes.io/proxy-redirect-to: "/b"
    nginx.ingress.kubernetes.io/relative-redirects: "true"
    nginx.ingress.kubernetes.io/proxy-read-timeout: "7"
    nginx.ingress.kubernetes.io/proxy-connect-timeout: "8"
    nginx.ingress.kubernetes.io/proxy-send-timeout: "9"
    nginx.ingress.kubernetes.io/proxy-next-upstream: "error http_502"
    nginx.ingress.kubernetes.io/proxy-next-upstream-tries: "2"
    nginx.ingress.kubernetes.io/proxy-next-upstream-timeout: "4"
spec:
  ingressClassName: nginx
  tls: [{hosts: [shop.example], secretName: shop}]
  defaultBackend: {service: {name: old, port: {number: 80}}}
  rules:
  - host: shop.example
    http:
      paths:
      - {path: /prefix, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /exact, pathType: Exact, backend: {service: {name: web, port: {name: named}}}}
      - {path: /specific, pathType: ImplementationSpecific, backend: {service: {name: away, port: {number: 80}}}}
      - {path: /resource, pathType: Prefix, backend: {resource: {apiGroup: k8s.example.org, kind: Bucket, name: icons}}}
  - host: "*.wild.example"
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: pattern
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/use-regex: "true"
    nginx.ingress.kubernetes.io/enable-rewrite-log: "true"
    nginx.ingress.kubernetes.io/enable-access-log: "false"
    nginx.ingress.kubernetes.io/rewrite-target: "/$2"
    nginx.ingress.kubernetes.io/x-forwarded-prefix: "/p$1"
    nginx.ingress.kubernetes.io/app-root: "/p/$host"
    nginx.ingress.kubernetes.io/whitelist-source-range: "127.0.0.0/8"
spec:
  ingressClassName: nginx
  rules:
  - host: pattern.example
    http:
      paths:
      - {path: "/p(/|$)(.*)", pathType: ImplementationSpecific, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /e, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /f, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: plain
  namespace: default
  annotations: {kubernetes.io/ingress.class: nginx}
spec:
  rules:
  - host: pattern.example
    http:
      paths:
      - {path: /g, pathType: Exact, backend: {service: {name: old, port: {number: 80}}}}
      - {path: /h.x, pathType: Prefix, backend: {service: {name: old, port: {number: 80}}}}
  - http:
      paths: [{path: /any, pathType: Prefix, backend: {service: {name: old, port: {number: 80}}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: verified
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/backend-protocol: "HTTPS"
    nginx.ingress.kubernetes.io/proxy-ssl-secret: "default/authority"
    nginx.ingress.kubernetes.io/proxy-ssl-verify: "on"
    nginx.ingress.kubernetes.io/proxy-ssl-name: "backend.internal"
    nginx.ingress.kubernetes.io/proxy-ssl-server-name: "on"
    nginx.ingress.kubernetes.io/proxy-ssl-verify-depth: "2"
    nginx.ingress.kubernetes.io/force-ssl-redirect: "true"
    nginx.ingress.kubernetes.io/server-alias: "www.verified.example, *.verified.example, verified.*, ~^v[0-9]+\\.verified\\.test$"
spec:
  ingressClassName: nginx
  rules:
  - host: verified.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: v1
kind: Secret
metadata: {name: clients, namespace: default}
data:
  ca.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJlekNDQVNHZ0F3SUJBZ0lVZGFtdHRRK2NFQ2lScUVTRFcvekI0dWJpVjVBd0NnWUlLb1pJemowRUF3SXcKRWpFUU1BNEdBMVVFQXd3SFkyeHBaVzUwY3pBZ0Z3MHlOakV4TWpNeE9EUTFNelJhR0E4eU1USTFNRFl4TnpFNApORFV6TkZvd0VqRVFNQTRHQTFVRUF3d0hZMnhwWlc1MGN6QlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VICkEwSUFCQ0kwWkZCTUJVL0V0Uzh2Yk9vdWVZMEVmYWVTSFJvQU9Cdk5jOXE2WEo3M2xYTWQ1M2xIUjd4MnFSaHgKLzlGQVlnamZuZTAyWnMvbnVnTGhaSWZUaHZ5alV6QlJNQjBHQTFVZERnUVdCQlRIQ3VjOEFFMWVIc3ZBa3lMOQppZVdjVlVKckxqQWZCZ05WSFNNRUdEQVdnQlRIQ3VjOEFFMWVIc3ZBa3lMOWllV2NWVUpyTGpBUEJnTlZIUk1CCkFmOEVCVEFEQVFIL01Bb0dDQ3FHU000OUJBTUNBMGdBTUVVQ0lRQ1JkRU5XMG90S3ZrYlY5UlcrRzFFRXRSekIKRlVEYStsYVJPLzhMWXhlbExRSWdiVzJpc29QZHRrWE9ZUlhLMXBqTnpxQ1Nhdm9VSGIxcGpMQlo5eThPL1NrPQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==
  ca.crl: LS0tLS1CRUdJTiBYNTA5IENSTC0tLS0tCk1JR3NNRk1DQVFFd0NnWUlLb1pJemowRUF3SXdFakVRTUE0R0ExVUVBd3dIWTJ4cFpXNTBjeGNOTWpZeE1USXoKTVRnME5UTTBXaGdQTWpFeU5UQTJNVGN4T0RRMU16UmFvQTR3RERBS0JnTlZIUlFFQXdJQkFUQUtCZ2dxaGtqTwpQUVFEQWdOSkFEQkdBaUVBNEhiMDJqY1cxK1h1dUlEM0FJK1habVVZZmROdTZMM0JTQjlEaHNCQWtJSUNJUUNjCkZrSG12d2dWVVhTUHRIYXdJcHY4bWx0UldlUkxuS0RhSjNnK3JXdGF4QT09Ci0tLS0tRU5EIFg1MDkgQ1JMLS0tLS0K
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: clients
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-tls-secret: "default/clients"
    nginx.ingress.kubernetes.io/auth-tls-verify-client: "on"
    nginx.ingress.kubernetes.io/auth-tls-verify-depth: "2"
    nginx.ingress.kubernetes.io/auth-tls-error-page: "https://help.example/certificates"
    nginx.ingress.kubernetes.io/auth-tls-pass-certificate-to-upstream: "true"
    nginx.ingress.kubernetes.io/auth-tls-match-cn: "CN=(alice|bob),O=Shop$"
    nginx.ingress.kubernetes.io/ssl-ciphers: "HIGH:!aNULL"
    nginx.ingress.kubernetes.io/ssl-prefer-server-ciphers: "false"
    nginx.ingress.kubernetes.io/backend-protocol: "HTTPS"
    nginx.ingress.kubernetes.io/proxy-ssl-secret: "default/shop"
    nginx.ingress.kubernetes.io/proxy-ssl-ciphers: "HIGH"
    nginx.ingress.kubernetes.io/proxy-ssl-protocols: "TLSv1.2 TLSv1.3"
spec:
  ingressClassName: nginx
  rules:
  - host: clients.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: calls
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/backend-protocol: "GRPCS"
    nginx.ingress.kubernetes.io/upstream-vhost: "calls.$host"
    nginx.ingress.kubernetes.io/proxy-read-timeout: "7"
    nginx.ingress.kubernetes.io/proxy-next-upstream: "error http_502"
    nginx.ingress.kubernetes.io/allowlist-source-range: "127.0.0.0/8"
spec:
  ingressClassName: nginx
  rules:
  - host: calls.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: params, namespace: default}
data: {SCRIPT_FILENAME: "/srv$fastcgi_script_name"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: pages
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/backend-protocol: "FCGI"
    nginx.ingress.kubernetes.io/fastcgi-index: "index.php"
    nginx.ingress.kubernetes.io/fastcgi-params-configmap: "params"
    nginx.ingress.kubernetes.io/allowlist-source-range: "127.0.0.0/8"
spec:
  ingressClassName: nginx
  rules:
  - host: pages.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: automatic
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/backend-protocol: "AUTO_HTTP"
spec:
  ingressClassName: nginx
  rules:
  - host: automatic.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: passed
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/ssl-passthrough: "true"
    nginx.ingress.kubernetes.io/server-alias: "also.passed.example"
spec:
  ingressClassName: nginx
  rules:
  - host: passed.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: passing
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/ssl-passthrough: "true"
spec:
  ingressClassName: nginx
  rules:
  - host: "*.passed.example"
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
---
apiVersion: v1
kind: Service
metadata: {name: side, namespace: other}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: neighbour
  namespace: other
  annotations:
    nginx.ingress.kubernetes.io/allowlist-source-range: "127.0.0.0/8"
    nginx.ingress.kubernetes.io/enable-cors: "true"
    nginx.ingress.kubernetes.io/cors-allow-origin: "https://neighbour.example"
spec:
  ingressClassName: nginx
  rules:
  - host: neighbour.example
    http:
      paths: [{path: /x, pathType: Prefix, backend: {service: {name: side, port: {number: 80}}}}]
  - host: "*.zone.example"
    http:
      paths: [{path: /x, pathType: Prefix, backend: {service: {name: side, port: {number: 80}}}}]
`

// shared is the world, with the three Secrets that hold certificates. It is read
// once for all tests and never changed.
var shared = sync.OnceValues(func() (snapshot.Objects, error) {
	objects, _, err := decode.FromYAML("world.yaml", []byte(world))
	if err != nil {
		return objects, err
	}
	text, err := os.ReadFile("../golden/base/certificates.yaml")
	if err != nil {
		return objects, err
	}
	certificates, _, err := decode.FromYAML("certificates.yaml", text)
	for _, secret := range certificates.Secrets {
		if secret.Name == "stores" {
			delegated := secret.DeepCopy()
			delegated.Namespace, delegated.Name = "other", "delegated"
			delegated.Annotations = map[string]string{"sluice.io/tls-delegation": "default"}
			objects.Secrets = append(objects.Secrets, delegated)
		}
		if secret.Name != "shop" {
			continue
		}
		authority := secret.DeepCopy()
		authority.Name, authority.Type = "authority", corev1.SecretTypeOpaque
		authority.Data = map[string][]byte{"ca.crt": secret.Data[corev1.TLSCertKey]}
		objects.Secrets = append(objects.Secrets, secret, authority)
	}
	if err == nil && len(objects.Secrets) != 5 {
		err = errors.New("the base certificates have no Secret shop or stores any more")
	}
	return objects, err
})

// sharedWorld gives the world that nobody may change; what wants to replaces an
// object by another.
func sharedWorld(t *testing.T) snapshot.Objects {
	t.Helper()
	objects, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// worldObjects gives a world of the test's own.
func worldObjects(t *testing.T) snapshot.Objects {
	t.Helper()
	objects := sharedWorld(t)
	objects.Mirrored = nil // made of the Endpoints again
	lists := reflect.ValueOf(&objects).Elem()
	for i := range lists.NumField() {
		list := lists.Field(i)
		own := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
		for n := range list.Len() {
			own.Index(n).Set(reflect.ValueOf(list.Index(n).Interface().(runtime.Object).DeepCopyObject()))
		}
		list.Set(own)
	}
	return objects
}

func objectsOf(t *testing.T, manifests string) snapshot.Objects {
	t.Helper()
	objects, _, err := decode.FromYAML("world.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// tree reads the file; one that nginx could not read is a failure.
func (o outcome) tree(t *testing.T) []*directive {
	t.Helper()
	list, r, err := parse(o.file.Bytes())
	if err != nil {
		t.Fatalf("nginx could not read the file: %v\n%s", err, o.file.Bytes())
	}
	if r.comments > 0 {
		t.Errorf("the file has %d comments; no user's text may ever be in one", r.comments)
	}
	return list
}

// about gives the problems that name an object and a field that holds a text.
func (o outcome) about(object, field string) []model.Problem {
	var found []model.Problem
	for _, p := range o.problems {
		if p.Object.String() == object && strings.Contains(p.Field, field) {
			found = append(found, p)
		}
	}
	return found
}

// serverOf gives the server block of a host: its first name is the host.
func serverOf(list []*directive, host string) *directive {
	for _, http := range find(list, "http") {
		for _, server := range find(http.body, "server") {
			if names := namesOf(server); len(names) > 0 && names[0] == host {
				return server
			}
		}
	}
	return nil
}

// annotationDocs are all annotations that some behaviour reads, settingDocs all
// keys of the ConfigMap that are read.
func annotationDocs() []keys.Doc {
	var docs []keys.Doc
	for _, b := range annotations.All() {
		docs = append(docs, b.Keys...)
	}
	return docs
}

func settingDocs() []keys.Doc {
	return slices.DeleteFunc(keys.Describe(settings.Settings{}), func(doc keys.Doc) bool { return slices.Contains(rawSettings, doc.Key) })
}

// rawSettings are directives of nginx that the administrator writes. They are copied as they
// are: TestSnippetsOfTheSettingsStayInTheirBlock is about them.
var rawSettings = []string{"main-snippet", "http-snippet", "server-snippet", "location-snippet", "stream-snippet"}

// annotationKeys and settingKeys are their names, with aliases.
func annotationKeys() []string { return slices.Sorted(maps.Keys(keyed(annotationDocs()))) }

func settingKeys() []string { return slices.Sorted(maps.Keys(keyed(settingDocs()))) }

// withData gives objects with other settings of the controller.
func withData(objects snapshot.Objects, data map[string]string) snapshot.Objects {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"}, Data: data}
	others := slices.DeleteFunc(slices.Clone(objects.ConfigMaps), func(m *corev1.ConfigMap) bool { return m.Name == config.Name })
	objects.ConfigMaps = append([]*corev1.ConfigMap{config}, others...)
	return objects
}

// ingress gives an Ingress of a namespace.
func ingress(t *testing.T, objects snapshot.Objects, name string) *networkingv1.Ingress {
	t.Helper()
	for _, ing := range objects.Ingresses {
		if ing.Name == name {
			return ing
		}
	}
	t.Fatalf("there is no Ingress %s", name)
	return nil
}

// The world itself is free of problems, apart from those it is meant to have,
// and reaches every template of a location.
func TestWorldIsServed(t *testing.T) {
	t.Parallel()
	o := newWorker(t).run(worldObjects(t))
	for _, p := range o.problems {
		if !strings.Contains(p.Field, "resource") && !strings.Contains(p.Field, "no-such") {
			t.Errorf("the world has a problem: %s", p)
		}
	}
	list := o.tree(t)
	for _, host := range []string{"_", "shop.example", `~^[^.]+\.wild\.example$`, "pattern.example", "verified.example", "clients.example", "neighbour.example", `~^[^.]+\.zone\.example$`} {
		if serverOf(list, host) == nil {
			t.Errorf("host %s is not served", host)
		}
	}
	if len(annotationKeys()) < 20 || len(settingKeys()) < 50 {
		t.Errorf("found only %d annotations and %d settings", len(annotationKeys()), len(settingKeys()))
	}
	seen := map[string]bool{}
	all(list, func(d *directive) { seen[d.path+" "+d.name] = true })
	for _, want := range []string{"allow", "deny", "proxy_set_header", "client_body_buffer_size", "add_header", "rewrite", "proxy_ssl_verify", "proxy_ssl_trusted_certificate", "proxy_next_upstream", "grpc_pass", "grpc_set_header", "grpc_next_upstream", "fastcgi_pass", "fastcgi_index", "fastcgi_param", "client_max_body_size", "proxy_read_timeout"} {
		if !seen["http/server/location "+want] {
			t.Errorf("no location has %s", want)
		}
	}
	if t.Failed() {
		fmt.Println(string(o.file.Bytes()))
	}
}
