package effects

import (
	"fmt"
	"net/http"
	"strings"

	"sluice/test/kit"
)

// header is a request header.
func header(name, value string) http.Header { return http.Header{name: {value}} }

// status, sent and got are parts of answers: the status, a header for the client, and one that the
// Service got.
func status(a *Answer) string { return fmt.Sprint(a.Status) }

func sent(name string) func(*Answer) string {
	return func(a *Answer) string { return fmt.Sprintf("%s: %q", name, a.Header.Values(name)) }
}

func got(name string) func(*Answer) string { return sent("Got-" + name) }

// has tells whether one of several headers of a name contains a text.
func has(name, text string) func(*Answer) string {
	return func(a *Answer) string {
		for _, value := range a.Header.Values(name) {
			if strings.Contains(value, text) {
				return name + " has " + text
			}
		}
		return name + " is without " + text
	}
}

// get is a probe without anything special.
func get(see func(*Answer) string) []Probe { return []Probe{{See: see}} }

// stranger is the address of a client that lists keep out.
const stranger = "127.0.0.9"

// All returns the table.
func All() []*Effect {
	return append(access(), append(answers(), append(passed(), printed()...)...)...)
}

// Of returns the effects that an nginx has, and those for which it needs a module that it lacks.
func Of(installed kit.Nginx) (has, lacks []*Effect) {
	for _, e := range All() {
		if e.Needs == ModSecurity && installed.Capabilities.ModSecurity == "" {
			lacks = append(lacks, e)
		} else {
			has = append(has, e)
		}
	}
	return has, lacks
}

