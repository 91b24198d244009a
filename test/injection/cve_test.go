package injection

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/snapshot"
	"sluice/test/guarded"
)

// Each test replays one class of vulnerability of ingress-nginx, or of another
// controller, as it would reach Sluice. The numbers are those of cve.org.

// attacked is what became of the world once an Ingress of it had been changed.
type attacked struct {
	outcome
	list []*directive
}

// attack changes the Ingress rich, whose first host is shop.example.
func attack(t *testing.T, change func(*networkingv1.Ingress)) attacked {
	t.Helper()
	objects := sharedWorld(t)
	objects.Ingresses = slices.Clone(objects.Ingresses)
	for i, ing := range objects.Ingresses {
		if ing.Name == "rich" {
			objects.Ingresses[i] = ing.DeepCopy()
			change(objects.Ingresses[i])
		}
	}
	w, back := borrow(t)
	defer back()
	o := w.run(objects)
	for _, line := range guarded.NewMemo().Open(o.snap, o.options, o.config.Static.Servers, o.problems) {
		t.Error("open is " + line)
	}
	a := attacked{outcome: o, list: o.tree(t)}
	grammar := benign(t).ingresses
	all(a.list, func(d *directive) {
		if !grammar[placeOf(d)] {
			t.Errorf("the file has what no benign one has: %s %.200q", placeOf(d), d.args)
		}
	})
	return a
}

// annotated attacks with annotations.
func annotated(t *testing.T, values map[string]string) attacked {
	t.Helper()
	return attack(t, func(ing *networkingv1.Ingress) {
		for key, value := range values {
			ing.Annotations[annotations.FieldOf(prefix, key)] = value
		}
	})
}

// closed checks that no path of the host is passed on, and that a problem that
// says so names the field.
func (a attacked) closed(t *testing.T, field string) {
	t.Helper()
	server := serverOf(a.list, "shop.example")
	if server == nil || len(find(server.body, "location")) == 0 {
		t.Fatal("the host is not served, so that another server could take it")
	}
	for _, location := range find(server.body, "location") {
		if argument(location.body, "return") != "503" || len(passing(location.body)) > 0 {
			t.Errorf("location %q is open", location.args)
		}
	}
	denies := false
	for _, p := range a.about("Ingress default/rich", field) {
		denies = denies || p.Denies
	}
	if !denies {
		t.Errorf("no problem says that %s closes the paths", field)
	}
}

// refused checks that a problem names the field and the file lacks the text.
func (a attacked) refused(t *testing.T, field, text string) {
	t.Helper()
	if len(a.about("Ingress default/rich", field)) == 0 {
		t.Errorf("no problem names %s", field)
	}
	a.lacks(t, text)
}

func (a attacked) lacks(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(string(a.file.Bytes()), text) {
		t.Errorf("the file holds %q", text)
	}
}

// onPath puts a path in each of the three ways of matching and in a pattern.
func onPath(t *testing.T, path string) []attacked {
	t.Helper()
	var list []attacked
	for at := range 3 {
		list = append(list, attack(t, func(ing *networkingv1.Ingress) { ing.Spec.Rules[0].HTTP.Paths[at].Path = path }))
	}
	return append(list, attack(t, func(ing *networkingv1.Ingress) {
		ing.Annotations[prefix+"use-regex"] = "true"
		ing.Spec.Rules[0].HTTP.Paths[2].Path = path
	}))
}

// onlyLiterally checks that a path is one whole argument of location and rewrite
// directives, or is not there at all and a problem names it.
func (a attacked) onlyLiterally(t *testing.T, path string) {
	t.Helper()
	served := false
	all(a.list, func(d *directive) {
		for _, argument := range append(d.args, d.name) {
			if !strings.Contains(argument, marker) {
				continue
			}
			served = true
			logged := d.name == "set" && d.args[0] == "$location_path"
			if d.name != "location" && d.name != "rewrite" && !logged || !carriesOne(argument, forms(path)) {
				t.Errorf("the path is in %s %q", d.name, d.args)
			}
		}
	})
	if !served && len(a.about("Ingress default/rich", "path")) == 0 {
		t.Errorf("the path %q is neither served nor a problem", path)
	}
}

