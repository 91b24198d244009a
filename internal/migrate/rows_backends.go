package migrate

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/translate"
)

// protects are the annotations with which a status may be a refusal.
const protects = "auth-url auth-type auth-secret allowlist-source-range whitelist-source-range denylist-source-range"

// backendRows are about backends and the requests to them.
var backendRows = []row{
	{"terminating", "no endpoint is ready, but some still serve", untold(operation)},
	{"absolute-uri", "a request line with a whole URL", untold(byRequest)},
	{"upgrade-h2c", "`Upgrade: h2c`", untold(byRequest)},
	{"rewrite-dots", "a rewrite whose captures make `/../`", untold(byRequest)},
	{"header-line-ends", "`$uri` and `$ssl_server_name` in", by("upstream-vhost app-root").that("$uri", "$ssl_server_name")},
	{"endless-tries", "`proxy-next-upstream-tries: \"0\"`, or more", quiet(func(f *facts) bool {
		n, ok := f.number("proxy-next-upstream-tries")
		return ok && (n == 0 || n > 16)
	}).fix("Write the number of tries that you want, from 1 to 16.")},
	{"client-certificate-headers", "`ssl-client-verify`, `-subject-dn`", untold(byRequest)},
	{"underscore-headers", "`X_Forwarded_For`, `X_Real_IP` and the like", set("enable-underscores-in-headers")},
	{"underscore-identities", "`X_User` from a client beside an `X-User`", set("enable-underscores-in-headers")},
	{"body-buffer", "`client-body-buffer-size` over 16m", by("client-body-buffer-size")},
	{"proxy-buffers", "`proxy-buffer-size` over 16m, more than 64m", by("proxy-buffer-size proxy-buffers-number proxy-busy-buffers-size").that("at most", "64m", "16m", "32m")},
	{"buffers-fit", "sizes of buffers that nginx compares", by("proxy-buffer-size proxy-buffers-number proxy-busy-buffers-size")},
	{"answer-rewrites", "`proxy-cookie-domain`, `proxy-cookie-path` and", by("proxy-cookie-domain proxy-cookie-path proxy-redirect-from proxy-redirect-to")},
	{"error-pages-many", "`custom-http-errors` with more than 50,000", by("custom-http-errors").that("50,000", "50000")},
	{"server-header", "the header Server", setup(func(c *controller) bool { return !c.on("server-tokens") })},
	{"proxy-ssl-neighbours", "`proxy-ssl-*` of one Ingress, paths of another", quiet(func(f *facts) bool {
		return f.shares && f.asks("proxy-ssl-secret proxy-ssl-verify proxy-ssl-name proxy-ssl-ciphers")
	})},
	{"topology-zones", "no endpoint for the zone of the controller's node", flagged("enable-topology-aware-routing")},
	{"endpoints-by-name", "an EndpointSlice of DNS names", untold(otherObject)},
	{"resource-backend", "a `resource` backend", by("spec.rules* spec.defaultBackend*").that("as backend is not supported").closing().fix("Serve it by a Service, and name that.")},
	{"external-name-loopback", "an ExternalName that leads to this machine", by("spec.rules* spec.defaultBackend*").that("leads to this machine: ").same()},
	{"external-name-metadata", "an ExternalName that leads to the link", by("spec.rules* spec.defaultBackend*").that("its link or its cloud").closing().fix("Name a Service with another externalName.")},
	{"loop", "a request that comes back to nginx", untold(byRequest)},
	{"error-pages-protected", "`custom-http-errors` with 401, 403, 500 or 503", quiet(func(f *facts) bool {
		return f.asks(protects) && containsAny(f.inForce("custom-http-errors"), "401", "403", "500", "503")
	})},
	{"error-backend-protected", "`default-backend` that names a Service which", by("default-backend").that("protects", "protected")},
	{"closed-error-pages", "paths that are closed because a protection", quiet(func(f *facts) bool { return f.denied && strings.Contains(f.inForce("custom-http-errors"), "503") })},
	{"error-pages-alone", "`custom-http-errors` without a default backend", quiet(func(f *facts) bool {
		return f.inForce("custom-http-errors") != "" && f.value("default-backend") == "" && !f.hasDefault()
	}).fix("Name a Service in the annotation default-backend, or in --default-backend-service.")},
	{"error-request-headers", "headers and HTTP version of requests to the error", quiet(func(f *facts) bool {
		return f.inForce("custom-http-errors") != "" && (f.value("default-backend") != "" || f.hasDefault())
	})},
	{"error-request-id", "a Service without endpoints with `default-backend`", asked("default-backend")},
	{"early-errors", "requests that nginx refuses before it looks", set("custom-http-errors")},
	{"error-413", "413 with an error page", quiet(func(f *facts) bool { return strings.Contains(f.inForce("custom-http-errors"), "413") })},
	{"protected-empty", "a missing or empty Service on a path with protection", untold(otherObject)},
	{"error-snippet", "headers of a `configuration-snippet` on a 404", quiet(func(f *facts) bool {
		return f.asks("configuration-snippet") && strings.Contains(f.inForce("custom-http-errors"), "404") && f.value("default-backend") == "" && !f.hasDefault()
	})},
	{"cors-413", "headers of CORS on a 413", untold(byRequest)},
	{"service-missing", "a missing Service or port", because(model.NotFound).in("*.backend* spec.defaultBackend*").same()},
}

