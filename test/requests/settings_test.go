package requests

import (
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/test/effects"
	"sluice/test/kit"
)

// settings are those that are about requests or answers, with values that let all kinds pass.
const settings = `  use-gzip: "true"
  gzip-min-length: "1"
  hide-headers: X-Hidden
  add-headers: default/answered
  proxy-set-headers: default/asked
  location-snippet: add_header X-Of-Location yes always;
  server-snippet: add_header X-Of-Server yes always;
  http-snippet: map $request_method $of_http { default 1; }
  use-forwarded-headers: "true"
  compute-full-forwarded-for: "true"
  custom-http-errors: "418"
  block-user-agents: ~*badbot
  block-referers: ~*evil
  block-cidrs: 10.9.9.9/32
  denylist-source-range: 10.9.8.0/24
  whitelist-source-range: 127.0.0.0/8
  global-auth-url: http://auth.test/check
  global-auth-response-headers: X-User
  global-auth-always-set-cookie: "true"
  limit-rate: "100000"
  limit-rate-after: "100"
  client-header-buffer-size: 2k
  client-body-buffer-size: 64k
  proxy-add-original-uri-header: "true"
  generate-request-id: "false"
  retry-non-idempotent: "true"
  enable-underscores-in-headers: "true"
  ignore-invalid-headers: "false"
  allow-backend-server-header: "true"
  http2-max-concurrent-streams: "64"
  upstream-keepalive-connections: "8"
  hsts: "false"
  service-upstream: "true"
  relative-redirects: "true"
  load-balance: ewma
  proxy-buffers-number: "8"
`

// TestEachRequestThroughTheSettings sends each kind of request to an Ingress under settings that change
// requests and answers, and to one under none: nothing that a request or an answer is made of is lost.
func TestEachRequestThroughTheSettings(t *testing.T) {
	t.Parallel()
	plain := effects.Ingress("plain", host(nil), "/a", &effects.Effect{Name: "large", Annotations: large})
	backend, decides := newBackend(t), effects.Endpoints(t)
	endpoints := func(b *model.Backend) []model.Endpoint {
		if b.Target.Host != "" {
			return decides(b)
		}
		return backend
	}
	for _, installed := range kit.Nginxes(t) {
		t.Run(installed.Name, func(t *testing.T) {
			start := func(manifests string) (*world, string) {
				served := installed.Serve(t, manifests, endpoints)
				for _, problem := range served.Problems {
					t.Error(problem)
				}
				return &world{port: served.Environment.HTTPPort, securePort: served.Environment.HTTPSPort}, served.Conf
			}
			under, conf := start(effects.Under(settings) + plain)
			without, _ := start(effects.Objects + plain)
			if !strings.Contains(conf, "add_header X-Of-Location yes always;") {
				t.Fatal("the settings are not in force")
			}
			kit.Each(all(), clients, func(r request) {
				if strings.HasPrefix(r.name, "answer 418") {
					return // it is the one that custom-http-errors replaces
				}
				if got, want := under.send(t, r, host(nil), nil), without.send(t, r, host(nil), nil); got.String() != want.String() {
					t.Errorf("%s: %s\nwithout the settings: %s", r.name, got, want)
				}
			})
		})
	}
}
