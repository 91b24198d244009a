package migrate

import (
	"regexp"
	"strings"

	"sluice/internal/lint"
	"sluice/internal/model"
)

// settingSnippets are the snippets of the ConfigMap without which all paths return 503.
const settingSnippets = "http-snippet server-snippet location-snippet"

// patternLocation is the beginning of a location with a pattern.
var patternLocation = regexp.MustCompile(`\blocation\s+~`)

// ownHeader sets a header for backends that Sluice sets, too: see templates/headers.tmpl.
var ownHeader = regexp.MustCompile(`\bproxy_set_header\s+["']?(?i:host|connection|upgrade|proxy|early-data|x-(?:real-ip|request-id|scheme|original-uri|(?:original-)?forwarded-[a-z]+))["']?\s`)

// accessRows are about authentication and snippets.
var accessRows = []row{
	{"auth-digest", "`auth-type: digest`", by("auth-type").that("gone for good")},
	{"auth-type-word", "`auth-type` with another word than", by("auth-type")},
	{"auth-options", "a bad value of `auth-signin`", by("auth-signin auth-request-redirect auth-always-set-cookie")},
	{"auth-host", "`auth-url` whose host has another variable", by("auth-url").that("host")},
	{"auth-variables", "`auth-url` with `$uri` or `$args`", by("auth-url").that("$uri", "$args")},
	{"auth-inward", "`auth-url` that leads to this machine", by("auth-url").that("leads to")},
	{"auth-no-path", "`auth-url` without a path", quiet(func(f *facts) bool {
		_, rest, _ := strings.Cut(f.value("auth-url"), "://")
		return rest != "" && !strings.Contains(rest, "/")
	})},
	{"auth-response-headers", "`auth-response-headers` with a header", by("auth-response-headers")},
	{"auth-client-headers", "`X-Forwarded-Host`, `X-Forwarded-Port`", untold(byRequest)},
	{"auth-proxy-header", "the header `Proxy` of a client", untold(byRequest)},
	{"auth-accel", "`X-Accel-Redirect` in the answer", untold(byAnswer)},
	{"auth-connections", "the connection to a server that authenticates", asked("auth-url").unless("auth-keepalive")},
	{"auth-mirror", "headers of `auth-response-headers` on copies", asked("auth-response-headers").with("mirror-target")},
	{"question-forwarded", "`X-Original-Forwarded-For` in the questions of", asked("auth-url")},
	{"auth-cache-key", "a key of kept answers", asked("auth-cache-key")},
	{"auth-cache-key-bad", "`auth-cache-key` that is not valid", by("auth-cache-key").same()},
	{"auth-cache-duration", "`auth-cache-duration` that is not valid", by("auth-cache-duration")},
	{"global-auth-cache-duration", "`global-auth-cache-duration` that is not valid", by("global-auth-cache-duration")},
	{"auth-cache-size", "a cache for all namespaces", asked("auth-cache-key")},
	{"auth-cache-body", "kept answers with a body over", untold(byAnswer)},
	{"auth-cookies", "several `Set-Cookie` of a server that authenticates", asked("auth-url")},
	{"auth-keepalive", "`auth-keepalive`", asked("auth-keepalive")},
	{"auth-snippet-taken", "`auth_request_set` with a header of the answer in", quiet(func(f *facts) bool { return strings.Contains(f.value("auth-snippet"), "auth_request_set") })},
	{"auth-snippet-leads", "`auth-snippet` with `error_page`", by("auth-snippet").that("another path")},
	{"auth-snippet-variables", "`auth-snippet` that sets variables", by("auth-snippet")},
	{"auth-snippet-key", "variables in `auth-snippet` beside", asked("auth-snippet").with("auth-cache-key")},
	{"global-auth-bad", "`global-auth-url` that is not valid", by("global-auth-url")},
	{"global-auth-headers", "`global-auth-response-headers` with a name", by("global-auth-response-headers")},
	{"no-auth-locations", "`no-auth-locations` and a broken", quiet(func(f *facts) bool { return f.closes("auth-*") && f.anyPath(f.isExempt) })},
	{"auth-realm-off", "`auth-realm: \"off\"`", by("auth-realm").that("off")},
	{"password-cost", "a hash of a password that costs more", by("auth-secret auth-type").that("password-hash-max-cost", "costs")},
	{"password-rate", "requests with a password to a path with a hash", untold(otherObject)},
	{"users-none", "a file of users without a user", by("auth-secret").that("a user").denying()},

	{"setting-snippets", "`http-snippet`, `server-snippet` or `location-snippet` of the ConfigMap that nginx rejects", because(model.InvalidValue).in(settingSnippets).on("ConfigMap")},
	{"files", "files that snippets and settings let nginx write", because(lint.Disk).that("nginx cannot write there", "nginx does not make", "max_size")},
	{"setting-snippets-reach", "snippets of the ConfigMap that take nginx over", by(settingSnippets+" main-snippet stream-snippet").on("ConfigMap").that(
		"on which others depend", "a block of Lua", "that Sluice writes, by other settings", "that others can write", "needs for itself", "decides which requests come", "is a location of Sluice", "at which nginx takes its backends",
	)},
	{"setting-snippets-class", "snippets in the ConfigMap of a class", because(model.Unsupported).in("*-snippet").on("ConfigMap").that("one for the whole nginx")},
	{"setting-snippet-location", "a location in the `server-snippet` of the ConfigMap", because(model.Refused).in("spec.rules*").that("the server-snippet of ConfigMap")},
	{"setting-snippet-patterns", "patterns in the `server-snippet` of the ConfigMap", setup(func(c *controller) bool { return patternLocation.MatchString(c.data["server-snippet"]) })},
	{"setting-snippet-own-headers", "`proxy_set_header` in `http-snippet` with a header that Sluice sets itself, such as `X-Scheme`", setup(func(c *controller) bool { return ownHeader.MatchString(c.data["http-snippet"]) })},
	{"setting-snippet-headers", "headers of `add_header` and `proxy_set_header` in `http-snippet`", setup(func(c *controller) bool {
		return containsAny(c.data["http-snippet"]+c.data["server-snippet"], "add_header", "proxy_set_header")
	})},
	{"word-blocklist", "`annotation-value-word-blocklist`", because(model.Unsupported).that("annotation-value-word-blocklist forbids it").fix("Write a value without the word.")},
	{"snippet-off", "a snippet where snippets are not allowed", by("*-snippet").that("allow-snippet-annotations", "is followed only where").fix(allowSnippets)},
	{"server-snippet-later", "a later `server-snippet` of a host", by("server-snippet").that("as it is older")},
	{"server-snippet-directives", "a `server-snippet` with `listen`", by("server-snippet")},
	{"server-snippet-heirs", "a `server-snippet` with other directives", because(model.CrossNamespace).in("server-snippet").that("of other namespaces, ")},
	{"server-snippet-joined", "an Ingress of another namespace on a host, younger", because(model.Conflict).in("spec.rules*").that("so that only those of namespace")},
	{"server-snippet-subrequests", "`if`, `return`, `rewrite` and `error_page` of a `server-snippet`", quiet(func(f *facts) bool { return f.asks("server-snippet") && f.asks("auth-url mirror-target") })},
	{"server-snippet-others", "a `server-snippet` of a rule without a host", by("server-snippet").that("without a host", "is the oldest", "whose Ingress")},
	{"stream-snippet", "a `stream-snippet` with other directives", by("stream-snippet").on("Ingress")},
	{"snippet-open", "a snippet that is not closed", because(model.InvalidValue).in("configuration-snippet server-snippet").denying().fix("Sluice cannot check this snippet, also where snippets are allowed. Move it into the backend, or leave this Ingress with ingress-nginx for now.")},
	{"snippet-borrowed", "`$balancer_ewma_score`, `$cors`, `$target`", quiet(func(f *facts) bool {
		return f.snippetReads("balancer_ewma_score", "cors", "target", "cache_key", "tmp_cache_key")
	})},
	{"snippet-trace", "`$opentelemetry_span_id` and", quiet(func(f *facts) bool {
		return f.snippetReads("opentelemetry_span_id", "opentelemetry_context_traceparent")
	})},
	{"snippet-variables", "a snippet that sets a variable of Sluice", by("configuration-snippet server-snippet").that("variable")},
	{"snippet-headers", "a header of `proxy_set_header` in a snippet", quiet(func(f *facts) bool { return strings.Contains(f.value("configuration-snippet"), "proxy_set_header") })},
	{"exempt-below", "a path of `no-auth-locations` or", quiet((*facts).looksExempt)},
	{"snippet-redirect", "a snippet with `break` or `rewrite`", quiet(func(f *facts) bool {
		return f.hasTLS() && containsAny(f.value("configuration-snippet"), "break", "rewrite")
	})},
}
