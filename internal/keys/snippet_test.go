package keys

import (
	"strings"
	"testing"
)

func TestSnippet(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# nothing", "more_set_headers \"X: 1\";", "if ($http_user_agent ~ bad) {\n  return 403;\n}", "access_log off;", "access_log /dev/stdout main if=$x;",
		"access_log /var/log/nginx/a.log;", "error_log stderr debug;", "access_log syslog:server=10.0.0.1;", "proxy_pass_header X;", "fastcgi_pass 10.0.0.1:9000;",
		"if ($x) { proxy_pass http://web.shop.svc:8080; }", "if ($x) { proxy_pass https://web.shop.svc$request_uri; }", "if ($x) { proxy_pass http://unixes.example$uri; }",
		"proxy_pass http://sluice-web.shop.svc;", "proxy_pass http://sluices;", "proxy_pass http://s.example/$x;", "proxy_pass http://slow$x;",
		"grpc_pass grpc://10.0.0.1:50051;", "proxy_ssl_certificate_key /keys/$host;", "proxy_ssl_trusted_certificate /ca.crt;", strings.Repeat("a b;\n", 6553),
		"ssi off; mirror off; auth_request off;", "mirror_request_body off; auth_request_set $x_user $upstream_http_x_user;", "client_body_in_file_only clean;",
		"client_body_in_file_only off;", "limit_req zone=login burst=5 nodelay;", "limit_conn addr 10; limit_conn_status 429;", "error_page 404 /404.html;",
	} {
		var s Snippet
		if err := s.UnmarshalText([]byte(text)); err != nil || string(s) != text {
			t.Errorf("%.80q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"}":                                    `line 1: a "}" that closes nothing`,
		"a;\n\ninclude /etc/passwd;":           `line 3: "include" adds text that is not in the snippet`,
		"content_by_lua 'os.execute(\"id\")';": "runs programs in nginx",
		"access_by_lua_file /tmp/x;":           "runs programs in nginx",
		"lua_code_cache off;":                  "runs programs in nginx",
		"js_content x.y;":                      "runs programs in nginx",
		"perl x::y;":                           "runs programs in nginx",
		"proxy_ssl_certificate_key engine:../../tmp/x:1;":               "may load a library",
		"proxy_ssl_certificate_key $x;":                                 "may load a library",
		"uwsgi_ssl_certificate 'data:x';":                               "may load a library",
		"xslt_stylesheet /tmp/x;":                                       "writes files",
		"proxy_store /state/nginx.conf;":                                "writes files",
		"if ($x) { fastcgi_store on; }":                                 "writes files",
		"client_body_temp_path /state;":                                 "writes files",
		"dav_methods PUT;":                                              "writes files",
		"proxy_ssl_key_log /state/nginx.conf;":                          "writes files",
		"modsecurity_rules 'SecAuditLog /state';":                       "writes files",
		"access_log /state/nginx.conf;":                                 "writes to another file",
		"access_log /var/log/../state/nginx.conf;":                      "writes to another file",
		"access_log /var/log/$host;":                                    "writes to another file",
		"access_log syslog:server=unix:/x;":                             "writes to another file",
		"access_log /dev/stderr;":                                       "writes to another file",
		"error_log /dev/stderr;":                                        "writes to another file",
		"access_log stderr;":                                            "writes to another file",
		"error_log /state/nginx.conf;":                                  "writes to another file",
		"access_log;":                                                   "writes to another file",
		"if ($x) { proxy_pass http://unix:/state/run/control.sock; }":   "may lead to a unix socket",
		"if ($x) { proxy_pass HTTP://UNIX:/state/run/control.sock:/; }": "may lead to a unix socket",
		"if ($x) { proxy_pass https://sluice_0123456789ab_5; }":         "uses connections of other Services",
		"proxy_pass http://SLUICE_uri_0/.sluice/auth/a;":                "uses connections of other Services",
		"proxy_pass http://sluice;":                                     "uses connections of other Services",
		"proxy_pass http://sl$x/;":                                      "uses connections of other Services",
		"proxy_pass http://sluice_$x;":                                  "uses connections of other Services",
		"grpc_pass grpcs://sluice_0123456789ab_5;":                      "uses connections of other Services",
		"fastcgi_pass sluice_0;":                                        "uses connections of other Services",
		"proxy_pass http://un$x;":                                       "may lead to a unix socket",
		"proxy_pass http://$arg_x;":                                     "may lead to a unix socket",
		"proxy_pass $arg_x;":                                            "may lead to a unix socket",
		"proxy_pass \"http:$arg_x\";":                                   "may lead to a unix socket",
		"proxy_pass http:/$arg_x;":                                      "may lead to a unix socket",
		"proxy_pass $scheme://10.0.0.1;":                                "may lead to a unix socket",
		"fastcgi_pass unix:/run/php.sock;":                              "may lead to a unix socket",
		"uwsgi_pass $x;":                                                "may lead to a unix socket",
		"grpc_pass grpc://$x;":                                          "may lead to a unix socket",
		"add_before_body /secret;":                                      "asks another path of the host, whose protection nginx leaves out",
		"add_after_body \"/secret\";":                                   "whose protection nginx leaves out",
		"ssi on;":                                                       "whose protection nginx leaves out",
		"if ($x) { ssi ON; }":                                           "whose protection nginx leaves out",
		"mirror /secret;":                                               "whose protection nginx leaves out",
		"auth_request /secret;":                                         "whose protection nginx leaves out",
		"auth_request OFF;":                                             "whose protection nginx leaves out",
		"post_action /secret;":                                          "whose protection nginx leaves out",
		"post_action @x;":                                               "whose protection nginx leaves out",
		"echo_location /secret;":                                        "whose protection nginx leaves out",
		"srcache_fetch GET /secret;":                                    "whose protection nginx leaves out",
		"client_body_in_file_only on;":                                  "keeps the body of each request in a file",
		"client_body_in_file_only $x;":                                  "keeps the body of each request in a file",
		"limit_req burst=9 zone=vic_lim_rps nodelay;":                   "counts in a zone of Sluice",
		"limit_req zone=vic_lim_0123456789abcdef_rpm;":                  "counts in a zone of Sluice",
		"limit_conn vic_lim_conn 1;":                                    "counts in a zone of Sluice",
		"if ($x) { limit_req 'zone=basic_auth_10'; }":                   "counts in a zone of Sluice",
		strings.Repeat("a b;\n", 6554):                                  "it has 32770 bytes, more than 32768",
	} {
		var s Snippet
		if err := s.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || s != "" {
			t.Errorf("%.80q: got %v, want %s", text, err, want)
		}
	}
}

func TestQuestionSnippetSplit(t *testing.T) {
	t.Parallel()
	text := "# the recipe\nauth_request_set $a $upstream_http_x_a;\nproxy_set_header X-A 1; auth_request_set \"$B\" ${upstream_http_x_b};\n"
	var s QuestionSnippet
	if err := s.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	question, takes := s.Split()
	if want := "auth_request_set $a $upstream_http_x_a;\nauth_request_set \"$B\" ${upstream_http_x_b};\n"; string(takes) != want {
		t.Errorf("takes %q, want %q", takes, want)
	}
	if want := "# the recipe\n\nproxy_set_header X-A 1; \n"; string(question) != want {
		t.Errorf("question %q, want %q", question, want)
	}
	if got := strings.Join(takes.TakenFromAnswer(), " "); got != "a b" {
		t.Errorf("taken: %s", got)
	}
	for _, text := range []string{
		"auth_request_set $a $uri;", "auth_request_set $a $upstream_http_x$uri;", "auth_request_set $a 1;", "auth_request_set $route $upstream_http_x;",
		"if ($a) { auth_request_set $a $upstream_http_x; }", "set $a $upstream_http_x;",
	} {
		var s QuestionSnippet
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
