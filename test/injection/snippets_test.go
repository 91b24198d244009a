package injection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

const snippetKey = "configuration-snippet"

// snippetsAllowed are the settings by which an administrator allows snippets.
var snippetsAllowed = map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}

// escapes are snippets that try to end their location, or to swallow what follows.
var escapes = []string{
	"}", "} " + injected, "}\n}\n" + injected + "\nserver {\nlocation / {", "} location / { return 200; ", "} server { listen 1; ", "{", "{}", ";", "a {", "a { b;", "a", "a b",
	"a \"", "a '", "a \";\n", "a ';\n", "a \"b\"c;", `a "\";`, `a \;`, `a ${;`, "a ${b;", "# }\n}", "#", "a; #", "a; # }", "a #b;", "if ($x) { " + injected + " } }",
	"a;\r}", "# a\r}\r\n" + injected, "a;\x00", "\x00", "\x00" + injected + "\x00", "a \x00b;", "a;\u2028}", "a\u0085;", "\ufeffa;", "a \xff;",
	"access_by_lua_block { } } " + injected, "content_by_lua_block { -- }\n}", "content_by_lua_block {\n[[ } ]] }", "\"content_by_lua_block\" { \" }", "set_by_lua_block $route { return 'x' }",
	strings.Repeat("a b;\n", 10_000), strings.Repeat("if ($x) {", 1000) + strings.Repeat("}", 1000), strings.Repeat("{", 5000), strings.Repeat("}", 5000), "a \"" + strings.Repeat("b", 5000), "#" + strings.Repeat("b", 5000),
	"set $route other/neighbour/side/80;", "set $ROUTE other/neighbour/side/80;", "set \"$route\" x;", "set ${route} x;", "auth_request_set $route x;", "set_unescape_uri $route x;",
	"if ($uri ~ (?<route>.*)) { }", "if ($uri ~ \"(?'route'.*)\") { }", "rewrite (?P<route>.*) /x;", "location ~ (?<http_upgrade>.*) { }", `if ($uri ~ "(?\'route\'.*)") { }`,
}

// snippets are these, and every hostile value in the places that a snippet has.
func snippets() []string {
	list := slices.Clone(escapes)
	for _, value := range corpus {
		list = append(list, value, "a "+value+";", `a "`+value+`";`, "a;\n"+value+"\n"+injected)
	}
	return unique(list)
}

// withSnippet gives the world with snippets allowed and one on the Ingress rich.
func withSnippet(t *testing.T, snippet string) snapshot.Objects {
	t.Helper()
	objects := withData(sharedWorld(t), snippetsAllowed)
	objects.Ingresses = slices.Clone(objects.Ingresses)
	for i, ing := range objects.Ingresses {
		if ing.Name == "rich" {
			objects.Ingresses[i] = ing.DeepCopy()
			objects.Ingresses[i].Annotations[prefix+snippetKey] = snippet
		}
	}
	return objects
}

// own are the locations of the Ingress rich, by the names of their server and their
// arguments, with how many of their directives pass requests on. No other Ingress
// has its deny list.
func own(list []*directive) map[string]int {
	found := map[string]int{}
	eachLocation(list, func(key string, location *directive) {
		if argument(location.body, "deny") == "127.0.0.66" {
			found[key] = passes(location)
		}
	})
	return found
}

// passes counts the directives that pass a request to the endpoints of Services.
func passes(location *directive) int {
	return len(slices.DeleteFunc(passing(location.body), func(d *directive) bool { return !strings.Contains(d.args[0], "sluice") }))
}

// readable reads a file as nginx does, with its comments.
func readable(t *testing.T, snippet string, o outcome) []*directive {
	t.Helper()
	list, _, err := parse(o.file.Bytes())
	if err != nil {
		t.Fatalf("%s: nginx cannot read the file: %v", named(snippet), err)
	}
	return list
}

// eachLocation calls visit for each location of each server at the http level.
func eachLocation(list []*directive, visit func(key string, location *directive)) {
	for _, http := range find(list, "http") {
		for _, server := range find(http.body, "server") {
			for _, location := range find(server.body, "location") {
				visit(fmt.Sprintf("%q %q", argument(server.body, "server_name"), location.args), location)
			}
		}
	}
}

// early are what a server sets if a snippet reads captures; no word of the snippet is in it.
var early = map[string]bool{
	"$early_variables $best_http_host$connection_upgrade$redirect_host$redirect_scheme$redirect_uri$request_path": true,
	"$early_variables $cors_any_label": true,
}