// access has the behaviours that decide who may pass.
func access() []*Effect {
	return []*Effect{
		{Name: "deny-list", Annotations: "denylist-source-range: 127.0.0.9/32", Probes: []Probe{{From: stranger, See: status}}},
		{Name: "allow-list", Annotations: "whitelist-source-range: 127.0.0.0/29", Probes: []Probe{{From: stranger, See: status}}},
		{Name: "deny-paths", Annotations: "sluice.io/deny-paths: PATH/private/*", Probes: []Probe{{Path: "/private/x", See: status}, {Path: "/public", See: status}}},
		{Name: "basic-auth", Annotations: "auth-type: basic\nauth-secret: users\nauth-secret-type: auth-file\nauth-realm: ours",
			Probes: []Probe{{Header: header("Authorization", "none"), See: status}, {Header: header("Authorization", "none"), See: sent("Www-Authenticate")}},
			Passes: func(r *http.Request) {
				if r.Header.Get("Authorization") == "" {
					r.SetBasicAuth("ann", "secret")
				}
			}},
		{Name: "external-auth", Annotations: "auth-url: http://auth.test/check\nauth-response-headers: X-User\nauth-method: GET\nauth-proxy-set-headers: default/asked\nauth-request-redirect: /back\nauth-keepalive: \"4\"\nauth-keepalive-requests: \"100\"\nauth-keepalive-timeout: \"30\"\nauth-snippet: |\n  proxy_set_header X-Of-Snippet yes;",
			Probes: []Probe{{Header: header("X-Refused", "yes"), See: status}, {See: got("X-User")}, {Header: header("X-User", "forged"), See: got("X-User")}}},
		{Name: "sign-in", Annotations: "auth-url: http://auth.test/check\nauth-signin: https://login.test/start\nauth-signin-redirect-param: back\nauth-always-set-cookie: \"true\"",
			Probes: []Probe{{Header: header("X-Unknown", "yes"), See: status}, {See: has("Set-Cookie", "asked=1")}, {Header: header("X-Unknown", "yes"), See: sent("Location")}}},
		{Name: "kept-answers", Annotations: "auth-url: http://auth.test/check\nauth-cache-key: $cookie_session\nauth-cache-duration: 200 5m",
			Probes: []Probe{{Header: header("X-Refused", "yes"), See: status}, {See: status}}},
		{Name: "satisfy", Annotations: "satisfy: any\nwhitelist-source-range: 127.0.0.0/29\nauth-type: basic\nauth-secret: users", Probes: []Probe{
			{From: stranger, Header: header("Authorization", "none"), See: status}, {Header: header("Authorization", "none"), See: status}}},
		{Name: "match", Annotations: "sluice.io/match-headers: \"X-Take: yes\"",
			Probes: []Probe{{Header: header("X-Take", "no"), See: sent("Service")}},
			Passes: func(r *http.Request) {
				if r.Header.Get("X-Take") == "" {
					r.Header.Set("X-Take", "yes")
				}
			}},
		{Name: "body-size", Annotations: "proxy-body-size: 1k",
			Probes: []Probe{{Method: "PUT", Body: strings.Repeat("x", 2000), See: status}, {Method: "PUT", Body: "small", See: status}}},
		{Name: "limits", Annotations: "limit-connections: \"100\"\nlimit-rps: \"1000\"\nlimit-rpm: \"60000\"\nlimit-burst-multiplier: \"9\"\nlimit-allowlist: 10.9.9.0/24",
			Lines: []string{"limit_conn ", "limit_req ", "burst=9000 "}},
		{Name: "limits-by", Annotations: "limit-rps: \"1000\"\nsluice.io/limit-by: host\nsluice.io/limit-headers: \"true\"", Probes: get(sent("Ratelimit-Policy"))},
		{Name: "limits-dry", Annotations: "limit-rpm: \"1\"\nlimit-burst-multiplier: \"1\"\nsluice.io/limit-dry-run: \"true\"", Lines: []string{"limit_req_dry_run on;"}, Probes: get(status)},
		{Name: "client-certificates", Over: WithCertificate,
			Annotations: "auth-tls-secret: default/clients\nauth-tls-verify-client: \"on\"\nauth-tls-verify-depth: \"2\"\nauth-tls-match-cn: CN=ann\nauth-tls-pass-certificate-to-upstream: \"true\"\nauth-tls-error-page: https://help.test/certificates",
			Probes: []Probe{{Over: WithTLS, See: status}, {Over: WithTLS, See: sent("Location")}, {Over: WithCertificate, See: status},
				{Over: WithCertificate, See: got("Ssl-Client-Verify")}, {Over: WithCertificate, See: got("Ssl-Client-Subject-Dn")}}},
		{Name: "modsecurity", Needs: ModSecurity,
			Annotations: "enable-modsecurity: \"true\"\nenable-owasp-core-rules: \"true\"\nmodsecurity-transaction-id: $request_id\nmodsecurity-snippet: |\n  SecRuleEngine On\n  SecAction \"id:900200,phase:1,pass,nolog,setvar:'tx.allowed_methods=GET HEAD POST OPTIONS PUT PATCH DELETE PROPFIND'\"\n  SecRule REQUEST_HEADERS:X-Bad \"@streq yes\" \"id:1000,phase:1,deny,status:403\"",
			Probes:      []Probe{{Header: header("X-Bad", "yes"), See: status}, {See: status}}},
	}
}