// redirectRows are about redirects.
var redirectRows = []row{
	{"redirects", "redirects of single paths", untold(onlySluice)},
	{"redirects-patterns", "redirects on a host whose paths are patterns", untold(onlySluice)},
	{"redirect-code", "`permanent-redirect-code` and `temporal-redirect-code`", by("permanent-redirect-code temporal-redirect-code")},
	{"redirect-booleans", "`relative-redirects` and `use-port-in-redirects`", by("relative-redirects use-port-in-redirects")},
	{"redirect-variables", "`$request_uri`, `$uri`, `$args`", quiet(func(f *facts) bool {
		return strings.Contains(f.value("permanent-redirect")+f.value("temporal-redirect"), "$")
	})},
	{"redirect-scheme", "`permanent-redirect: /path` behind a proxy", quiet(func(f *facts) bool {
		return strings.HasPrefix(f.value("permanent-redirect"), "/") || strings.HasPrefix(f.value("temporal-redirect"), "/")
	})},
	{"app-root-two", "two Ingresses of a host with different `app-root`", by("app-root").that("already redirects /")},
	{"app-root-exact", "an Exact `/` on a host with an `app-root`", by("spec.rules*").that("the app-root of").same()},
	{"www-port", "`from-to-www-redirect`", quiet(func(f *facts) bool { return f.asks("from-to-www-redirect") })},
	{"www-taken", "`from-to-www-redirect` where the other name", by("from-to-www-redirect").same()},
	{"www-wildcard", "`from-to-www-redirect` on a wildcard host", by("from-to-www-redirect").that("want one name as the host")},
	{"app-root-closed", "`app-root` and `from-to-www-redirect` of an Ingress whose paths are closed", quiet(func(f *facts) bool { return f.denied && f.asks("app-root from-to-www-redirect") })},
	{"app-root-lost", "`app-root` of an Ingress all of whose paths", quiet(func(f *facts) bool {
		return f.asks("app-root") && len(f.paths) > 0 && !f.anyPath(func(p path) bool { return len(f.locationsOf[p.field]) > 0 })
	})},
	{"app-root-relative", "`app-root` with the setting `relative-redirects`", quiet(func(f *facts) bool { return f.setting("relative-redirects") == "true" && f.asks("app-root") })},
	{"redirect-port-usual", "`use-port-in-redirects` where HTTPS has port 443", given("use-port-in-redirects")},
	{"early-413", "a body that is too large, over plain HTTP", untold(byRequest)},
	{"app-root-slash", "an `app-root` of `/`", by("app-root").that(`(got "/")`, "itself")},
	{"app-root-bad", "an `app-root` that has no leading slash", by("app-root")},
}