// A path that ends its location, or points it at files (class F).
func TestCVE2021_25745(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/x { alias /etc/; } " + injected + " location /y", `/x" { alias /etc/; } ` + injected + ` location "/y`, "/x; root /; " + injected, `/x"{root /;}` + injected + ` location "`,
	} {
		for _, a := range onPath(t, path) {
			a.onlyLiterally(t, path)
			all(a.list, func(d *directive) {
				if d.name == "alias" || d.name == "root" && d.path != "http" {
					t.Errorf("the file has %s %q in %s", d.name, d.args, d.path)
				}
			})
		}
	}
}

// The same with a line end, which a list of forbidden words did not see through.
func TestCVE2021_25748(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r", "\r\n", "\x00"} {
		path := "/x" + end + "{ alias /etc/; } " + injected
		for _, a := range onPath(t, path) {
			a.refused(t, "path", marker)
		}
	}
	for _, escaped := range []string{"%0a", "%0D%0A", "%00"} {
		for _, a := range onPath(t, "/x"+escaped+"{ } "+injected)[:3] {
			a.refused(t, "path", marker)
		}
	}
}

// The same with directives that the list of words did not have.
func TestCVE2022_4886(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/x{log_format x escape=none '" + injected + "';}", "/x{ } log_format x " + injected, "/x' { } " + injected, "/x$request_uri; " + injected} {
		for _, a := range onPath(t, path) {
			a.onlyLiterally(t, path)
		}
	}
}

// The same with quotes and backslashes, once paths were quoted.
func TestCVE2026_24512(t *testing.T) {
	t.Parallel()
	for _, path := range []string{`/x" { } ` + injected + ` location "/y`, `/x\" { } ` + injected, `/x\\" { } ` + injected, `/x\\\" { } ` + injected, `/` + injected + `\`, `/` + injected + `\\\`} {
		for _, a := range onPath(t, path) {
			a.onlyLiterally(t, path)
		}
	}
	host := `x.example" ; } ` + injected + ` server { server_name "`
	attack(t, func(ing *networkingv1.Ingress) { ing.Spec.Rules[0].Host = host }).refused(t, "spec.rules[0].host", marker)
}

// A path in a comment of the file, which a line end leaves. There are no comments:
// outcome.tree sees to that for every file of this package.
func TestCVE2026_4342(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/x #\n" + injected, "/x\n" + injected + " #", "/x\u2028" + injected, "/x\u0085" + injected, "/# " + injected} {
		for _, a := range onPath(t, path) {
			a.onlyLiterally(t, path)
		}
	}
	o := newWorker(t).run(worldObjects(t))
	if _, r, err := parse(o.file.Bytes()); err != nil || r.comments != 0 {
		t.Errorf("%d comments, %v", r.comments, err)
	}
}

// Any annotation with what ends a directive.
func TestCVE2021_25746(t *testing.T) {
	t.Parallel()
	for _, key := range annotationKeys() {
		for _, value := range []string{"1; " + injected, "on;\n" + injected, `1"; ` + injected + ` "`, "1 } " + injected + " {"} {
			a := annotated(t, map[string]string{key: value})
			a.refused(t, annotations.FieldOf(prefix, key), marker)
		}
	}
}

// A value that a pattern without anchors, or one that knows one kind of line end
// only, lets pass.
func TestCVE2024_7646(t *testing.T) {
	t.Parallel()
	valid := map[string]string{
		"rewrite-target": "/x", "cors-allow-origin": "https://a.example", "cors-allow-headers": "X-A", "cors-allow-methods": "GET", "cors-expose-headers": "X-A", "proxy-body-size": "1m",
		"proxy-read-timeout": "5", "allowlist-source-range": "127.0.0.1", "proxy-next-upstream": "error", "proxy-next-upstream-tries": "1", "cors-max-age": "1", "enable-cors": "true",
		"permanent-redirect": "https://a.example/", "temporal-redirect": "https://a.example/", "app-root": "/a", "upstream-vhost": "a.example", "server-alias": "a.example",
		"denylist-source-range": "127.0.0.9", "client-body-buffer-size": "8k", "connection-proxy-header": "close",
		"proxy-buffering": "on", "proxy-buffer-size": "8k", "proxy-buffers-number": "8", "proxy-busy-buffers-size": "8k", "proxy-max-temp-file-size": "0", "proxy-request-buffering": "off",
		"proxy-http-version": "1.0", "proxy-cookie-domain": "a.internal a.example", "proxy-cookie-path": "/a /b", "proxy-redirect-from": "/a", "proxy-redirect-to": "/b",
		"relative-redirects": "true", "use-port-in-redirects": "true",
		"upstream-hash-by": "$request_uri", "canary-by-header-pattern": "^a", "load-balance": "ewma", "affinity-canary-behavior": "legacy",
	}
	for key, value := range valid {
		for _, end := range []string{"\n", "\r", "\r\n", "\u0085", "\u2028", "\v", "\x00", "\\n", ";", " ;", "#"} {
			a := annotated(t, map[string]string{key: value + end + injected})
			a.refused(t, prefix+key, marker)
			a = annotated(t, map[string]string{key: injected + end + value})
			a.refused(t, prefix+key, marker)
		}
	}
}

// rewrite-target with a quote, together with a path.
func TestCVE2026_3288(t *testing.T) {
	t.Parallel()
	for _, target := range []string{`/$1" break; ` + injected + ` rewrite "x`, `/x"; ` + injected, `/\"; ` + injected, `/x${` + injected + `}`, "/x\n" + injected} {
		annotated(t, map[string]string{"rewrite-target": target, "use-regex": "true"}).refused(t, prefix+"rewrite-target", marker)
	}
}

