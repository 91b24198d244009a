package keys

import (
	"strings"
	"testing"
)

func TestGlobalSnippet(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# nothing", "server { listen 2443; server_name a.example; return 308 https://$host$request_uri; }", "listen 8000; if ($server_port = 8000) { return 308 https://$host; }",
		"merge_slashes off;", "set_real_ip_from 10.0.0.0/8;", "include /etc/nginx/own/*.conf;", "map $geoip2_country_code $allowed { default 1; AQ 0; }", "limit_req_zone $host zone=own:1m rate=1r/s;",
		"location /own { rewrite_by_lua_file /own.lua; }", "access_by_lua_file /own.lua;", "location @own { return 404; }", "proxy_pass http://unix:/var/run/sidecar.sock;", "satisfy any; allow all;",
		"server { listen 9000; proxy_pass unix:/var/run/sidecar.sock; }", "modsecurity on;",
	} {
		var got GlobalSnippet
		if err := got.UnmarshalText([]byte(text)); err != nil || string(got) != text {
			t.Errorf("%q: error %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"}":                                      `a "}" that closes nothing`,
		"deny all":                               `lacks its ";"`,
		"set $route a/b/c/80;":                   "sets $route, on which others depend",
		"map $host $http_upgrade { default a; }": "sets $http_upgrade",
		"proxy_pass http://unix:/var/lib/sluice/run/control.sock;":  "the unix socket at which nginx takes its backends",
		"proxy_pass http://UNIX:/var/lib/sluice/run/Control.sock:;": "the unix socket at which nginx takes its backends",
		"set $a unix:$b;":                           "the unix socket at which nginx takes its backends",
		"location = /.sluice/x { return 200; }":     "is a location of Sluice",
		"location @miss { return 200; }":            "is a location of Sluice",
		"location @redirect-0123456789abcdef { }":   "is a location of Sluice",
		"server_name a.example;":                    "decides which requests come to the servers",
		"init_by_lua_file /own.lua;":                "is a directive that Sluice needs for itself",
		"rewrite_by_lua_file /own.lua;":             "is a directive that Sluice needs for itself",
		"log_by_lua_file /own.lua;":                 "is a directive that Sluice needs for itself",
		"location /a { lua_code_cache off; }":       "is a directive that Sluice needs for itself",
		"location /a { content_by_lua_block { } }":  "Lua",
		"# " + strings.Repeat("x\n# ", 20000) + "x": "bytes, more than",
	} {
		var got GlobalSnippet
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: got %v, want %s", text, err, want)
		}
	}
}

func TestMainSnippet(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "env TZ;", "load_module modules/own.so;", "load_module /usr/lib/nginx/modules/own.so;", "load_module /modules_mount/own/own.so;", "thread_pool own threads=2;", "worker_priority 5;"} {
		var got MainSnippet
		if err := got.UnmarshalText([]byte(text)); err != nil || string(got) != text {
			t.Errorf("%q: error %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"load_module /tmp/own.so;":                             "may load a library that others can write",
		"load_module /usr/../tmp/own.so;":                      "may load a library that others can write",
		"load_module modules/../../tmp/own.so;":                "may load a library that others can write",
		"load_module own.so;":                                  "may load a library that others can write",
		"load_module /usr/lib/own;":                            "may load a library that others can write",
		"http { }":                                             "is a directive that Sluice writes",
		"user root;":                                           "is a directive that Sluice writes",
		"error_log /dev/null;":                                 "is a directive that Sluice writes",
		"mail { server { proxy_pass unix:/x/control.sock; } }": "the unix socket",
	} {
		var got MainSnippet
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
