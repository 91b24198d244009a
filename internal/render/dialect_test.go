package render

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/tokens"
)

// Whoever adds a directive of the proxy module to a template has to say what it is for
// gRPC and FastCGI, or that they have none.
func TestDialectsKnowEveryDirective(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	seen := 0
	for _, at := range []*tokens.Node{loaded.grammar.At(inHTTP...), loaded.hosts.At(inLocation...)} {
		for name := range at.Leaves {
			if !strings.HasPrefix(name, "proxy_") || slices.Contains([]string{"proxy_pass", setHeader, "proxy_temp_path", "proxy_headers_hash_max_size", "proxy_headers_hash_bucket_size"}, name) {
				continue
			}
			seen++
			for _, d := range dialects {
				if _, known := d.words[name]; !known {
					t.Errorf("%s has no word for %s", d.protocol, name)
				}
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d directives were found", seen)
	}
}

func TestTranslations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ http, grpc, fastcgi string }{
		{"proxy_read_timeout 5s;", "grpc_read_timeout 5s;", "fastcgi_read_timeout 5s;"},
		{`proxy_set_header X-A_b "a $b";`, `grpc_set_header X-A_b "a $b";`, `fastcgi_param HTTP_X_A_B "a $b" if_not_empty;`},
		{`proxy_set_header Authorization "";`, `grpc_set_header Authorization "";`, `fastcgi_param HTTP_AUTHORIZATION "";`},
		{"proxy_set_header Connection close;", "", ""},
		{"proxy_set_header upgrade $upgrade;", "", ""},
		{"proxy_hide_header X-A;", "grpc_hide_header X-A;", "fastcgi_hide_header X-A;"},
		{"proxy_next_upstream error http_502 http_504;", "grpc_next_upstream error http_502 http_504;", "fastcgi_next_upstream error;"},
		{"proxy_next_upstream http_502;", "grpc_next_upstream http_502;", "fastcgi_next_upstream off;"},
		{"proxy_buffering on;", "", "fastcgi_buffering on;"},
		{"proxy_redirect off;", "", ""},
		{"proxy_ssl_verify on;", "grpc_ssl_verify on;", ""},
		{`add_header A "proxy_read_timeout 5s;";`, `add_header A "proxy_read_timeout 5s;";`, `add_header A "proxy_read_timeout 5s;";`},
		{"if ($a) { proxy_read_timeout 5s; }", "if ($a) { proxy_read_timeout 5s; }", "if ($a) { proxy_read_timeout 5s; }"},
	} {
		for protocol, want := range map[model.BackendProtocol]string{"": c.http, model.GRPC: c.grpc, model.FastCGI: c.fastcgi, model.AutoHTTP: c.http} {
			if got := string(dialectFor(protocol).translate([]byte(c.http))); got != want {
				t.Errorf("%s in %q: want %q, got %q", c.http, protocol, want, got)
			}
		}
	}
}

// A Lua file in a host is one of ours.
func TestForeignLuaIsRefused(t *testing.T) {
	t.Parallel()
	loaded := load(t)
	for text, fits := range map[string]bool{
		`location "/" { rewrite_by_lua_file /lua/sluice/entry/unavailable.lua; }`:               true,
		`location "/" { rewrite_by_lua_file "/lua/sluice/entry/unavailable.lua"; }`:             true,
		`location "/" { content_by_lua_file /lua/sluice/entry/../../../tmp/a.lua; }`:            false,
		`location "/" { rewrite_by_lua_file /tmp/unavailable.lua; }`:                            false,
		`location "/" { set_by_lua_file $escaped_request_uri /tmp/a.lua; }`:                     false,
		`location "/" { set_by_lua_file $escaped_request_uri /tmp/a.lua /sluice/entry/a.lua; }`: false,
		`location "/" { set_by_lua_file $escaped_request_uri /sluice/entry/a.lua /tmp/a.lua; }`: true,
		`location "/" { set_by_lua_file /sluice/entry/a.lua; }`:                                 false,
		`location "/" { rewrite_by_lua_file /tmp/a.lua /sluice/entry/a.lua; }`:                  false,
	} {
		if err := checkBlock(loaded.hosts.At(inServer...), []byte(text)); (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}