// An unnamed capture together with "?" in what a rewrite gives: a heap overflow
// in nginx up to 1.30.0. No such rewrite may be written.
func TestCVE2026_42945(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/$1?x=$2", "/?$1", "/x?", "/$1%3f$2?"} {
		a := annotated(t, map[string]string{"rewrite-target": target, "use-regex": "true"})
		a.refused(t, prefix+"rewrite-target", target)
		all(a.list, func(d *directive) {
			if d.name == "rewrite" && strings.Contains(d.args[1], "?") {
				t.Errorf("rewrite %q", d.args)
			}
		})
	}
}

// Snippets are off, and an Ingress that relies on one does not go without.
func TestCVE2021_25742(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"configuration-snippet", "server-snippet", "auth-snippet", "modsecurity-snippet"} {
		a := annotated(t, map[string]string{key: injected})
		a.closed(t, key)
		a.lacks(t, marker)
	}
	a := annotated(t, map[string]string{"stream-snippet": injected})
	a.refused(t, "stream-snippet", marker)
}

// A snippet of ModSecurity must not end its token, run programs, or touch files.
func TestModSecuritySnippets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"SecRuleEngine On';\n" + marker + "; #", "SecRuleEngine On\n\"; " + marker + "; #", "Include /" + marker, "SecAuditLog /" + marker, "SecDebugLog /" + marker,
		"SecRule ARGS \"@inspectFile /" + marker + "\" \"id:1,phase:1\"", "SecAction \"id:1,phase:1,exec:/" + marker + "\"", "SecRemoteRules key https://" + marker,
		"SecRule ARGS \"a\\\\\" \"id:1,exec:/" + marker + "\"", "SecRule ARGS \"a\" \"id:1,msg:'x\\',exec:/" + marker + ",msg:'y'\"",
	} {
		a := attack(t, func(ing *networkingv1.Ingress) {
			ing.Annotations[prefix+"enable-modsecurity"], ing.Annotations[prefix+"modsecurity-snippet"] = "true", text
		})
		a.closed(t, "modsecurity-snippet")
		a.lacks(t, marker)
	}
}

// The same with what an attacker ran through configuration-snippet.
func TestCVE2023_5043(t *testing.T) {
	t.Parallel()
	a := annotated(t, map[string]string{"configuration-snippet": "content_by_lua_block { os.execute('id') }"})
	a.closed(t, "configuration-snippet")
	a.lacks(t, "os.execute")
}

func TestCVE2023_5044(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"permanent-redirect", "temporal-redirect", "app-root"} {
		for _, end := range []string{"; } ", "\"; } ", "\n}", "\r\n\r\n", "$x; ", "${x}; ", "#"} {
			annotated(t, map[string]string{key: "https://x/" + end + injected}).refused(t, prefix+key, marker)
			annotated(t, map[string]string{key: "/x" + end + injected}).refused(t, prefix+key, marker)
		}
	}
}