// answers has the behaviours that answer, or change answers.
func answers() []*Effect {
	return []*Effect{
		{Name: "cors", Annotations: "enable-cors: \"true\"\ncors-allow-origin: https://app.example\ncors-allow-methods: GET, PUT\ncors-allow-headers: X-Asked\ncors-expose-headers: X-Told\ncors-allow-credentials: \"false\"\ncors-max-age: \"77\"", Redirected: true, Probes: []Probe{
			{Method: "OPTIONS", Header: http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"GET"}}, See: status},
			{Header: header("Origin", "https://app.example"), See: sent("Access-Control-Allow-Origin")},
			{Header: header("Origin", "https://evil.example"), See: sent("Access-Control-Allow-Origin")},
			{Header: header("Origin", "https://app.example"), See: sent("Access-Control-Expose-Headers")},
			{Method: "OPTIONS", Header: http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"GET"}}, See: sent("Access-Control-Allow-Methods")}}},
		{Name: "permanent-redirect", Annotations: "permanent-redirect: https://new.example/x\npermanent-redirect-code: \"308\"", Ends: true, Probes: []Probe{{See: status}, {See: sent("Location")}}},
		{Name: "temporal-redirect", Annotations: "temporal-redirect: https://soon.example/x\ntemporal-redirect-code: \"307\"", Ends: true, Probes: []Probe{{See: status}, {See: sent("Location")}}},
		{Name: "force-ssl-redirect", Annotations: "force-ssl-redirect: \"true\"\npreserve-trailing-slash: \"true\"", Ends: true, Probes: []Probe{{See: status}, {See: sent("Location")}}},
		{Name: "redirects", Annotations: "sluice.io/redirects: |\n  PATH/old https://new.example/ 301", Redirected: true,
			Probes: []Probe{{Path: "/old", See: sent("Location")}}},
		{Name: "www", Annotations: "from-to-www-redirect: \"true\"", Redirected: true, Probes: []Probe{{Before: "www.", See: status}, {Before: "www.", See: sent("Location")}}},
		{Name: "app-root", Annotations: "app-root: /home", Redirected: true, Probes: []Probe{{Path: "ROOT", See: sent("Location")}}},
		{Name: "answer-rewrites", Annotations: "proxy-redirect-from: http://old.example/\nproxy-redirect-to: http://moved.example/\nproxy-cookie-path: /one /two\nproxy-cookie-domain: old.example new.example",
			Probes: []Probe{{Header: header("Want-Location", "http://old.example/x"), See: sent("Location")},
				{Header: header("Want-Set-Cookie", "c=1; Path=/one"), See: has("Set-Cookie", "ath=/two")},
				{Header: header("Want-Set-Cookie", "c=1; Domain=old.example"), See: has("Set-Cookie", "omain=new.example")}}},
		{Name: "sub-filter", Annotations: "sluice.io/sub-filter: |\n  http://old.example => https://changed.example",
			Probes: []Probe{{Header: http.Header{"Want-Content-Type": {"text/html"}, "Want-Body": {"see http://old.example now"}}, See: func(a *Answer) string { return a.Body }}}},
		{Name: "cookie-flags", Annotations: "sluice.io/cookie-flags: |\n  session secure httponly",
			Probes: []Probe{{Header: header("Want-Set-Cookie", "session=1"), See: has("Set-Cookie", "ecure")}}},
		{Name: "caching", Annotations: "sluice.io/cache-control: public, max-age=77", Probes: get(sent("Cache-Control"))},
		{Name: "expires", Annotations: "sluice.io/expires: 1h", Probes: get(has("Cache-Control", "max-age=3600"))},
		{Name: "custom-headers", Annotations: "custom-headers: default/answered", Probes: get(sent("X-Answered"))},
		{Name: "response-headers", Annotations: "sluice.io/response-headers: |\n  X-Own: mine", Probes: get(sent("X-Own"))},
		{Name: "named-snippets", Annotations: "sluice.io/snippets: team name=tea", Probes: get(sent("X-Team"))},
		{Name: "configuration-snippet", Annotations: "configuration-snippet: |\n  add_header X-Of-Snippet $request_method always;", Probes: get(sent("X-Of-Snippet"))},
		{Name: "server-snippet", Annotations: "server-snippet: |\n  location = /of-server { return 418; }", Redirected: true, Probes: []Probe{{Path: "SERVER", See: status}}},
		{Name: "affinity", Annotations: "affinity: cookie\nsession-cookie-name: route\naffinity-mode: persistent\nsession-cookie-path: PATH\nsession-cookie-domain: HOST\nsession-cookie-max-age: \"99\"\nsession-cookie-expires: \"99\"\nsession-cookie-samesite: None\nsession-cookie-conditional-samesite-none: \"true\"\nsession-cookie-secure: \"false\"\nsession-cookie-change-on-failure: \"true\"",
			Probes: []Probe{{See: has("Set-Cookie", "route=")}, {See: has("Set-Cookie", "Max-Age=99")}}},
		{Name: "custom-errors", Annotations: "custom-http-errors: \"418\"\ndefault-backend: fallback",
			Probes: []Probe{{Header: header("Want-Status", "418"), See: got("X-Code")}, {Header: header("Want-Status", "418"), See: sent("Service")}}},
		{Name: "own-errors", Annotations: "custom-http-errors: \"418\"\ndefault-backend: fallback\ndisable-proxy-intercept-errors: \"true\"", Silent: true, Probes: []Probe{{Header: header("Want-Status", "418"), See: sent("Service")}}},
		{Name: "error-status", Annotations: "proxy-body-size: 1k\nsluice.io/error-status: 413 = 422", Probes: []Probe{{Method: "PUT", Body: strings.Repeat("x", 2000), See: status}}},
		{Name: "fallback-path", Annotations: "sluice.io/fallback-path: PATH/index.html", Probes: []Probe{{Header: header("Want-Status", "404"), See: sent("Got-Uri")}}},
	}
}