// proxyRows are about proxies in front.
var proxyRows = []row{
	{"forwarded-untrusted", "`use-forwarded-headers` with a `proxy-real-ip-cidr`", setup(func(c *controller) bool { return c.on("use-forwarded-headers") && c.given("proxy-real-ip-cidr") })},
	{"forwarded-full", "`compute-full-forwarded-for`, from such a peer", setup(func(c *controller) bool { return c.on("compute-full-forwarded-for") && c.given("proxy-real-ip-cidr") })},
	{"proxy-protocol-untrusted", "a PROXY header from a peer outside", setup(func(c *controller) bool { return c.on("use-proxy-protocol") && c.given("proxy-real-ip-cidr") })},
	{"forwarded-bad", "a bad `proxy-real-ip-cidr`", by("proxy-real-ip-cidr")},
	{"proxy-protocol-forwarded", "`use-proxy-protocol` with `use-forwarded-headers`", setup(func(c *controller) bool { return c.on("use-proxy-protocol") && c.on("use-forwarded-headers") })},
	{"relative-redirect-scheme", "a relative redirect, or `app-root`, behind", quiet(func(f *facts) bool { return f.setting("use-forwarded-headers") == "true" && f.asks("app-root") })},
	{"forwarded-proto-list", "a list in X-Forwarded-Proto", set("use-forwarded-headers")},
}

// streamRows are about TCP, UDP and TLS that is passed through.
var streamRows = []row{
	{"stream-entry", "an entry of the ConfigMaps with a mistake", because(model.InvalidValue).on("ConfigMap").that(": nothing listens on this port")},
	{"stream-words", "a word other than PROXY, or a fifth field", untold(inFinding)},
	{"stream-port-twice", "two keys for one port", untold(inFinding)},
	{"stream-port-busy", "a port that something else listens on", untold(operation)},
	{"stream-proxy-header", "the client in an accepted PROXY header", setup(func(c *controller) bool { return c.streams })},
	{"stream-endpoints", "a change of endpoints", setup(func(c *controller) bool { return c.streams })},
	{"stream-external-name", "an ExternalName that is a DNS name", untold(inFinding)},
	{"passthrough-hosts", "`ssl-passthrough` of a wildcard host", quiet(func(f *facts) bool {
		return f.asks("ssl-passthrough") && (f.value("server-alias") != "" || f.anyPath(func(p path) bool { return strings.HasPrefix(p.host, "*") }))
	})},
	{"passthrough-case", "upper case in the name that a client asks for", untold(byRequest)},
	{"passthrough-root", "`ssl-passthrough` of an Ingress that has not", by("ssl-passthrough").that("rule for /", "want the rule")},
	{"passthrough-denied", "an Ingress that is denied for a bad value", quiet(func(f *facts) bool { return f.denied && f.asks("ssl-passthrough") })},
	{"passthrough-protected", "`ssl-passthrough` of a host on which something", by("ssl-passthrough").that("its TLS ends here")},
	{"passthrough-paths", "paths of a host that is passed through", by("spec.rules*").that("served over plain HTTP only").same()},
	{"passthrough-off", "`ssl-passthrough` without `--enable-ssl-passthrough`", by("ssl-passthrough").that("--enable-ssl-passthrough").same()},
	{"passthrough-address", "the address of the client of other hosts over HTTPS", setup(func(c *controller) bool { return c.options.Passthrough })},
	{"passthrough-endpoints", "where TLS is passed on to", quiet(func(f *facts) bool { return f.options.Passthrough && f.asks("ssl-passthrough") })},
	{"passthrough-port", "`--ssl-passthrough-proxy-port`", flagged("ssl-passthrough-proxy-port")},
	{"passthrough-proxy-port", "the port that a PROXY header names", setup(func(c *controller) bool { return c.options.Passthrough && c.on("use-proxy-protocol") })},
}

// classRows are about classes.
var classRows = []row{
	{"class-both", "field and legacy annotation name different", because(model.Ambiguous).in("spec.ingressClassName")},
	{"class-list", "`--ingress-class` with several names", setup(func(c *controller) bool { return len(c.options.IngressClasses) > 1 })},
	{"namespace-annotations", "annotations of a Namespace", because(model.Fixed)},
	{"class-parameters", "`spec.parameters` of an IngressClass", setup(func(c *controller) bool {
		return c.anyClass(func(class *networkingv1.IngressClass) bool {
			return class.Spec.Parameters != nil && class.Spec.Controller == c.options.ControllerClass
		})
	})},
	{"class-by-name-alone", "`spec.ingressClassName` with a name of `--ingress-class`", because(translate.Classless).in(translate.ClassField)},
	{"class-unreadable", "IngressClasses cannot be read", untold(operation)},
	{"class-late", "an IngressClass that is made after its Ingresses", untold(operation)},
	{"class-default", "an Ingress without a class in manifests", untold(nothingChanges)},
}
