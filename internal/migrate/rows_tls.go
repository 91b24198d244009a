package migrate

import (
	"encoding/base64"
	"strings"

	"sluice/internal/model"
)

// logRows are about logs.
var logRows = []row{
	{"profiling", "`--profiling`", flagged("profiling")},
	{"shutdown-grace", "`--shutdown-grace-period`", untold(operation)},
	{"log-path", "`access-log-path`, `http-access-log-path`, `error-log-path` outside", by("access-log-path http-access-log-path stream-access-log-path error-log-path")},
	{"log-stderr", "an access log on `/dev/stderr`", by("access-log-path http-access-log-path stream-access-log-path").that("/dev/stderr")},
	{"log-volume", "no `access-log-path`, and a volume", untold(otherObject)},
	{"log-file", "a log file that cannot be opened", untold(operation)},
	{"error-log", "`error-log-path`, `enable-syslog`", set("error-log-path enable-syslog")},
	{"syslog-host", "a host name in `syslog-host`", by("syslog-host")},
	{"log-utf8", "values in an access log with `log-format-escape-json`", set("log-format-escape-json")},
	{"log-variable", "a variable that does not exist in", by("log-format-upstream log-format-stream")},
	{"log-skip", "a group with a name in `skip-access-log-urls`", by("skip-access-log-urls")},
}

// metricRows are about metrics.
var metricRows = []row{
	{"metrics-wildcard", "requests for a name of a wildcard host, in metrics", untold(metricsOnly)},
	{"metrics-hostless", "requests of an Ingress without a host, in metrics", untold(metricsOnly)},
	{"metrics-too-large", "bodies that are too large (413), in metrics", untold(metricsOnly)},
	{"metrics-server-snippet", "what a server snippet returns, in metrics", untold(metricsOnly)},
	{"metrics-method", "a method that HTTP does not define, in metrics", untold(metricsOnly)},
	{"metrics-tries", "the durations of a request with several tries at pods, in metrics", untold(metricsOnly)},
	{"metrics-long", "a long path, or issuer of a certificate, in metrics", untold(metricsOnly)},
	{"metrics-series", "the number of series of requests", untold(metricsOnly)},
}