// passed has the behaviours that change what the Service gets.
func passed() []*Effect {
	return []*Effect{
		{Name: "rewrite", Annotations: "use-regex: \"true\"\nrewrite-target: /rewritten", Probes: get(got("Uri"))},
		{Name: "forwarded-prefix", Annotations: "x-forwarded-prefix: /prefix\nrewrite-target: /re", Probes: get(got("X-Forwarded-Prefix"))},
		{Name: "upstream-host", Annotations: "upstream-vhost: inner.example", Probes: get(got("Host"))},
		{Name: "connection-header", Annotations: "connection-proxy-header: keep-alive", Probes: get(got("Connection"))},
		{Name: "request-headers", Annotations: "sluice.io/request-headers: |\n  X-Added: $request_method", Probes: get(got("X-Added"))},
		{Name: "server-alias", Annotations: "server-alias: alias.HOST", Probes: []Probe{{Before: "alias.", See: sent("Service")}}},
		{Name: "canary", Canary: "canary: \"true\"\ncanary-by-header: X-Canary\ncanary-by-header-value: \"yes\"\ncanary-by-cookie: canary\ncanary-weight: \"0\"\ncanary-weight-total: \"50\"\naffinity-canary-behavior: legacy", Probes: []Probe{{Header: header("X-Canary", "yes"), See: sent("Service")}, {See: sent("Service")}}},
		{Name: "https", Annotations: "backend-protocol: HTTPS\nproxy-ssl-secret: default/services\nproxy-ssl-verify: \"on\"\nproxy-ssl-verify-depth: \"2\"\nproxy-ssl-name: example.com\nproxy-ssl-server-name: \"on\"\nproxy-ssl-ciphers: HIGH\nproxy-ssl-protocols: TLSv1.2 TLSv1.3",
			Probes: []Probe{{See: got("Tls")}, {See: status}}},
		{Name: "fastcgi", Annotations: "backend-protocol: FCGI\nfastcgi-index: index.php\nfastcgi-params-configmap: default/parameters", Probes: []Probe{{See: got("Protocol")}, {See: got("X-Parameter")}}},
		{Name: "grpc", Annotations: "backend-protocol: GRPC", Probes: get(got("Protocol"))},
		{Name: "http-version", Annotations: "proxy-http-version: \"1.0\"", Probes: get(got("Protocol"))},
		{Name: "mirror", Annotations: "mirror-target: http://shadow.test\nmirror-request-body: \"off\"\nmirror-host: copies.test", Lines: []string{"mirror /"}},
		{Name: "opentelemetry", Annotations: "enable-opentelemetry: \"true\"\nopentelemetry-operation-name: ours\nopentelemetry-trust-incoming-span: \"false\"", Probes: get(func(a *Answer) string {
			return fmt.Sprint(a.Header.Get("Got-Traceparent") != "")
		})},
	}
}

