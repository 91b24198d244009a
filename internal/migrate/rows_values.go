package migrate

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/translate"
)

// valueRows are about the values of annotations, but for authentication, snippets and
// canaries, which have tables of their own.
var valueRows = []row{
	{"bad-value", "a bad value", because(model.InvalidValue)},
	{"connection-header", "`connection-proxy-header` with another word than", by("connection-proxy-header")},
	{"cors-origin-bad", "a bad origin in `cors-allow-origin`", by("cors-allow-origin")},
	{"cors-item-bad", "a bad item in `cors-allow-methods`", by("cors-allow-methods cors-allow-headers cors-expose-headers cors-allow-credentials").that("the list is", "scripts send no credentials")},
	{"cors-bad", "another bad value of CORS", by("cors-*").same()},
	{"force-ssl-redirect-bad", "`force-ssl-redirect` that is no boolean", by("force-ssl-redirect")},
	{"backend-verify-alone", "`proxy-ssl-verify: \"on\"` without", by("proxy-ssl-verify").that("proxy-ssl-secret")},
	{"backend-verify-name", "`proxy-ssl-verify: \"on\"` with a Secret and without", by("proxy-ssl-verify").that("proxy-ssl-name")},
	{"near-miss", "a near miss of the name, or of the prefix", because(model.Unread).denying()},
	{"setting-as-annotation", "a setting that protects, written as an annotation", because(model.Unread).that("this is a setting")},
	{"block-cidrs", "`block-cidrs` at paths with", set("block-cidrs")},
	{"block-bad", "a bad value of `block-cidrs`", by("block-cidrs block-user-agents block-referers").on("ConfigMap")},
	{"block-patterns", "a pattern of `block-user-agents` or `block-referers`", setup(func(c *controller) bool {
		return hasHardPattern(c.data["block-user-agents"]) || hasHardPattern(c.data["block-referers"])
	})},
	{"bind-address", "`bind-address` with addresses of one family", setup(func(c *controller) bool { return isOfOneFamily(c.data["bind-address"]) })},
	{"bind-address-bad", "`bind-address` with an item", by("bind-address").on("ConfigMap")},
	{"limit-conn-zone-variable", "`limit-conn-zone-variable`", by("limit-conn-zone-variable").on("ConfigMap")},
	{"half-protection", "`enable-owasp-core-rules` or `modsecurity-snippet` without", by("enable-owasp-core-rules modsecurity-snippet auth-secret auth-type").that("enable-modsecurity", "auth-type", "auth-secret")},
	{"empty-protection", "an empty `auth-url`, `auth-secret`", because(model.InvalidValue).denying().that("want a value, as ")},
	{"custom-headers-namespace", "`custom-headers` with a ConfigMap of another", by("custom-headers").that("delegated")},
	{"custom-headers-reserved", "`custom-headers` with `Content-Length`", because(model.InvalidValue).in("custom-headers")},
	{"custom-headers-twice", "`custom-headers` with a header twice", by("custom-headers").that("twice")},
	{"allowed-headers-case", "case of the names in `global-allowed-response-headers`", untold(nothingChanges)},
	{"custom-headers-pages", "`Content-Type` in `custom-headers`", untold(otherObject)},
	{"add-headers-pages", "`Content-Type` in `add-headers`", setup(func(c *controller) bool { return c.adds("Content-Type") })},
	{"add-headers-reserved", "`add-headers` with `Set-Cookie`", because(model.InvalidValue).on("ConfigMap").that(
		"itself; the header is left out", "turns it off; the header is left out", "changes their flags; the header is left out", "it belongs to redirects", "it belongs to authentication", "it describes the body", "commands nginx; the header is left out", "guess the type; the header is left out",
	)},
	{"set-headers-reserved", "`proxy-set-headers` with a header that Sluice sets itself", because(model.InvalidValue).on("ConfigMap").that(
		"changes it; the header is left out", "sets it; the header is left out", "decides about it; the header is left out", "of the client; the header is left out", "show certificates; the header is left out", "a proxy of theirs; the header is left out",
	)},
	{"global-headers-values", "a value of `add-headers` or `proxy-set-headers`", because(model.InvalidValue).on("ConfigMap").that("the header is left out")},
	{"global-headers-many", "`add-headers` and `proxy-set-headers` with more", because(model.InvalidValue).on("ConfigMap").that("none of them is set")},
	{"global-headers-change", "a change of the ConfigMap that `add-headers`", untold(operation)},
	{"add-headers-hsts", "`Strict-Transport-Security` in `add-headers`", setup(func(c *controller) bool { return c.adds("Strict-Transport-Security") })},
	{"hide-headers-grpc", "`hide-headers` on gRPC backends", quiet(func(f *facts) bool { return f.setting("hide-headers") != "" && f.speaks("GRPC", "GRPCS") })},
	{"global-policy", "headers that an administrator sets for everybody", untold(onlySluice)},
	{"custom-headers-cors", "a header of `custom-headers` that `enable-cors`", by("custom-headers enable-cors").that("writes")},
	{"match-requests", "request headers of clients that ask for another", untold(onlySluice)},
	{"instead-of-snippets", "headers, paths to refuse, times of caching", untold(onlySluice)},
	{"certificate-status", "the status for refused client certificates", untold(onlySluice)},
	{"fallback-path", "a page in place of a 404 of the backend", untold(onlySluice)},
	{"modsecurity-word", "`enable-modsecurity` that is no boolean", by("enable-modsecurity")},
	{"modsecurity-snippet", "`modsecurity-snippet`", by("modsecurity-snippet")},
	{"modsecurity-recommended", "`modsecurity-snippet` beside the recommended", quiet(func(f *facts) bool {
		return f.value("modsecurity-snippet") != "" && f.asks("enable-modsecurity")
	})},
	{"owasp-off", "`enable-owasp-core-rules: \"false\"` beside", quiet(func(f *facts) bool {
		return f.value("enable-owasp-core-rules") == "false" && f.setting("enable-owasp-modsecurity-crs") == "true"
	})},
	{"modsecurity-log", "the log of ModSecurity", given("enable-modsecurity")},
	{"webhook-policy", "`failurePolicy` of the admission webhook", untold(operation)},
	{"webhook-certificate", "the certificate of the admission webhook", untold(operation)},
	{"strict-paths", "`strict-validate-path-type`", because(translate.Strict).same()},
	{"geoip-reload", "`geoip2-autoreload-in-minutes`", by("geoip2-autoreload-in-minutes").on("ConfigMap")},
	{"geoip-missing", "`use-geoip2` without databases", by("use-geoip2").on("ConfigMap")},
	{"grpc-errors", "an error of nginx to a gRPC client", protocol("GRPC", "GRPCS")},
	{"grpc-retries", "`proxy-next-upstream`, `-tries` and `-timeout` with gRPC", protocol("GRPC", "GRPCS", "FCGI")},
	{"grpc-buffer", "`proxy-buffer-size` with gRPC", protocol("GRPC", "GRPCS").with("proxy-buffer-size")},
	{"fastcgi-buffers", "timeouts, buffers and `proxy-next-upstream` with", protocol("FCGI")},
	{"protocol-case", "`backend-protocol` in lower case", quiet(func(f *facts) bool {
		return strings.ToUpper(f.value("backend-protocol")) != f.value("backend-protocol")
	})},
	{"fastcgi-headers", "headers such as `X-Forwarded-For` and `X-Real-IP` to FastCGI", protocol("FCGI")},
	{"fastcgi-annotations", "`auth-response-headers`, `upstream-vhost`", protocol("FCGI").with("auth-response-headers upstream-vhost x-forwarded-prefix auth-type")},
	{"fastcgi-name", "`SERVER_NAME` of FastCGI", protocol("FCGI")},
	{"fastcgi-root", "`DOCUMENT_ROOT` of FastCGI", protocol("FCGI")},
	{"fastcgi-scheme", "`REQUEST_SCHEME`, `HTTPS` and", protocol("FCGI")},
	{"fastcgi-params", "a parameter of `fastcgi-params-configmap` that", protocol("FCGI").with("fastcgi-params-configmap")},
	{"fastcgi-params-namespace", "`fastcgi-params-configmap` of another", by("fastcgi-params-configmap").that("delegated")},
	{"fastcgi-params-bad", "a bad value in that ConfigMap", by("fastcgi-params-configmap")},
	{"fastcgi-index", "a bad `fastcgi-index`", by("fastcgi-index")},
	{"auto-http", "`AUTO_HTTP`: kept connections", protocol("AUTO_HTTP")},
	{"unread", "an annotation or setting that nobody reads", because(model.Unread).same()},
	{"unsupported", "an annotation that Sluice does not do yet", because(model.Unsupported)},
	{"mirror-bad", "`mirror-target` that is not valid", by("mirror-target")},
	{"mirror-path", "`mirror-target` without a path", quiet(func(f *facts) bool {
		_, rest, _ := strings.Cut(f.value("mirror-target"), "://")
		return rest != "" && !strings.ContainsAny(rest, "/$")
	})},
	{"mirror-inward", "`mirror-target` that leads to this machine", by("mirror-target").that("leads to")},
	{"mirror-headers", "headers and HTTP version of a mirror's copies", asked("mirror-target")},
	{"own-paths", "paths below `/.sluice/`", by("spec.rules*").that("/.sluice/")},
	{"setting-refused", "a setting that nginx refuses", untold(operation)},
	{"settings-deleted", "the ConfigMap is deleted", untold(operation)},
	{"settings-missing", "the ConfigMap is missing at the start", because(model.NotFound).on("IngressClass").in("spec.parameters*")},
	{"http3-variable", "`$http3` in a rewrite", because("").that("$http3")},
	{"setting-bad", "a bad setting", because(model.InvalidValue).on("ConfigMap")},
	{"temp-file-size", "`proxy-max-temp-file-size` of less than a buffer", by("proxy-max-temp-file-size")},
	{"broadcast-address", "`255.255.255.255` in a list of addresses", because("").that("255.255.255.255")},
	{"limit-negative", "`limit-rps`, `limit-rpm` and `limit-connections` below 0", by("limit-rps limit-rpm limit-connections")},
	{"limit-list-long", "a `limit-allowlist` of more than 256", by("limit-allowlist limit-whitelist").that("256", "2048", "2,048")},
	{"source-list-long", "an `allowlist-source-range` or `denylist-source-range` of more", by("allowlist-source-range whitelist-source-range denylist-source-range").that("4096", "4,096")},
	{"limit-accel", "an answer with `X-Accel-Redirect`", untold(byRequest)},
	{"limit-options", "a `limit-allowlist` or `limit-burst-multiplier`", by("limit-allowlist limit-whitelist limit-burst-multiplier")},
	{"limit-zones", "zones of limits", asked("limit-rps limit-rpm limit-connections")},
	{"limit-replicas", "limits with several replicas", untold(nothingChanges)},
	{"global-rate-limit", "`global-rate-limit` and", because(model.Unread).in("global-rate-limit*").losing().fix("Write limit-rps or limit-rpm; with the setting limit-divide-by-replicas they hold for all replicas together.")},
	{"limit-by", "what limits go by", untold(onlySluice)},
	{"global-auth-ca", "the server of `global-auth-url`", untold(onlySluice)},
	{"shutdown-timeout", "`worker-shutdown-timeout: \"0\"`", by("worker-shutdown-timeout")},
	{"sizes-high", "buffers above 1g", because(model.InvalidValue).in("*buffer-size upstream-keepalive-connections").on("ConfigMap").that("1g", "65536")},
	{"kept-connections", "`upstream-keepalive-connections`", set("upstream-keepalive-connections")},
}