// A URL of the server that authenticates which ends its directive. Where it cannot be
// asked as it is written, nobody passes.
func TestCVE2025_24514(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"http://x/#;}\n}\n" + injected, `http://x/"; ` + injected, "http://x/\r\n" + injected, "http://x/;}" + injected, "http://x/{" + injected + "}", `http://x/\"` + injected, "http://x/' " + injected, "http://x/# " + injected,
		"http://x/$lua_" + marker, "http://x/${" + marker + "}", "http://x/$" + marker, "http://$" + marker + "/", "http://$host$" + marker + "/", "http://$host." + marker + "/;", "unix:/run/" + marker + ":/", "http://unix:/" + marker,
		"http://x@" + marker + "/", "http://127.0.0.1/" + marker, "http://[::1]/" + marker, "http://localhost/" + marker, "http://0x7f.1/" + marker, marker,
	} {
		a := annotated(t, map[string]string{"auth-url": url})
		a.closed(t, "auth-url")
		a.lacks(t, marker)
	}
	for _, key := range []string{"auth-signin", "auth-signin-redirect-param", "auth-request-redirect", "auth-response-headers", "auth-always-set-cookie"} {
		for _, value := range []string{"/x; " + injected, "/x\n" + injected, `/x" ` + injected, "/x}" + injected, "$lua_" + marker} {
			a := annotated(t, map[string]string{"auth-url": "http://auth.example/", "auth-signin": "/start", key: value})
			if key == "auth-response-headers" { // without them, a backend could believe the client
				a.closed(t, key)
			} else {
				a.asked(t)
			}
			a.lacks(t, marker)
		}
	}
	annotated(t, map[string]string{"auth-url": "http://auth.example/"}).asked(t)
}

// The same text in the key and the times of kept answers. The server is asked all the same.
func TestCVE2025_24514InKeptAnswers(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"$host; " + injected, "x\n" + injected, `x" ` + injected, "x}" + injected, "$lua_" + marker, "$" + marker, "${" + marker, "x' " + injected, "x\\" + injected} {
		a := annotated(t, map[string]string{"auth-url": "http://auth.example/", "auth-cache-key": value})
		a.asked(t)
		all(a.list, func(d *directive) { // a valid key is one quoted argument
			if strings.Contains(d.name, marker) {
				t.Errorf("%q: %s %q", value, d.name, d.args)
			}
		})
		a = annotated(t, map[string]string{"auth-url": "http://auth.example/", "auth-cache-key": "$host", "auth-cache-duration": "200 5m, " + value})
		a.asked(t)
		a.lacks(t, marker)
	}
}

// Protections that count together fail closed: that another one would be enough does not
// open what a broken one protects.
func TestAnyOfBrokenProtectionsFailsClosed(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"auth-type": "basic", "auth-url": "nonsense", "auth-tls-secret": "default/missing", "denylist-source-range": "nonsense", "allowlist-source-range": "nonsense", "auth-ssl-secret": "default/authority",
	} {
		attack(t, func(ing *networkingv1.Ingress) {
			ing.Annotations[prefix+"satisfy"], ing.Annotations[prefix+key] = "any", value
		}).closed(t, key)
	}
	attack(t, func(ing *networkingv1.Ingress) { ing.Annotations[prefix+"satisfy"] = "any; " + injected }).lacks(t, marker)
}

// A server for all Ingresses that cannot be asked as it is written closes them.
func TestGlobalAuthenticationFailsClosed(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"global-auth-url": "auth.example/check", "global-auth-method": "GET; " + injected, "global-auth-response-headers": "X-A; " + injected, "global-auth-snippet": "} " + injected,
		"global-auth-uri": "http://auth.example/",
	} {
		data := map[string]string{"global-auth-url": "http://auth.example/", key: value}
		o := newWorker(t).run(withData(little(t), data))
		a := attacked{outcome: o, list: o.tree(t)}
		a.lacks(t, marker)
		for _, location := range find(serverOf(a.list, "pattern.example").body, "location") {
			if len(find(location.body, "proxy_pass")) > 0 {
				t.Errorf("%s %q: location %q is open", key, value, location.args)
			}
		}
	}
	o := newWorker(t).run(withData(little(t), map[string]string{"global-auth-url": "http://auth.example/"}))
	a := attacked{outcome: o, list: o.tree(t)}
	if open := locationsWithout(a, "pattern.example", "auth_request"); len(open) > 0 {
		t.Errorf("open: %q", open)
	}
}

// locationsWithout returns the locations of a host that pass requests on without a
// directive.
func locationsWithout(a attacked, host, name string) []string {
	var open []string
	for _, location := range find(serverOf(a.list, host).body, "location") {
		if len(find(location.body, "proxy_pass")) > 0 && len(find(location.body, "internal")) == 0 && len(find(location.body, name)) == 0 {
			open = append(open, strings.Join(location.args, " "))
		}
	}
	return open
}