// printed has the behaviours that no answer of a quick backend shows.
func printed() []*Effect {
	return []*Effect{
		{Name: "rate", Annotations: "limit-rate: \"10000\"\nlimit-rate-after: \"100\"", Lines: []string{"limit_rate ", "limit_rate_after "}},
		{Name: "body-buffer", Annotations: "client-body-buffer-size: 64k", Lines: []string{"client_body_buffer_size 64k;"}},
		{Name: "buffers", Annotations: "proxy-buffer-size: 16k\nproxy-buffering: \"on\"\nproxy-request-buffering: \"off\"\nproxy-buffers-number: \"8\"\nproxy-busy-buffers-size: 32k\nproxy-max-temp-file-size: 8m",
			Lines:  []string{"proxy_buffer_size 16k;", "proxy_buffering on;", "proxy_request_buffering off;", "proxy_buffers 8 16k;", "proxy_busy_buffers_size 32k;", "proxy_max_temp_file_size 8m;"},
			Probes: []Probe{{Header: header("Want-X-Large", strings.Repeat("x", 6000)), See: status}}},
		{Name: "timeouts", Annotations: "proxy-connect-timeout: \"7\"\nproxy-read-timeout: \"77\"\nproxy-send-timeout: \"78\"",
			Lines: []string{"proxy_connect_timeout 7s;", "proxy_read_timeout 77s;", "proxy_send_timeout 78s;"}},
		{Name: "next-upstream", Annotations: "proxy-next-upstream: error http_503\nproxy-next-upstream-tries: \"2\"\nproxy-next-upstream-timeout: \"9\"",
			Lines: []string{"proxy_next_upstream error http_503;", "proxy_next_upstream_tries 2;", "proxy_next_upstream_timeout 9;"}},
		{Name: "redirect-form", Annotations: "relative-redirects: \"true\"\nuse-port-in-redirects: \"true\"", Lines: []string{"absolute_redirect off;", "port_in_redirect on;"}},
		{Name: "logs", Annotations: "enable-access-log: \"false\"", Lines: []string{"access_log off;"}},
		{Name: "log-lines", Annotations: "enable-rewrite-log: \"true\"\nsluice.io/access-log-format: json\nsluice.io/access-log-sampling: 2xx=1%", Lines: []string{"rewrite_log on;"}},
		{Name: "service-upstream", Silent: true, Annotations: "service-upstream: \"true\"", Probes: get(status)},
		{Name: "health-check", Silent: true, Annotations: "sluice.io/health-check-path: /health\nsluice.io/health-check-host: health.test\nsluice.io/health-check-port: \"8081\"\nsluice.io/health-check-status: 200-299\nsluice.io/health-check-interval: \"5\"\nsluice.io/health-check-timeout: \"1\"\nsluice.io/health-check-healthy-threshold: \"1\"\nsluice.io/health-check-unhealthy-threshold: \"2\"\nsluice.io/slow-start: \"30\"", Probes: get(status)},
		{Name: "auto-http", Silent: true, Annotations: "backend-protocol: AUTO_HTTP", Probes: get(status)},
		{Name: "ciphers", Silent: true, Annotations: "ssl-ciphers: HIGH:!aNULL\nssl-prefer-server-ciphers: \"true\"", Probes: get(status)},
		{Name: "balancing", Silent: true, Annotations: "load-balance: ewma\nsluice.io/max-fails: \"3\"\nsluice.io/fail-timeout: \"5\"", Probes: get(status)},
		{Name: "hash", Silent: true, Annotations: "upstream-hash-by: $request_uri\nupstream-hash-by-subset: \"true\"\nupstream-hash-by-subset-size: \"2\"", Probes: get(status)},
	}
}