// balancingRows are about canaries, cookies and how endpoints are chosen.
var balancingRows = []row{
	{"canary-word", "`canary` that is no boolean", by("canary").that("want true or false")},
	{"canary-path", "a canary with a path that no other Ingress has", by("spec.rules*").that("no other Ingress has the path").fix("Add the path to the main Ingress, or remove it from the canary.")},
	{"canary-closed", "a canary of a path that its main Ingress closes", because(model.NotFound).in("spec.rules* spec.defaultBackend*").that("which has the same path, returns 503").closing().fix("Correct the Ingress that the text names.")},
	{"canary-main-empty", "a canary whose main Service has no endpoint", untold(operation)},
	{"canary-paths", "the paths that share with a canary", quiet(func(f *facts) bool { return f.asks("canary") && f.sharesMain() })},
	{"canary-protected", "a canary with something that protects", because(model.Unsupported).in("spec.rules*").that("the canary gets no requests").fix("Write the same value in the main Ingress.")},
	{"cookies-shared", "cookies of two Ingresses with one Service", quiet(func(f *facts) bool { return f.asks("affinity") && f.sharesService })},
	{"cookie-default", "the cookie of `affinity` at a `spec.defaultBackend`", quiet(func(f *facts) bool { return f.asks("affinity") && f.ingress.Spec.DefaultBackend != nil })},
	{"balancing-shared", "hash, algorithm or `service-upstream` of two", quiet(func(f *facts) bool {
		return f.asks("upstream-hash-by load-balance service-upstream") && f.sharesService
	})},
	{"hash-change", "a changed `upstream-hash-by`", untold(operation)},
	{"hash-bad", "`upstream-hash-by` with a variable", by("upstream-hash-by")},
	{"hash-subset", "`upstream-hash-by-subset`", asked("upstream-hash-by-subset")},
	{"load-balance-bad", "`load-balance` that is not valid", by("load-balance")},
	{"least-conn", "`load-balance: least_conn`", quiet(func(f *facts) bool { return f.value("load-balance") == "least_conn" })},
	{"canary-several", "several canaries of a path", quiet(func(f *facts) bool { return f.asks("canary") && f.otherCanary })},
	{"canary-pattern", "`canary-by-header-pattern` that is no", by("canary-by-header-pattern")},
	{"service-upstream", "`service-upstream` for a Service without", by("service-upstream").same()},
	{"cookie-bad", "`session-cookie-*` with a value", by("session-cookie-*")},
}

// protocol recognises an Ingress with one of these backend protocols, in any case.
func protocol(names ...string) when {
	return quiet(func(f *facts) bool { return f.speaks(names...) })
}

// hostless reports whether an Ingress has a rule without a host.
func hostless(ing *networkingv1.Ingress) bool {
	for _, rule := range ing.Spec.Rules {
		if rule.Host == "" {
			return true
		}
	}
	return false
}
