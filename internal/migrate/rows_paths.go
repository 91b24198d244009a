package migrate

import (
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// pathRows are about paths, hosts and their further names.
var pathRows = []row{
	{"prefix-slash", "Prefix `/foo/`, request `/foo`", quiet(func(f *facts) bool {
		return f.anyPath(func(p path) bool { return p.is("Prefix") && p.endsInSlash() && !f.hasWithoutSlash(p) })
	})},
	{"exact-slash", "Exact `/foo/` only, request `/foo`", quiet(func(f *facts) bool {
		return f.setting("trailing-slash-redirect") != "true" && f.anyPath(func(p path) bool { return p.is("Exact") && p.endsInSlash() && !f.hasWithoutSlash(p) })
	}).fix(`Set trailing-slash-redirect: "true" in the ConfigMap to keep the redirect, or add a rule for the path without the slash.`)},
	{"path-encoded", "percent-encoded Exact and Prefix paths", quiet(func(f *facts) bool {
		return f.anyPath(func(p path) bool { return !p.pattern && strings.Contains(p.text, "%") })
	})},
	{"path-impossible", "paths that nginx can never match", by("spec.rules*").that("want a path without //", "no request reaches it").same()},
	{"prefix-twice", "Prefix `/foo` and `/foo/` on one host", untold(stopsOthers)},
	{"exact-thrice", "an Exact path for the third time", untold(stopsOthers)},
	{"pattern-neighbour", "a neighbour's path that does not compile", untold(stopsOthers)},
	{"pattern-doubt", "a neighbour's path of which nobody can tell", by("spec.rules*").that("certainly is a regular expression")},
	{"pattern-exact-root", "an Exact path `/` on a host whose paths are patterns", quiet(func(f *facts) bool {
		return f.anyPath(func(p path) bool { return p.kind == "Exact" && p.text == "/" && p.pattern })
	})},
	{"refused-protects", "an Ingress that nginx refuses, that protects", untold(operation)},
	{"geoip-off", "a variable `$geoip_*`, or `$geoip2_*` without", because(model.Refused).that("the setting use-geoip2")},
	{"pattern-refused", "a pattern, ciphers, a variable or anything else that nginx refuses of an Ingress", by("spec.rules*").that("cannot be written to nginx.conf", "does not compile")},
	{"pattern-groups", "a pattern whose groups cannot be told", by("spec.rules*").that("want a regular expression")},
	{"health-labels", "the health path on a host with a wildcard", quiet(func(f *facts) bool {
		return f.anyPath(func(p path) bool { return strings.HasPrefix(p.host, "*.") && p.text == f.healthPath })
	})},
	{"health-below", "what begins with the health path", quiet(func(f *facts) bool {
		return f.ingress.Spec.DefaultBackend != nil || f.anyPath(func(p path) bool { return p.host == "" && p.text == "/" })
	})},
	{"health-address", "the health path for an IP address", untold(byRequest)},
	{"pattern-steps", "a pattern that PCRE takes long for", quiet(func(f *facts) bool {
		return f.anyLocation(func(l *model.Location) bool { return l.Modifier == model.Pattern && pcre.Hard(l.Path) })
	}).fix("Write the pattern so that it has one long repetition at most, or set pcre-match-limit in the ConfigMap.")},
	{"patterns-share", "more than 10 patterns of a namespace", because(model.NoRoom).in("spec.rules*")},
	{"catch-all-closed", "an Ingress with rules that `--disable-catch-all`", by("spec.defaultBackend").that("--disable-catch-all")},
	{"path-closed", "any of these (`//`, a bad escape", by("spec.rules*").that("want a path", "want two hexadecimal digits").denying()},
	{"unserved-first", "a path that nobody serves, on a host whose", untold(byRequest)},
	{"default-beside-rules", "`spec.defaultBackend` beside rules without a host", quiet(func(f *facts) bool {
		return f.ingress.Spec.DefaultBackend != nil && hostless(f.ingress)
	})},
	{"rewrite-same", "a `rewrite-target` that equals a Prefix path", quiet(func(f *facts) bool {
		return f.anyPath(func(p path) bool {
			return !p.is("Exact") && p.text != "/" && !p.endsInSlash() && p.text == f.value("rewrite-target") && f.value("use-regex") != "true"
		})
	})},
	{"rewrite-invalid", "a rewrite that is invalid", by("rewrite-target")},
	{"conflict", "the loser of a conflict", because(model.Conflict).same()},
	{"http10-no-host", "an HTTP/1.0 request without Host", untold(byRequest)},
	{"regex-scope", "`regex-scope: path`", untold(onlySluice)},

	{"alias-taken", "a name that two hosts ask for", by("server-alias").that("is the host of", "is an alias that").same()},
	{"alias-later", "a later Ingress of a host with other names", by("server-alias").that("decides the aliases").same()},
	{"alias-case", "upper case in a name", untold(nothingChanges)},
	{"alias-characters", "characters that are neither of a name", by("server-alias").that("want names", "want a name")},
	{"alias-closed", "the same, of an Ingress that protects its paths", by("server-alias").denying()},
	{"alias-yields", "a wildcard or pattern that stands for names of", quiet(func(f *facts) bool { return !f.has("server-alias") && f.sharesAliases() })},
	{"alias-slow", "a pattern that Go does not take too", by("server-alias").that("regular expression", "pattern that", "repetition")},
	{"alias-many", "more than 4 patterns in an Ingress", by("server-alias").that("patterns in")},
	{"alias-dot", "`.name`", untold(nothingChanges)},
}