// asked checks that each path of the host that is passed on is asked about first.
func (a attacked) asked(t *testing.T) {
	t.Helper()
	passed := 0
	for _, location := range find(serverOf(a.list, "shop.example").body, "location") {
		internal := len(find(location.body, "internal")) > 0
		if len(passing(location.body)) == 0 || internal || isErrorPage(location) {
			continue
		}
		passed++
		if !strings.HasPrefix(argument(location.body, "auth_request"), "/.sluice/auth-") {
			t.Errorf("location %q is open", location.args)
		}
	}
	if passed == 0 {
		t.Error("no location passes anything on")
	}
}

func TestCVE2025_1097(t *testing.T) {
	t.Parallel()
	a := annotated(t, map[string]string{"auth-tls-secret": "default/authority", "auth-tls-match-cn": "CN=abc #(\n){}\n }}\n" + injected + "\n"})
	a.closed(t, "auth-tls")
	a.lacks(t, marker)
	for _, pattern := range []string{
		`CN=abc") { return 200; } ` + injected, `CN=abc\") { } ` + injected, `CN=abc" { ` + injected, "CN=abc; } " + injected, "CN=${host} " + injected, `CN=abc # ` + injected, `CN=abc\`,
		`CN=(?<route>` + marker + `)`, `CN=(?P<host>` + marker + `)`, `CN=(?'backend'` + marker + `)`, "CN=(*NO_AUTO_POSSESS)" + marker, "CN=" + strings.Repeat("(a*)*", 90),
	} {
		a := annotated(t, map[string]string{"auth-tls-secret": "default/clients", "auth-tls-match-cn": pattern})
		all(a.list, func(d *directive) {
			if strings.Contains(strings.Join(d.args, " "), marker) && (d.name != "if" || len(d.args) != 4 || d.args[0] != "($ssl_client_s_dn" || !strings.Contains(d.args[2], pattern)) {
				t.Errorf("%q is in %s %q", pattern, d.name, d.args)
			}
		})
	}
}

// The same by the other annotations of client certificates, of ciphers and of certificates
// for backends.
func TestClientCertificatesAreNotAWayIn(t *testing.T) {
	t.Parallel()
	for key, others := range map[string]map[string]string{
		"auth-tls-secret": nil, "auth-tls-verify-client": {"auth-tls-secret": "default/clients"}, "auth-tls-verify-depth": {"auth-tls-secret": "default/clients"},
		"auth-tls-error-page": {"auth-tls-secret": "default/clients"}, "auth-tls-pass-certificate-to-upstream": {"auth-tls-secret": "default/clients"},
		"ssl-ciphers": nil, "ssl-prefer-server-ciphers": nil,
		"proxy-ssl-ciphers":   {"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/shop"},
		"proxy-ssl-protocols": {"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/shop"},
	} {
		for _, value := range []string{"on; } " + injected, "on\n" + injected, `on" ; ` + injected, "$host" + marker + ";", "/../" + marker, "@miss;" + marker} {
			annotations := map[string]string{key: value}
			for other, text := range others {
				annotations[other] = text
			}
			annotated(t, annotations).refused(t, prefix+key, marker)
		}
	}
}

// A snippet must not read the private key that nginx presents to a backend, nor may the
// value of an annotation name its variable.
func TestPrivateKeyOfBackendsIsNotRead(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"configuration-snippet": `add_header X "${presented_key}";`, "upstream-vhost": "$presented_key", "app-root": "/$presented_key", "permanent-redirect": "https://a/$presented_key",
		"auth-signin": "https://a/$presented_key", "auth-url": "http://a/?k=$presented_key", "x-forwarded-prefix": "/$presented_key", "mirror-target": "http://a/$presented_key",
	} {
		objects := withData(sharedWorld(t), map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical", "log-format-upstream": "$presented_key"})
		objects.Ingresses = slices.Clone(objects.Ingresses)
		for i, ing := range objects.Ingresses {
			if ing.Name == "clients" {
				objects.Ingresses[i] = ing.DeepCopy()
				objects.Ingresses[i].Annotations[prefix+key] = value
			}
		}
		all(newWorker(t).run(objects).tree(t), func(d *directive) {
			if strings.Contains(strings.Join(d.args, " "), "presented_key") && d.name != "set_by_lua_file" && d.name != "proxy_ssl_certificate_key" {
				t.Errorf("%s: %s %q", key, d.name, d.args)
			}
		})
	}
}