// beyond gives the servers as they are but for the bodies of own locations, with a
// line for each directive. Whether a redirect to HTTPS is said by the server or by
// each of its locations depends on all of them.
func beyond(list []*directive, own map[string]int) []string {
	var lines []string
	var add func(list []*directive, inside string)
	add = func(list []*directive, server string) {
		for _, d := range list {
			if d.name == "if" && d.args[0] == "($redirect_to_https)" || d.path == "http/server" && d.name == "set" && early[strings.Join(d.args, " ")] {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s %s %q", d.path, d.name, d.args))
			if _, is := own[fmt.Sprintf("%q %q", server, d.args)]; is && d.name == "location" {
				continue
			}
			add(d.body, server)
		}
	}
	for _, http := range find(list, "http") {
		for _, server := range find(http.body, "server") {
			add(server.body, argument(server.body, "server_name"))
		}
	}
	return lines
}

// A snippet changes nothing beyond the locations of its Ingress, whatever it says. It
// is whole in them, or they answer 503.
func TestSnippetsStayInTheirLocations(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	base := w.run(withSnippet(t, "")).tree(t)
	locations := own(base)
	if len(locations) < 5 {
		t.Fatalf("the Ingress has only %d locations", len(locations))
	}
	places, before := map[string]bool{}, beyond(base, locations)
	learn(places, base)
	taken, refused := 0, 0
	for _, snippet := range snippets() {
		o := w.run(withSnippet(t, snippet))
		list := readable(t, snippet, o)
		if diff := cmp.Diff(before, beyond(list, locations)); diff != "" {
			t.Errorf("%s: what is beyond changed:\n%s", named(snippet), diff)
		}
		all(list, func(d *directive) {
			if !strings.HasPrefix(d.path, "http/server/location") && !places[placeOf(d)] {
				t.Errorf("%s: beyond the locations is %s %.200q", named(snippet), placeOf(d), d.args)
			}
		})
		if slices.ContainsFunc(o.about("Ingress default/rich", ""), func(p model.Problem) bool { return p.Denies }) {
			refused++
			shut(t, snippet, list, locations)
		} else {
			taken++
			contained(t, snippet, list, locations)
		}
	}
	if taken < 150 || refused < 300 {
		t.Errorf("%d snippets were taken and %d refused: the list does not try both", taken, refused)
	}
}

// A snippet for the requests to an authentication server stays in their location, sets no
// variable of the client's request, and lets nobody pass where it is refused.
func TestSnippetsOfQuestionsStayInTheirLocation(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	with := func(snippet string) snapshot.Objects {
		objects := withData(sharedWorld(t), snippetsAllowed)
		objects.Ingresses = slices.Clone(objects.Ingresses)
		for i, ing := range objects.Ingresses {
			if ing.Name == "authenticated" {
				objects.Ingresses[i] = ing.DeepCopy()
				objects.Ingresses[i].Annotations[prefix+"auth-snippet"] = snippet
			}
		}
		return objects
	}
	others := func(list []*directive) []string {
		return slices.DeleteFunc(beyond(list, nil), func(line string) bool {
			return strings.HasPrefix(line, "http/server/location") || strings.Contains(line, "/.sluice/auth-") || strings.Contains(line, "location [")
		})
	}
	before := others(w.run(with("")).tree(t))
	taken, refused := 0, 0
	for _, snippet := range snippets() {
		o := w.run(with(snippet))
		list := readable(t, snippet, o)
		if slices.ContainsFunc(o.about("Ingress default/authenticated", ""), func(p model.Problem) bool { return p.Denies }) {
			refused++
			for _, location := range find(serverOf(list, "authenticated.example").body, "location") {
				if len(find(location.body, "proxy_pass")) > 0 && len(find(location.body, "internal")) == 0 {
					t.Errorf("%s: %q is open", named(snippet), location.args)
				}
			}
			continue
		}
		taken++
		if diff := cmp.Diff(before, others(list)); diff != "" {
			t.Errorf("%s: what is beyond changed:\n%s", named(snippet), diff)
		}
		for _, location := range find(serverOf(list, "authenticated.example").body, "location") {
			inside := len(find(location.body, "internal")) > 0
			all(location.body, func(d *directive) {
				tells := d.name == "header_filter_by_lua_file" && slices.Equal(d.args, []string{"/var/lib/sluice/lua/sluice/entry/auth_cookies.lua"})
				if inside && !tells && (strings.HasPrefix(d.name, "set") || d.name == "rewrite" || strings.Contains(d.name, "lua")) {
					t.Errorf("%s: %s %q in a subrequest", named(snippet), d.name, d.args)
				}
			})
			if !inside && len(find(location.body, "proxy_pass")) > 0 && len(find(location.body, "auth_request")) != 1 {
				t.Errorf("%s: %q asks nobody", named(snippet), location.args)
			}
		}
	}
	if taken < 100 || refused < 300 {
		t.Errorf("%d snippets were taken and %d refused: the list does not try both", taken, refused)
	}
}

// shut checks that each own location answers 503 and nothing else.
func shut(t *testing.T, snippet string, list []*directive, own map[string]int) {
	t.Helper()
	eachLocation(list, func(key string, location *directive) {
		if _, is := own[key]; is && (argument(location.body, "return") != "503" || len(passing(location.body)) > 0) {
			t.Errorf("%s: %s is open", named(snippet), key)
		}
	})
}

// contained checks that own locations still pass on to their backends, and that a
// snippet has nothing in them that reaches further.
func contained(t *testing.T, snippet string, list []*directive, own map[string]int) {
	t.Helper()
	eachLocation(list, func(key string, location *directive) {
		before, is := own[key]
		if !is {
			return
		}
		if passes(location) != before {
			t.Errorf("%s: %s passes on otherwise than it did", named(snippet), key)
		}
		routes := 0
		all(location.body, func(d *directive) {
			if d.name == "set" && strings.EqualFold(d.args[0], "$route") {
				routes++
			}
			further := strings.Contains(d.name, "lua") || d.name == "include" || d.name == "load_module" && len(d.path) < len("http/server/location")
			if further || strings.HasSuffix(d.name, "_pass") && strings.Contains(strings.Join(d.args, " "), "unix:") {
				t.Errorf("%s: %s has %s %.200q", named(snippet), key, d.name, d.args)
			}
		})
		if routes != before {
			t.Errorf("%s: %s sets $route %d times", named(snippet), key, routes)
		}
	})
}

// snippetOf attacks with a snippet where they are allowed.
func snippetOf(t *testing.T, snippet string) attacked {
	t.Helper()
	w, back := borrow(t)
	defer back()
	o := w.run(withSnippet(t, snippet))
	return attacked{outcome: o, list: readable(t, snippet, o)}
}

// closesSnippet wants a snippet to close its paths though snippets are allowed, and
// the same where they are not.
func closesSnippet(t *testing.T, snippet string) {
	t.Helper()
	a := snippetOf(t, snippet)
	a.closed(t, snippetKey)
	off := attack(t, func(ing *networkingv1.Ingress) { ing.Annotations[prefix+snippetKey] = snippet })
	off.closed(t, snippetKey)
	for _, text := range []string{"os.execute", "io.open", "engine:", "unix:/run/control.sock:", "proxy_store"} {
		if strings.Contains(snippet, text) {
			a.lacks(t, text)
			off.lacks(t, text)
		}
	}
}

// The token of the service account, read by a program in a snippet and sent to who
// asks.
func TestCVE2021_25742WithSnippets(t *testing.T) {
	t.Parallel()
	for _, snippet := range []string{
		"content_by_lua_block {\nlocal f = io.open('/var/run/secrets/kubernetes.io/serviceaccount/token') ngx.say(f:read('*a'))\n}",
		"content_by_lua 'ngx.say(io.open(\"/var/run/secrets/kubernetes.io/serviceaccount/token\"):read(\"*a\"))';",
		"if ($arg_x) {\n\"content_by_lua\" 'ngx.say(io.open(\"/token\"):read())';\n}",
		"content_by_lua_file /tmp/x.lua;", "set_by_lua $x 'return io.open(\"/token\"):read()';", "include /var/run/secrets/kubernetes.io/serviceaccount/token;",
	} {
		closesSnippet(t, snippet)
	}
}

// Commands run by a snippet.
func TestCVE2023_5043WithSnippets(t *testing.T) {
	t.Parallel()
	for _, snippet := range []string{
		"content_by_lua_block { os.execute('id') }", "access_by_lua 'os.execute(\"id\")';", "header_filter_by_lua_block { os.execute('id') }", "perl 'sub { system(\"id\") }';", "js_content x.y;",
		"lua_code_cache off;",
	} {
		closesSnippet(t, snippet)
	}
}

// What got out of permanent-redirect, in a snippet.
func TestCVE2023_5044WithSnippets(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"; } ", "\"; } ", ";\n}\n", ";\r\n}\r\n"} {
		closesSnippet(t, "return 302 https://x/"+end+injected)
	}
}

// A library loaded by the name of an engine, and a file written for it.
func TestCVE2025_1974WithSnippets(t *testing.T) {
	t.Parallel()
	for _, snippet := range []string{
		"proxy_ssl_certificate /x;\nproxy_ssl_certificate_key engine:../../../../../../proc/1/fd/3:x;", "grpc_ssl_certificate_key $arg_x;",
		"}\nssl_engine ../../../../../../proc/1/fd/3;\nlocation /x {", "proxy_store /tmp/x.so;", "if ($arg_x) { proxy_store on; }", "dav_methods PUT;", "client_body_temp_path /x;", "client_body_in_file_only on;",
	} {
		closesSnippet(t, snippet)
	}
}

// The control socket of nginx, at which all backends are set.
func TestSnippetsReachNoSocket(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"http://unix:/run/control.sock:/push", "HTTP://Unix:/run/control.sock:/push", "http://$arg_x", "$arg_x", "http://un$arg_x", "\"http:$arg_x\"", "'http:/$arg_x'"} {
		closesSnippet(t, "if ($arg_x) {\nproxy_pass "+target+";\n}")
	}
	closesSnippet(t, "access_log /state/nginx.conf;")
	closesSnippet(t, "error_log /var/log/../../state/nginx.conf;")
}
