package nginx

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Capabilities are the features of an nginx binary. Only this file looks at versions.
type Capabilities struct {
	// Features are the names of all features, sorted, for people.
	Features []string
	// HTTP2Directive is set if `http2 on` is a directive instead of a parameter of
	// listen. Source: https://nginx.org/en/docs/http/ngx_http_v2_module.html#http2
	HTTP2Directive bool
	HTTP3          bool // listen ... quic
	StubStatus     bool // stub_status

	SSLPreread   bool // ssl_preread, where there are streams
	StreamRealIP bool // set_real_ip_from for streams

	// Stream, HeadersMore, ModSecurity, Brotli and GeoIP are the files of dynamic modules,
	// empty if not installed. Stream is BuiltIn if it needs no file.
	Stream, HeadersMore, ModSecurity, Brotli, GeoIP string
	// CoreRules are the files of the OWASP core rule set in their order, with * for all of a
	// folder; nil if it is not installed.
	CoreRules []string
}

// BuiltIn stands for the path of a module that needs no load_module.
const BuiltIn = "built-in"

// feature is the configure argument or the module file of a feature.
type feature struct{ argument, file string }

var features = map[string]feature{
	"auth-request":   {argument: "--with-http_auth_request_module"},
	"brotli":         {file: "ngx_http_brotli_filter_module.so"},
	"brotli-static":  {file: "ngx_http_brotli_static_module.so"},
	"geoip2":         {file: "ngx_http_geoip2_module.so"},
	"headers-more":   {file: "ngx_http_headers_more_filter_module.so"},
	"http2":          {argument: "--with-http_v2_module"},
	"http3":          {argument: "--with-http_v3_module"},
	"modsecurity":    {file: "ngx_http_modsecurity_module.so"},
	"opentelemetry":  {file: "ngx_otel_module.so"},
	"real-ip":        {argument: "--with-http_realip_module"},
	"ssl-preread":    {argument: "--with-stream_ssl_preread_module"},
	"stream":         {argument: "--with-stream", file: "ngx_stream_module.so"},
	"stream-real-ip": {argument: "--with-stream_realip_module"},
	"stub-status":    {argument: "--with-http_stub_status_module"},
	"threads":        {argument: "--with-threads"},
}

// capabilities finds the features by the arguments that nginx was built with and by the
// files in the directory of modules.
func capabilities(v version, arguments []string, dir string) Capabilities {
	found := map[string]string{}
	for name, f := range features {
		if slices.Contains(arguments, f.argument) {
			found[name] = BuiltIn
		} else if path := moduleFile(dir, f.file); path != "" {
			found[name] = path
		}
	}
	if found["http2"] != "" && v.atLeast(version{1, 25, 1}) {
		found["http2-directive"] = BuiltIn
	}
	return Capabilities{
		Features: slices.Sorted(maps.Keys(found)), HTTP2Directive: found["http2-directive"] != "", HTTP3: found["http3"] != "", StubStatus: found["stub-status"] != "",
		SSLPreread: found["ssl-preread"] != "", StreamRealIP: found["stream-real-ip"] != "",
		Stream: found["stream"], HeadersMore: found["headers-more"], ModSecurity: found["modsecurity"],
		Brotli: found["brotli"], GeoIP: found["geoip2"],
	}
}

// StreamModule is the file to load for streams, "" if there is none or none is
// needed.
func (c Capabilities) StreamModule() string {
	if c.Stream == BuiltIn {
		return ""
	}
	return c.Stream
}

// coreRules finds the OWASP core rule set as Debian's package modsecurity-crs installs it.
func coreRules(o Options) []string {
	setup, rules := o.inRoot("/etc/modsecurity/crs/crs-setup.conf"), o.inRoot("/usr/share/modsecurity-crs/rules")
	for _, path := range []string{setup, filepath.Join(rules, "REQUEST-901-INITIALIZATION.conf")} {
		if _, err := os.Stat(path); err != nil {
			return nil
		}
	}
	return []string{setup, filepath.Join(rules, "*.conf")}
}

// moduleFile returns the path of a module, or "" if it is not installed.
func moduleFile(dir, name string) string {
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// luaModules returns the modules that Lua needs, in the order of loading.
func luaModules(dir string) ([]string, error) {
	var paths []string
	for _, name := range []string{"ndk_http_module.so", "ngx_http_lua_module.so"} {
		path := moduleFile(dir, name)
		if path == "" {
			return nil, fmt.Errorf("nginx lacks Lua: no %s in %s: install libnginx-mod-http-lua", name, dir)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// luaLibraries finds the directories of Lua's libraries, and checks that they contain
// everything that Sluice's Lua code requires.
func luaLibraries(o Options) (path, cpath string, err error) {
	share := existing(o, "/usr/local/share/lua/5.1", "/usr/share/lua/5.1")
	shared := existing(o, "/usr/local/lib/lua/5.1", "/usr/lib/"+triplet()+"/lua/5.1", "/usr/lib/lua/5.1", "/usr/lib64/lua/5.1")
	needs := []struct {
		file, install string
		dirs          []string
	}{
		{"resty/core.lua", "lua-resty-core", share},
		{"ngx/ssl/clienthello.lua", "lua-resty-core", share},
		{"ngx/ocsp.lua", "lua-resty-core", share},
		{"resty/lrucache.lua", "lua-resty-lrucache", share},
		{"cjson.so", "lua-cjson", shared},
	}
	for _, need := range needs {
		if !inOne(need.dirs, need.file) {
			return "", "", fmt.Errorf("Lua library %s not found in %s: install %s", need.file, quoteList(need.dirs), need.install)
		}
	}
	for _, dir := range share {
		path += dir + "/?.lua;" + dir + "/?/init.lua;"
	}
	for _, dir := range shared {
		cpath += dir + "/?.so;"
	}
	return strings.TrimSuffix(path, ";"), strings.TrimSuffix(cpath, ";"), nil
}

func existing(o Options, dirs ...string) []string {
	var found []string
	for _, dir := range dirs {
		if info, err := os.Stat(o.inRoot(dir)); err == nil && info.IsDir() {
			found = append(found, o.inRoot(dir))
		}
	}
	return found
}

func inOne(dirs []string, file string) bool {
	for _, dir := range dirs {
		if moduleFile(dir, file) != "" {
			return true
		}
	}
	return false
}

func quoteList(dirs []string) string {
	if len(dirs) == 0 {
		return "the usual directories"
	}
	return strings.Join(dirs, " or ")
}

// configureArguments splits the line "configure arguments:" like a shell. nginx uses
// single quotes only.
func configureArguments(text string) []string {
	_, line, _ := strings.Cut(text, "configure arguments:")
	line, _, _ = strings.Cut(line, "\n")
	var arguments []string
	var word strings.Builder
	inQuotes := false
	for _, r := range line + " " {
		switch {
		case r == '\'':
			inQuotes = !inQuotes
		case r == ' ' && !inQuotes:
			if word.Len() > 0 {
				arguments = append(arguments, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return arguments
}

// modulesDir is the directory of dynamic modules that nginx was built with, within
// the root.
func modulesDir(o Options, arguments []string) string {
	prefix, dir := "/usr/local/nginx", ""
	for _, a := range arguments {
		if value, ok := strings.CutPrefix(a, "--prefix="); ok {
			prefix = value
		}
		if value, ok := strings.CutPrefix(a, "--modules-path="); ok {
			dir = value
		}
	}
	switch {
	case dir == "":
		dir = filepath.Join(prefix, "modules")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(prefix, dir)
	}
	return o.inRoot(dir)
}