// mirror-target, mirror-host, and the UID of the Ingress, which was printed too.
func TestCVE2025_1098(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"mirror-target", "mirror-host"} {
		annotated(t, map[string]string{key: "http://x/\";\n" + injected}).refused(t, prefix+key, marker)
	}
	attack(t, func(ing *networkingv1.Ingress) { ing.UID = "x;\n" + injected }).lacks(t, marker)
	attack(t, func(ing *networkingv1.Ingress) {}).lacks(t, "5e9e4a6c")
}

// The chain that loads a library: ssl_engine or load_module at the top of the
// file. Both are there only where Sluice says so.
func TestCVE2025_1974(t *testing.T) {
	t.Parallel()
	library := "/proc/1/fd/3"
	for _, payload := range []string{"x }}}\nssl_engine " + library + ";\n", "x\"; }}} load_module " + library + ";"} {
		for _, a := range append(onPath(t, "/"+payload), annotated(t, map[string]string{"rewrite-target": "/" + payload, "cors-allow-origin": payload})) {
			for _, name := range []string{"load_module", "ssl_engine", "include"} {
				all(a.list, func(d *directive) {
					if d.name == name && strings.Join(d.args, " ") != printed.Modules[0] {
						t.Errorf("%s %q", d.name, d.args)
					}
				})
			}
		}
	}
}

// Headers for the authentication, from a ConfigMap that an annotation names.
func TestCVE2025_15566(t *testing.T) {
	t.Parallel()
	a := annotated(t, map[string]string{"auth-url": "http://auth.example/", "auth-proxy-set-headers": "default/x;\n" + injected})
	a.closed(t, "auth-proxy-set-headers")
	a.lacks(t, marker)
	for name, value := range map[string]string{
		"X-A": "a\r\nX-B: " + injected, "X-B": `a\"` + "\n" + injected, "X-C": "$" + marker, "X-D": "${" + marker, "X;" + marker: "a", "X-E\n" + marker: "a", "Content-Length": marker, "Transfer-Encoding": marker,
	} {
		objects := worldObjects(t)
		for _, m := range objects.ConfigMaps {
			if m.Name == "questions" {
				m.Data[name] = value
			}
		}
		o := newWorker(t).run(objects)
		a := attacked{outcome: o, list: o.tree(t)}
		for _, location := range find(serverOf(a.list, "authenticated.example").body, "location") {
			if argument(location.body, "return") != "503" {
				t.Errorf("%s %q: location %q is open", name, value, location.args)
			}
		}
		a.lacks(t, marker)
	}
}

func TestCVE2026_1580(t *testing.T) {
	t.Parallel()
	a := annotated(t, map[string]string{"auth-url": "http://auth.example/", "auth-method": "GET;\n" + injected})
	a.closed(t, "auth-method")
	a.lacks(t, marker)
}

// isErrorPage reports whether a location answers in place of an error: it asks for nothing
// but the root of a Service that the world does not protect.
func isErrorPage(location *directive) bool {
	toRoot := func(d *directive) bool {
		return strings.HasSuffix(d.args[0], "^") && d.args[1] == "/" && d.args[2] == "break"
	}
	toErrors := func(d *directive) bool {
		return d.args[0] == "$backend" && (strings.HasPrefix(d.args[1], "default/errors/_default") || strings.Contains(d.args[1], "/_default~split-"))
	}
	return errorLocation.MatchString(location.args[0]) && slices.ContainsFunc(find(location.body, "rewrite"), toRoot) && slices.ContainsFunc(find(location.body, "set"), toErrors)
}

// keptStatus are error pages that do not change the status: without "=", nginx keeps it.
var keptStatus = regexp.MustCompile(`^(?:\d{3} )+@errors-[0-9a-f]{16}$`)

// ofSubrequests is the error page of a status that nothing has, so that the location of a
// subrequest inherits none.
const ofSubrequests = "599 @none"