// tlsRows are about TLS and reloads.
var tlsRows = []row{
	{"tracing", "`enable-opentelemetry`", given("enable-opentelemetry")},
	{"span-name", "default name of a span", when{
		quiet: func(f *facts) bool {
			return f.value("enable-opentelemetry") == "true" && f.inForce("opentelemetry-operation-name") == ""
		},
		controller: func(c *controller) bool {
			return c.on("enable-opentelemetry") && !c.given("opentelemetry-operation-name")
		},
	}},
	{"tracing-unmatched", "requests that no Ingress takes, with", setup(func(c *controller) bool { return c.on("enable-opentelemetry") })},
	{"tracing-collector", "`enable-opentelemetry: \"true\"` in the settings", by("enable-opentelemetry").on("ConfigMap")},
	{"opentelemetry-config", "`opentelemetry-config`", by("opentelemetry-config")},
	{"http3", "`use-http3`", untold(onlySluice)},
	{"status-proxy", "`/nginx_status` behind a proxy", untold(operation)},
	{"status-bad", "a bad `nginx-status-ipv4-whitelist`", by("nginx-status-ipv4-whitelist nginx-status-ipv6-whitelist").on("ConfigMap")},
	{"status-below", "paths below `/nginx_status`", untold(operation)},
	{"certificate-namespace", "`tls-cert-namespace`", untold(onlySluice)},
	{"backend-secret-namespace", "`proxy-ssl-secret` and others of another namespace", by("proxy-ssl-secret auth-secret auth-ssl-secret auth-proxy-set-headers").that("delegated").denying()},
	{"backend-key", "the key of `proxy-ssl-secret`", asked("proxy-ssl-secret")},
	{"client-authority", "`auth-tls-secret` that is missing, broken", by("auth-tls-secret").denying()},
	{"client-plain", "`auth-tls-secret` over plain HTTP", quiet(func(f *facts) bool {
		return f.asks("auth-tls-secret") && f.inForce("ssl-redirect") == "false" && f.inForce("force-ssl-redirect") != "true"
	})},
	{"client-hostless", "`auth-tls-secret` in a rule without a host", quiet(func(f *facts) bool { return f.asks("auth-tls-secret") && hostless(f.ingress) })},
	{"client-later", "a later Ingress of a host with another `auth-tls-secret`", by("auth-tls-*").that("verifies the clients", "as it is older")},
	{"client-error-page", "`auth-tls-error-page` with a host", by("auth-tls-error-page")},
	{"client-name", "`auth-tls-match-cn` with names", by("auth-tls-match-cn")},
	{"client-name-text", "the text of the 403 of `auth-tls-match-cn`", asked("auth-tls-match-cn")},
	{"client-sessions", "TLS sessions of hosts with `auth-tls-secret`", asked("auth-tls-secret")},
	{"ocsp", "`enable-ocsp`", setup(func(c *controller) bool { return c.on("enable-ocsp") })},
	{"ocsp-inward", "an OCSP responder on this machine", untold(otherObject)},
	{"ticket-key", "`ssl-session-ticket-key`", setup(func(c *controller) bool { return c.given("ssl-session-ticket-key") && c.on("ssl-session-tickets") })},
	{"ticket-key-bad", "`ssl-session-ticket-key` of another size", because(model.InvalidValue).in("ssl-session-ticket-key").on("ConfigMap")},
	{"ticket-key-short", "`ssl-session-ticket-key` of 48 bytes", setup(func(c *controller) bool {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(c.data["ssl-session-ticket-key"]))
		return err == nil && len(key) == 48 && c.on("ssl-session-tickets")
	})},
	{"early-data", "a request in early data", setup(func(c *controller) bool { return c.on("ssl-early-data") })},
	{"dh-param-bad", "`ssl-dh-param` with parameters", because(model.InvalidValue).in("ssl-dh-param").on("ConfigMap").that("dhparam.pem")},
	{"chain-completion", "`--enable-ssl-chain-completion`", flagged("enable-ssl-chain-completion")},
	{"ciphers-hostless", "`ssl-ciphers` in a rule without a host", by("ssl-ciphers").that("without a host")},
	{"ciphers-later", "`ssl-ciphers` of two Ingresses", by("ssl-ciphers").that("as it is older").same()},
	{"crossing", "an Ingress that turns into patterns", because(model.CrossNamespace).same()},
	{"host-ownership", "`host-ownership: namespace`", because(model.NotDelegated)},
	{"certificate-older", "an older Ingress decides the certificate", by("spec.tls*").that("is older and decides").same()},
	{"chain-long", "a chain of certificates over 64 kB", by("spec.tls*").that("64 kB", "65536")},
	{"bounds", "a namespace with very many hosts or paths", by("spec.rules").that("lets a namespace have", "lets namespace")},
	{"room", "more certificates or endpoints than fit", because(model.NoRoom)},
	{"dictionaries", "`lua-shared-dicts`", set("lua-shared-dicts")},
	{"hsts-errors", "redirects and errors over HTTPS", always()},
	{"path-long", "a path that is too long for nginx", by("spec.rules*").that("want a path of at most")},
	{"reload-bad", "a reload with a bad Ingress present", untold(operation)},
}

// statusRows are about the status of Ingresses and events.
var statusRows = []row{
	{"status-ports", "ports in `status.loadBalancer.ingress`", always()},
	{"status-apply", "how the status is written", always()},
	{"status-rival", "another controller that writes the status too", untold(operation)},
	{"status-gone", "all addresses are gone for a while", untold(operation)},
	{"status-nodes", "a node with several addresses", untold(operation)},
	{"status-nodes-unread", "nodes that may not be read", untold(operation)},
	{"status-end", "the last replica ends", untold(operation)},
	{"status-end-nodes", "the last replica ends, with several", untold(operation)},
	{"events-sync", "events of type Normal, reason Sync", always()},
	{"events", "events of mistakes", always()},
}
