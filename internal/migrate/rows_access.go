package migrate

import "strings"

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
	{"auth-accel", "`X-Accel-Redirect` in the answer", untold(byAnswer)},
	{"auth-connections", "the connection to a server that authenticates", asked("auth-url").unless("auth-keepalive")},
	{"auth-mirror", "headers of `auth-response-headers` on copies", asked("auth-response-headers").with("mirror-target")},
	{"auth-cache-key", "a key of kept answers", asked("auth-cache-key")},
	{"auth-cache-key-bad", "`auth-cache-key` that is not valid", by("auth-cache-key").same()},
	{"auth-cache-duration", "`auth-cache-duration` with letters", by("auth-cache-duration")},
	{"auth-cache-size", "a cache for all namespaces", asked("auth-cache-key")},
	{"auth-cache-body", "kept answers with a body over", untold(byAnswer)},
	{"auth-keepalive", "`auth-keepalive`", asked("auth-keepalive")},
	{"auth-snippet-variables", "`auth-snippet` that sets variables", by("auth-snippet")},
	{"auth-snippet-key", "variables in `auth-snippet` beside", asked("auth-snippet").with("auth-cache-key")},
	{"global-auth-bad", "`global-auth-url` that is not valid", by("global-auth-url")},
	{"global-auth-headers", "`global-auth-response-headers` with a name", by("global-auth-response-headers")},
	{"no-auth-locations", "`no-auth-locations` and a broken", quiet(func(f *facts) bool { return f.denied && f.setting("global-auth-url") != "" })},
	{"auth-realm-off", "`auth-realm: \"off\"`", by("auth-realm").that("off")},
	{"password-cost", "a hash of a password that costs more", by("auth-secret auth-type").that("password-hash-max-cost", "costs")},
	{"password-rate", "requests with a password to a path with a hash", untold(otherObject)},
	{"users-none", "a file of users without a user", by("auth-secret").that("user").denying()},

	{"setting-snippets", "`server-snippet`, `location-snippet`, `http-snippet`", by("server-snippet location-snippet http-snippet main-snippet").on("ConfigMap")},
	{"snippet-off", "a snippet where snippets are not allowed", by("*-snippet").that("allow-snippet-annotations", "is followed only where")},
	{"server-snippet-later", "a later `server-snippet` of a host", by("server-snippet").that("as it is older")},
	{"server-snippet-directives", "a `server-snippet` with other directives", by("server-snippet")},
	{"server-snippet-others", "a `server-snippet` of a rule without a host", by("server-snippet").that("without a host", "is the oldest", "whose Ingress")},
	{"stream-snippet", "a `stream-snippet` with other directives", by("stream-snippet")},
	{"snippet-open", "a snippet that is not closed", by("configuration-snippet server-snippet").denying()},
	{"snippet-variables", "a snippet that sets a variable of Sluice", by("configuration-snippet server-snippet").that("variable")},
	{"snippet-headers", "a header of `proxy_set_header` in a snippet", quiet(func(f *facts) bool { return strings.Contains(f.value("configuration-snippet"), "proxy_set_header") })},
	{"snippet-redirect", "a snippet with `break` or `rewrite`", quiet(func(f *facts) bool {
		return f.hasTLS() && containsAny(f.value("configuration-snippet"), "break", "rewrite")
	})},
}