// An error page that answers in the place of the authentication's refusal: the status
// stays, and a question has no error page, whose 200 would let the request pass.
func TestCVE2026_24513(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"web", "errors"} {
		a := annotated(t, map[string]string{"auth-url": "http://auth.example/", "custom-http-errors": "401,403,500,503", "default-backend": service})
		a.asked(t)
		all(a.list, func(d *directive) {
			said := strings.Join(d.args, " ")
			if d.name == "error_page" && said != ofSubrequests && !certificatePage.MatchString(said) && said != "418 = @miss" && !signIn.MatchString(said) && !grpcError.MatchString(said) && !keptStatus.MatchString(said) {
				t.Errorf("%s: error_page %q", service, d.args)
			}
			// The page of an error of gRPC says which error it was, and asks nobody.
			if d.name == "location" && strings.HasPrefix(d.args[0], "@grpc-error-") && (len(passing(d.body)) > 0 || !strings.HasSuffix(argument(d.body, "content_by_lua_file"), "/grpc_error.lua")) {
				t.Errorf("%s: location %q", service, d.args)
			}
		})
		all(a.list, func(d *directive) {
			if d.name != "location" || !strings.HasPrefix(d.args[len(d.args)-1], "/.sluice/") {
				return
			}
			pages := find(d.body, "error_page")
			if len(pages) != 1 || strings.Join(pages[0].args, " ") != ofSubrequests || len(find(d.body, "proxy_intercept_errors")) > 0 {
				t.Errorf("%s: location %q has error pages", service, d.args)
			}
		})
		for _, name := range []string{"error_page", "proxy_intercept_errors"} {
			if server := serverOf(a.list, "shop.example"); len(find(server.body, name)) > 0 {
				t.Errorf("%s: the server has %s, which questions inherit", service, name)
			}
		}
	}
}

// Authentication whose Secret is missing is no reason to go without (Traefik's
// GHSA-4mr2-fg2p-w63c), nor are limits and lists that cannot be followed.
func TestProtectionsFailClosed(t *testing.T) {
	t.Parallel()
	for key, value := range map[string]string{
		"auth-type": "basic", "auth-secret": "no-such-secret", "auth-tls-verify-client": "on", "denylist-source-range": "10.0.0.0/8, nonsense",
		"limit-rps": "10r/s", "limit-connections": "-1", "enable-modsecurity": "maybe", "allowlist-source-range": "10.0.0.0/8, nonsense", "whitelist-source-range": "",
	} {
		a := attack(t, func(ing *networkingv1.Ingress) {
			delete(ing.Annotations, prefix+"allowlist-source-range")
			ing.Annotations[prefix+key] = value
		})
		a.closed(t, key)
	}
}

// Names of files made of names: two Secrets whose names, joined, are the same;
// and a name that leaves the folder. The name of the file is made of its content.
func TestCVE2020_8553(t *testing.T) {
	t.Parallel()
	trust := func(change func(*snapshot.Objects)) (string, outcome) {
		objects := worldWithoutClients(t)
		change(&objects)
		o := newWorker(t).run(objects)
		all(o.tree(t), func(d *directive) {
			if d.name == "proxy_ssl_trusted_certificate" && !regexp.MustCompile(`^/var/lib/sluice/trust/[0-9a-f]{64}\.pem$`).MatchString(d.args[0]) {
				t.Errorf("a file is named %q", d.args)
			}
		})
		if len(o.file.Trust()) == 0 {
			return "", o
		}
		return o.file.Trust()[0].Path, o
	}
	first, _ := trust(func(*snapshot.Objects) {})
	renamed, _ := trust(func(o *snapshot.Objects) { renameAuthority(t, o, "au-thority") })
	if first == "" || first != renamed {
		t.Errorf("the same content is in %q and %q", first, renamed)
	}
	other, _ := trust(func(o *snapshot.Objects) {
		certificate, err := fallbackCertificate()
		if err != nil {
			t.Fatal(err)
		}
		authority(t, *o).Data["ca.crt"] = certificate.Chain
	})
	if other == "" || other == first {
		t.Errorf("other content is in %q", other)
	}
}

// The part of the name that leaves the folder.
func TestCVE2025_24513(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../../../etc/passwd", "..", "a/../../b", "/etc/passwd", "authority\x00", "authority\n", "%2e%2e%2fx", "au/thority"} {
		objects := worldWithoutClients(t)
		renameAuthority(t, &objects, name)
		o := newWorker(t).run(objects)
		closedVerified(t, o)
		if strings.Contains(string(o.file.Bytes()), "passwd") || len(o.file.Trust()) > 0 {
			t.Errorf("%q: %v", name, o.file.Trust())
		}
	}
}

func authority(t *testing.T, objects snapshot.Objects) (found *secret) {
	t.Helper()
	for _, s := range objects.Secrets {
		if s.Name == "authority" {
			return s
		}
	}
	t.Fatal("there is no Secret authority")
	return nil
}

