package policy

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
)

// printers stand for those of package render, without their checks.
var printers = template.FuncMap{
	"size":     func(v any) string { return fmt.Sprint(v) },
	"str":      func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
	"mapkey":   func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
	"header":   func(v any) string { return strconv.Quote(fmt.Sprint(v)) },
	"variable": func(v any) string { return "$" + fmt.Sprint(v) },
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	all, err := template.New("").Funcs(printers).ParseGlob("../../templates/behaviour/*.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		annotations map[string]string
		template    string
		want        string
	}{
		"timeouts": {map[string]string{"proxy-read-timeout": "1", "proxy-send-timeout": "2", "proxy-connect-timeout": "3"}, "timeouts/location",
			"proxy_connect_timeout 3s;\nproxy_send_timeout 2s;\nproxy_read_timeout 1s;\n"},
		"one timeout":          {map[string]string{"proxy-read-timeout": "1"}, "timeouts/location", "proxy_read_timeout 1s;\n"},
		"body size":            {map[string]string{"proxy-body-size": "8M"}, "body-size/location", "client_max_body_size 8m;"},
		"allow list":           {map[string]string{"allowlist-source-range": "::1,10.0.0.1"}, "allow-list/location", "allow 10.0.0.1;\nallow ::1;\ndeny all;"},
		"deny list":            {map[string]string{"denylist-source-range": "::1,10.0.0.1"}, "deny-list/location", "deny 10.0.0.1;\ndeny ::1;\n"},
		"body buffer":          {map[string]string{"client-body-buffer-size": "16K"}, "body-buffer/location", "client_body_buffer_size 16k;"},
		"upstream host":        {map[string]string{"upstream-vhost": "$host.internal"}, "upstream-host/location", `proxy_set_header Host "$host.internal";`},
		"connection":           {map[string]string{"connection-proxy-header": "close"}, "connection-header/location", "proxy_set_header Connection close;"},
		"no logs":              {map[string]string{"enable-access-log": "false"}, "logs/location", "access_log off;\n"},
		"more logs":            {map[string]string{"enable-rewrite-log": "true"}, "logs/location", "rewrite_log on;\n"},
		"retries":              {map[string]string{"proxy-next-upstream": "http_500 off"}, "next-upstream/location", "proxy_next_upstream http_500 off;\n"},
		"retries at all":       {map[string]string{"proxy-next-upstream-tries": "0", "proxy-next-upstream-timeout": "7"}, "next-upstream/location", "proxy_next_upstream_tries 0;\nproxy_next_upstream_timeout 7;\n"},
		"cors for all, shared": {map[string]string{"enable-cors": "true"}, "cors/shared", ""},
		"cors for all": {map[string]string{"enable-cors": "true", "cors-allow-headers": "X-A", "cors-allow-credentials": "false"}, "cors/location", `proxy_hide_header Strict-Transport-Security;
proxy_hide_header Access-Control-Allow-Origin;
add_header Access-Control-Allow-Origin "*" always;
proxy_hide_header Access-Control-Allow-Methods;
add_header Access-Control-Allow-Methods "GET, PUT, POST, DELETE, PATCH, OPTIONS" always;
proxy_hide_header Access-Control-Allow-Headers;
add_header Access-Control-Allow-Headers "X-A" always;
proxy_hide_header Access-Control-Max-Age;
add_header Access-Control-Max-Age "1728000" always;
if ($request_method = OPTIONS) {
    return 204;
}`},
		"cors for some, first": {corsForSome, "cors/first", "set $cors_list LIST;\nset $cors_granted $cors_match;\n"},
		"cors for all, first":  {map[string]string{"enable-cors": "true"}, "cors/first", ""},
		"cors for some": {corsForSome, "cors/location", `proxy_hide_header Strict-Transport-Security;
proxy_hide_header Access-Control-Allow-Origin;
add_header Access-Control-Allow-Origin $cors_allow_origin always;
proxy_hide_header Access-Control-Allow-Credentials;
add_header Access-Control-Allow-Credentials $cors_allow_credentials always;
proxy_hide_header Access-Control-Allow-Methods;
add_header Access-Control-Allow-Methods $cors_allow_methods always;
proxy_hide_header Access-Control-Allow-Headers;
add_header Access-Control-Allow-Headers $cors_allow_headers always;
proxy_hide_header Access-Control-Expose-Headers;
add_header Access-Control-Expose-Headers $cors_expose_headers always;
proxy_hide_header Access-Control-Max-Age;
add_header Access-Control-Max-Age $cors_max_age always;
if ($cors_preflight) {
    return 204;
}`},
		"cors for some, shared": {corsForSome, "cors/shared", `map $http_origin $cors_any_label {
    default "";
    "~*^([a-z][a-z0-9+\-.]*://)[a-z0-9\-]+(\..+)$" $1*$2;
}
map "$cors_list/$cors_any_label" $cors_wildcard {
    volatile;
    default "";
    "LIST/https://*.a.example" $cors_list;
}
map "$cors_list/$http_origin" $cors_match {
    volatile;
    default $cors_wildcard;
    "LIST/https://b.example:8443" $cors_list;
}
map $request_method $cors_preflight {
    volatile;
    default "";
    OPTIONS $cors_granted;
}
map $cors_granted $cors_allow_origin {
    "" $upstream_http_access_control_allow_origin;
    default $http_origin;
}
map $cors_granted $cors_allow_credentials {
    "" $upstream_http_access_control_allow_credentials;
    LIST "true";
}
map $cors_granted $cors_allow_methods {
    "" $upstream_http_access_control_allow_methods;
    LIST "PUT";
}
map $cors_granted $cors_allow_headers {
    "" $upstream_http_access_control_allow_headers;
    LIST "X-A";
}
map $cors_granted $cors_expose_headers {
    "" $upstream_http_access_control_expose_headers;
    LIST "X-B";
}
map $cors_granted $cors_max_age {
    "" $upstream_http_access_control_max_age;
    LIST "60";
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocks := readWith(t, nil, test.annotations).Blocks()
			if len(blocks) != 1 {
				t.Fatalf("%d blocks, want 1", len(blocks))
			}
			var out bytes.Buffer
			if err := all.ExecuteTemplate(&out, test.template, blocks[0].Data); err != nil {
				t.Fatal(err)
			}
			got := out.Bytes()
			if c, ok := blocks[0].Data.(corsBlock); ok && c.List != "" {
				got = bytes.ReplaceAll(got, []byte(c.List), []byte("LIST"))
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var corsForSome = map[string]string{
	"enable-cors": "true", "cors-allow-origin": "https://b.example:8443, https://*.a.example", "cors-allow-methods": "PUT",
	"cors-allow-headers": "X-A", "cors-expose-headers": "X-B", "cors-max-age": "60",
}

// Only what is declared to answer requests by itself may do so: the redirect to
// HTTPS of a whole server would come before it.
func TestAnswersAreDeclared(t *testing.T) {
	t.Parallel()
	for _, b := range All() {
		if b.Kind != Decorating {
			continue
		}
		text, err := os.ReadFile("../../templates/behaviour/" + b.Name + ".tmpl")
		if err != nil {
			t.Fatal(err)
		}
		if prints := bytes.Contains(text, []byte("return ")); prints != b.Answers {
			t.Errorf("%s: Answers is %v, and a template that returns is there: %v", b.Name, b.Answers, prints)
		}
	}
}

// Ingresses that say the same share their entries; any difference makes others.
func TestCORSLists(t *testing.T) {
	t.Parallel()
	list := func(changes map[string]string) string {
		annotations := map[string]string{}
		for _, from := range []map[string]string{corsForSome, changes} {
			for key, value := range from {
				annotations[key] = value
			}
		}
		return readWith(t, nil, annotations).Blocks()[0].Data.(corsBlock).List
	}
	first := list(nil)
	if got := list(map[string]string{"cors-allow-origin": "https://*.A.example,https://b.example:8443"}); got != first {
		t.Errorf("the same list in another order has %s, not %s", got, first)
	}
	for key, value := range map[string]string{"cors-allow-origin": "https://b.example:8443", "cors-allow-methods": "GET", "cors-max-age": "61", "cors-allow-credentials": "false"} {
		if got := list(map[string]string{key: value}); got == first {
			t.Errorf("%s=%s shares the list %s", key, value, got)
		}
	}
}
