package nginx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/test/program"
)

func TestInspect(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		i := s.install
		v, err := parseVersion("nginx version: nginx/" + i.Version)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := i.Capabilities.HTTP2Directive, v.atLeast(version{1, 25, 1}); got != want {
			t.Errorf("nginx %s: HTTP2Directive = %t, want %t", v, got, want)
		}
		if len(i.Modules) != 2 || !strings.HasSuffix(i.Modules[1], "/ngx_http_lua_module.so") {
			t.Errorf("modules: %q", i.Modules)
		}
		if s.options.Root != "" && !strings.HasPrefix(i.LuaPath, s.options.Root) {
			t.Errorf("LuaPath %q is not in %s", i.LuaPath, s.options.Root)
		}
		if got := i.Command("-v"); got[len(got)-1] != "-v" {
			t.Errorf("command: %q", got)
		}
	})
}

// fakeRoot returns a root whose dynamic loader prints a text instead of running nginx.
func fakeRoot(t *testing.T, text string, files ...string) string {
	t.Helper()
	root := t.TempDir()
	script := "#!/bin/sh\ncat <<'END'\n" + text + "\nEND\n"
	put(t, filepath.Join(root, "lib64/ld-linux-x86-64.so.2"), script)
	put(t, filepath.Join(root, "usr/sbin/nginx"), "")
	for _, file := range files {
		put(t, filepath.Join(root, file), "")
	}
	return root
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	program.Write(t, path, text)
}

const fine = `nginx version: nginx/1.26.3
configure arguments: --prefix=/usr/share/nginx --modules-path=/usr/lib/nginx/modules --with-http_v2_module --with-http_v3_module --with-stream=dynamic`

var (
	modules = []string{"usr/lib/nginx/modules/ndk_http_module.so", "usr/lib/nginx/modules/ngx_http_lua_module.so"}
	library = []string{"usr/share/lua/5.1/resty/core.lua", "usr/share/lua/5.1/ngx/ssl/clienthello.lua", "usr/share/lua/5.1/ngx/ocsp.lua", "usr/share/lua/5.1/resty/lrucache.lua", "usr/lib/lua/5.1/cjson.so"}
)

func TestInspectSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	without := func(name string) []string {
		var left []string
		for _, file := range append(append([]string{}, modules...), library...) {
			if !strings.HasSuffix(file, name) {
				left = append(left, file)
			}
		}
		return left
	}
	tests := []struct {
		name, text string
		files      []string
		want       string
	}{
		{"too old", strings.ReplaceAll(fine, "1.26.3", "1.20.2"), without("-"), "nginx 1.20.2 is too old: install nginx 1.22.0 or newer"},
		{"no version", "nothing", nil, "`nginx -V` names no version: nothing"},
		{"no ndk", fine, without("ndk_http_module.so"), "nginx lacks Lua: no ndk_http_module.so in ROOT/usr/lib/nginx/modules: install libnginx-mod-http-lua"},
		{"no lua", fine, without("ngx_http_lua_module.so"), "nginx lacks Lua: no ngx_http_lua_module.so in ROOT/usr/lib/nginx/modules: install libnginx-mod-http-lua"},
		{"no core", fine, without("core.lua"), "Lua library resty/core.lua not found in ROOT/usr/share/lua/5.1: install lua-resty-core"},
		{"no OCSP", fine, without("ocsp.lua"), "Lua library ngx/ocsp.lua not found in ROOT/usr/share/lua/5.1: install lua-resty-core"},
		{"no lrucache", fine, without("lrucache.lua"), "Lua library resty/lrucache.lua not found in ROOT/usr/share/lua/5.1: install lua-resty-lrucache"},
		{"no cjson", fine, without("cjson.so"), "Lua library cjson.so not found in the usual directories: install lua-cjson"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := fakeRoot(t, test.text, test.files...)
			_, err := Inspect(t.Context(), Options{Root: root})
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(test.want, strings.ReplaceAll(err.Error(), root, "ROOT")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInspectFindsModules(t *testing.T) {
	t.Parallel()
	extra := []string{"usr/lib/nginx/modules/ngx_stream_module.so", "usr/lib/nginx/modules/ngx_http_headers_more_filter_module.so"}
	root := fakeRoot(t, fine, append(append(extra, modules...), library...)...)
	install, err := Inspect(t.Context(), Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	want := Capabilities{
		Features:       []string{"headers-more", "http2", "http2-directive", "http3", "stream"},
		HTTP2Directive: true, HTTP3: true,
		Stream:      filepath.Join(root, extra[0]),
		HeadersMore: filepath.Join(root, extra[1]),
	}
	if diff := cmp.Diff(want, install.Capabilities); diff != "" {
		t.Error(diff)
	}
}

func TestInspectWithoutNginx(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options Options
		want    string
	}{
		{"named", Options{Binary: "/no/such/nginx"}, "nginx not found: /no/such/nginx is not an executable file: install nginx with \"apt-get install " + packages + "\" or name another with --nginx-binary"},
		{"empty root", Options{Root: "/no/such/root"}, "nginx not found in /no/such/root: install " + packages + " there"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Inspect(t.Context(), test.options)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestInspectFailsInOneLine(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "nginx")
	put(t, binary, "#!/bin/sh\necho one\necho two\nexit 3\n")
	_, err := Inspect(t.Context(), Options{Binary: binary})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), "exit status 3: one two") {
		t.Errorf("got %v", err)
	}
}

func TestConfigureArguments(t *testing.T) {
	t.Parallel()
	got := configureArguments("built by gcc\nconfigure arguments: --with-cc-opt='-g -O2' --prefix=/x  --with-threads\nmore")
	if diff := cmp.Diff([]string{"--with-cc-opt=-g -O2", "--prefix=/x", "--with-threads"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestModulesDir(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		options   Options
		arguments []string
		want      string
	}{
		{"named", Options{}, []string{"--prefix=/p", "--modules-path=/m"}, "/m"},
		{"relative to the prefix", Options{}, []string{"--prefix=/p", "--modules-path=m"}, "/p/m"},
		{"by default", Options{}, []string{"--prefix=/p"}, "/p/modules"},
		{"nothing said", Options{}, nil, "/usr/local/nginx/modules"},
		{"another root", Options{Root: "/r"}, []string{"--modules-path=/m"}, "/r/m"},
	}
	for _, test := range tests {
		if got := modulesDir(test.options, test.arguments); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