// renameAuthority gives the Secret another name, which the Ingress names too.
func renameAuthority(t *testing.T, objects *snapshot.Objects, name string) {
	t.Helper()
	authority(t, *objects).Name = name
	ingress(t, *objects, "verified").Annotations[prefix+"proxy-ssl-secret"] = "default/" + name
}

// closedVerified checks that the Ingress that wants its backends verified passes
// nothing on.
func closedVerified(t *testing.T, o outcome) {
	t.Helper()
	for _, location := range find(serverOf(o.tree(t), "verified.example").body, "location") {
		if argument(location.body, "return") != "503" || len(passing(location.body)) > 0 {
			t.Errorf("location %q is open", location.args)
		}
	}
	if len(o.about("Ingress default/verified", "proxy-ssl")) == 0 {
		t.Error("no problem says why")
	}
}

// A Secret of another namespace, by an annotation (Traefik's CVE-2026-112778).
func TestCVE2026_112778(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"other/authority", "default/../other/authority", "other/default/authority", "/authority", "authority"} {
		objects := worldWithoutClients(t)
		theirs := authority(t, objects).DeepCopy()
		theirs.Namespace = "other"
		objects.Secrets = append(objects.Secrets, theirs)
		ingress(t, objects, "verified").Annotations[prefix+"proxy-ssl-secret"] = name
		o := newWorker(t).run(objects)
		closedVerified(t, o)
		if len(o.file.Trust()) > 0 {
			t.Errorf("%q: the Secret was used", name)
		}
	}
}

// proxy-ssl-verify the wrong way round (Traefik's CVE-2025-66491).
func TestCVE2025_66491(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"on": "on", "off": ""} {
		objects := worldWithoutClients(t)
		ingress(t, objects, "verified").Annotations[prefix+"proxy-ssl-verify"] = value
		o := newWorker(t).run(objects)
		for _, location := range find(serverOf(o.tree(t), "verified.example").body, "location") {
			if got := argument(location.body, "proxy_ssl_verify"); got != want {
				t.Errorf("%s: proxy_ssl_verify %s, want %q", value, got, want)
			}
		}
	}
	for _, value := range []string{"On", "yes", "true", "1", "on off", "of"} {
		objects := worldWithoutClients(t)
		ingress(t, objects, "verified").Annotations[prefix+"proxy-ssl-verify"] = value
		closedVerified(t, newWorker(t).run(objects))
	}
}

// Code in the language of the data plane (Contour's CVE-2026-41246): Lua is in
// files that Sluice brings along, never in the configuration.
func TestCVE2026_41246(t *testing.T) {
	t.Parallel()
	for _, value := range attacks {
		a := annotated(t, map[string]string{"rewrite-target": value, "cors-allow-origin": value, "proxy-next-upstream": value})
		all(a.list, func(d *directive) {
			file := len(d.args) - 1
			if d.name == "set_by_lua_file" {
				file = 1 // behind the variable
			}
			if strings.Contains(d.name, "by_lua") && (!strings.HasSuffix(d.name, "_by_lua_file") || !strings.HasPrefix(d.args[file], "/var/lib/sluice/lua/sluice/entry/")) {
				t.Errorf("%s %q", d.name, d.args)
			}
		})
	}
}

// A Service that leads to the controller's own machine (Contour's CVE-2021-32783).
func TestCVE2021_32783(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain", "127.0.0.1", "127.1", "0x7f.1", "2130706433", "0.0.0.0", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1", "unix:/run/control.sock", "away.example;" + injected} {
		objects := worldWithoutClients(t)
		for _, s := range objects.Services {
			if s.Name == "away" {
				s.Spec.ExternalName = name
			}
		}
		o := newWorker(t).run(objects)
		for _, b := range o.config.Dynamic.Backends {
			if strings.HasPrefix(b.Key, "default/away/") && (b.ExternalName != "" || len(b.Endpoints) > 0) {
				t.Errorf("%s leads to %q %v", name, b.ExternalName, b.Endpoints)
			}
		}
	}
}

// worldWithoutClients is a world in which only the Ingress verified trusts anybody.
func worldWithoutClients(t *testing.T) snapshot.Objects {
	t.Helper()
	objects := worldObjects(t)
	objects.Ingresses = slices.DeleteFunc(objects.Ingresses, func(ing *networkingv1.Ingress) bool { return ing.Name == "clients" })
	return objects
}
