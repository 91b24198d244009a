package keys

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnippetUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]SnippetUses{
		"a":                              {{Name: "a"}},
		" a b=c \n\n d.e-f g=\"h i\" \n": {{"a", []SnippetArgument{{"b", "c"}}}, {"d.e-f", []SnippetArgument{{"g", "h i"}}}},
		`a b="; c" d=;e`:                 {{"a", []SnippetArgument{{"b", "; c"}, {"d", ""}}}, {Name: "e"}},
		`a b="\"\u0024" c==`:             {{"a", []SnippetArgument{{"b", `"$`}, {"c", "="}}}},
		"A":                              nil,
		"a b":                            nil,
		`a b="c`:                         nil,
		`a b="c"d`:                       nil,
		`a b=c"d"`:                       nil,
		"a b=c b=d":                      nil,
		"a B=c":                          nil,
		"a b=\x01":                       nil,
		"; a":                            nil,
		strings.Repeat("a;", 17):         nil,
	} {
		var got SnippetUses
		err := got.UnmarshalText([]byte(text))
		if (err == nil) != (want != nil) || !cmp.Equal(got, want) {
			t.Errorf("%q: got %v, error %v", text, got, err)
		}
	}
}

func TestPortsOfStreamSnippets(t *testing.T) {
	t.Parallel()
	for text, wrong := range map[string]bool{
		"server { listen 1; return x; }":                                                                       false,
		"server { listen [::]:65535 udp; return x; }":                                                          false,
		"server { listen *:80; return x; }":                                                                    false,
		"server { listen 0; return x; }":                                                                       true,
		"server { listen 65536; return x; }":                                                                   true,
		"server { listen UNIX:80; return x; }":                                                                 true,
		"server { listen; }":                                                                                   true,
		"server { listen example; return x; }":                                                                 true,
		"upstream a { server 192.0.2.1:1; } server { proxy_pass b; }":                                          true,
		"upstream a { server 192.0.2.1:1; } server { proxy_pass a; }":                                          false,
		"server { proxy_pass 192.0.2.1:80; }":                                                                  false,
		"split_clients $remote_addr $handed_to { * x; }":                                                       true,
		"server { listen 9000; pass 192.0.2.1:80; }":                                                           false,
		"map $ssl_preread_server_name $name { default a; \"x y\" b; include c; }":                              true,
		"map $ssl_preread_server_name $name { hostnames; default a; *.example b; }":                            false,
		"upstream a { least_conn; server 192.0.2.1:1 weight=2; } server { listen 1; proxy_pass a; }":           false,
		"server { listen 1 ssl; ssl_certificate /a.crt; ssl_certificate_key /a.key; proxy_pass a.example:1; }": false,
	} {
		var got StreamSnippet
		if err := got.UnmarshalText([]byte(text)); (err != nil) != wrong {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// The control socket of nginx is a unix socket, at which everybody can set all backends.
func TestStreamSnippetsReachNoSocket(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"server { listen 9000; pass unix:/state/run/control.sock; }":                 "may lead to a unix socket",
		"server { listen 9000; pass UNIX:/state/run/control.sock; }":                 "may lead to a unix socket",
		"server { listen 9000; pass $x; }":                                           "leads to an upstream that is not in the snippet",
		"server { listen 9000; pass $x:80; }":                                        "may lead to a unix socket",
		"map $remote_addr $x { default \"unix:/state/run/control.sock\"; }":          "names a unix socket",
		"map $remote_addr $x { unix:/a b; }":                                         "names a unix socket",
		"geo $x { default Unix:/a; }":                                                "names a unix socket",
		"split_clients $remote_addr $x { * unix:/a; }":                               "names a unix socket",
		"server { listen 9000; set $x unix:/a; return $x; }":                         "names a unix socket",
		"server { listen 9000; access_log syslog:server=UNIX:/a; return x; }":        "names a unix socket",
		"upstream a { resolver unix:/a; server a.example resolve; }":                 "names a unix socket",
		"server { listen 9000; js_access a.b; return x; }":                           "runs programs in nginx",
		"server { listen 9000; ssl_certificate_key engine:x:y; return x; }":          "may load a library",
		"server { listen 9000; ssl_certificate $x; return x; }":                      "may load a library",
		"server { listen 9000; ssl_stapling_responder http://192.0.2.1; return x; }": "is not among the directives of a stream snippet",
		"server { listen 9000; tunnel_to a; return x; }":                             "is not among the directives of a stream snippet",
		"upstream a { server 192.0.2.1:1; state /state/x; }":                         "is not among the directives of a stream snippet",
		"server { listen 9000; map $a $b { default c; } return x; }":                 "is not among the directives of a stream snippet",
	} {
		var got StreamSnippet
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{"access_log syslog:server=UNIX:/a;", "resolver unix:/a;", "set $x http://unix:/a;", "if ($x) { proxy_bind unix:; }"} {
		var got Snippet
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "names a unix socket") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestLocationsOfServerSnippets(t *testing.T) {
	t.Parallel()
	snippet := ServerSnippet(`location /a { location /a/b { return 200; } } location =/c { return 200; } location ~* "x y" { return 200; } location ^~ /d { return 200; } location ~^/e { return 200; } location @f { return 200; }`)
	want := []SnippetLocation{{"", "/a"}, {"=", "/c"}, {"~*", "x y"}, {"^~", "/d"}, {"~", "^/e"}, {"", "@f"}}
	if diff := cmp.Diff(want, snippet.Locations()); diff != "" {
		t.Error(diff)
	}
}

// Locations of other Ingresses inherit what is in the server: those of other namespaces only what lifts
// no protection.
func TestServerSnippetsLiftNoProtection(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# nothing", "add_header X y always;", "more_set_headers 'X: y';", "client_max_body_size 8m; proxy_read_timeout 5s; send_timeout 5s;", "gzip on; gzip_types text/css;",
		"set $x y; if ($x) { set $y z; return 403; } rewrite ^/a$ /b last;", "location /a { error_page 403 =200 /b; limit_req_dry_run on; allow all; if ($x) { access_log off; } }",
		"location /a { location /a/b { satisfy any; } }", "sub_filter a b; expires 1h; charset utf-8; proxy_buffers 8 8k;", "return 301 https://a.example$request_uri;", "deny 192.0.2.1;",
		"proxy_hide_header X;", "client_header_buffer_size 1k; large_client_header_buffers 4 8k;", "client_header_buffer_size 64k; large_client_header_buffers 8 128k;",
		"proxy_intercept_errors on; error_page 404 /404.html; error_page 500 502 503 504 @sorry;", "error_page 503 https://sorry.example/;",
		"grpc_read_timeout 1h; fastcgi_send_timeout 1h;", "proxy_set_header X-Real-IP $arg_ip; grpc_set_header X y; fastcgi_param X y;",
	} {
		var got ServerSnippet
		if err := got.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%q: error %v", text, err)
		}
		if what, why := got.Inherited(); what != "" {
			t.Errorf("%q: inherited: %s %s", text, what, why)
		}
	}
	for _, text := range []string{
		"error_page 401 403 @open; location @open { return 200; }", "error_page 404 =200 /a;", "error_page 404 = /a;", "error_page 502 $arg_a;", "error_page 404;", "error_page 404 405 /a;", "error_page 411 /a;", "error_page 414 /a;", "error_page 501 /a;", "error_page 505 /a;", "limit_req_dry_run on;",
		"limit_conn_dry_run on;", "limit_req_status 599;", "auth_request off;", "auth_basic off;", "allow all;", "allow 192.0.2.1; deny all;", "proxy_intercept_errors off;", "proxy_pass_request_headers off;",
		"proxy_pass_header X-Accel-Redirect;", "proxy_ssl_verify off;", "internal;", "access_log off;", "error_log /dev/stdout;", "more_set_input_headers 'Authorization: x';",
		"more_clear_input_headers X;", "try_files /a /b;", "root /;", "mirror off;", "ssi off;", "resolver 192.0.2.1;",
		"underscores_in_headers on;", "ignore_invalid_headers off;", "client_header_buffer_size 256;", "client_header_buffer_size 65k;", "client_header_buffer_size x;", "large_client_header_buffers 1 8k;", "large_client_header_buffers 4 7k;",
		"large_client_header_buffers 4 129k;", "large_client_header_buffers 9 8k;", "large_client_header_buffers 8k;", "allow all; deny 192.0.2.1;", "deny 192.0.2.1; allow 192.0.2.2; deny 192.0.2.3; allow all;", "deny 192.0.2.1; allow 192.0.2.2;",
		"set $loggable 0;", "if ($x) { set ${loggable} 0; }", "if ($x) { satisfy any; }", "types { a b; }",
		"if ($x) { limit_req_dry_run on; }",
	} {
		var got ServerSnippet
		if err := got.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%q: error %v", text, err)
		}
		if what, why := got.Inherited(); !strings.HasPrefix(what, "line 1: ") || why == "" {
			t.Errorf("%q: inherited: %s %s", text, what, why)
		}
	}
	for _, text := range []string{
		"listen 81;", "server_name a;", "http2 on;", "quic_retry on;", "ssl_verify_client off;", "merge_slashes off;", "proxy_cache mine;", "set_real_ip_from 0.0.0.0/0;",
		"if ($x) { proxy_cache mine; }",
	} {
		var got ServerSnippet
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// nginx allows what no rule denies.
func TestAllowBehindDeny(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ServerSnippet{
		"deny 192.0.2.1;\nallow all;\nset $x y;":                                   "deny 192.0.2.1;\n\nset $x y;",
		"deny 192.0.2.1; location /a { allow all; } deny 192.0.2.2; allow 'all' ;": "deny 192.0.2.1; location /a { allow all; } deny 192.0.2.2; ",
	} {
		var got ServerSnippet
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %q, error %v, want %q", text, got, err, want)
		}
	}
}
