package render

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// modules are the paths of the modules that the file loads: the usual ones, that of streams
// if there is a stream, headers-more if a snippet uses it, ModSecurity if a location
// does, and brotli and GeoIP if the settings do.
func (r *rendering) modules() []string {
	paths := slices.Clip(r.env.Modules)
	if path := r.env.StreamModule; path != "" && len(r.streamBody) > 0 {
		paths = append(paths, path)
	}
	if path := r.env.HeadersMoreModule; path != "" && slices.ContainsFunc(r.body, func(c *chunk) bool { return c.headersMore }) {
		paths = append(paths, path)
	}
	if path := r.env.ModSecurityModule; path != "" && r.inspected.requests {
		paths = append(paths, path)
	}
	if path := r.env.BrotliModule; path != "" && r.global.Brotli.Enabled {
		paths = append(paths, path)
	}
	if path := r.env.GeoIPModule; path != "" && r.global.GeoIP.Enabled {
		paths = append(paths, path)
	}
	return paths
}

// withoutModules turns settings off for which this nginx lacks the module, and reports them.
func (r *rendering) withoutModules() {
	can := r.env.Capabilities
	if r.global.Brotli.Enabled && !can.Brotli {
		r.turnOff("brotli", "enable-brotli", "this nginx lacks the module for brotli: install libnginx-mod-http-brotli-filter; answers are compressed by gzip at most")
	}
	switch {
	case !r.global.HTTP3.Enabled:
	case !can.HTTP3:
		r.turnOff("http3", "use-http3", "this nginx lacks HTTP/3: want nginx 1.25 or later, built with --with-http_v3_module; clients use HTTP/2 at most")
	case !slices.Contains(r.global.TLS.Protocols, "TLSv1.3"):
		r.turnOff("http3", "use-http3", "HTTP/3 needs TLS 1.3: want TLSv1.3 in ssl-protocols; clients use HTTP/2 at most")
	}
	switch {
	case !r.global.GeoIP.Enabled:
	case !can.GeoIP:
		r.turnOff("geoip", "use-geoip2", "this nginx lacks the module for GeoIP2: install libnginx-mod-http-geoip2; its variables are empty in logs, and snippets cannot use them")
	case len(r.env.Databases) == 0:
		r.turnOff("geoip", "use-geoip2", "there is no database: want files such as GeoLite2-City.mmdb in the folder of --geoip-dir; the variables are empty in logs, and snippets cannot use them")
	}
}

// turnOff replaces a block by its default, which is off.
func (r *rendering) turnOff(block, key, text string) {
	off := findBlock(defaultSettings(), block)
	r.problems = append(r.problems, model.Problem{Object: findBlock(r.global.blocks, block).Source, Field: key, Reason: model.Unsupported, Text: text})
	r.global.read(*off)
	r.global.blocks = slices.Clone(r.global.blocks)
	*findBlock(r.global.blocks, block) = *off
}

// usesHeadersMore reports whether one of the snippets of a text, all closed, has a
// directive of headers-more.
func usesHeadersMore(text []byte, snippets []extent) bool {
	for _, e := range snippets {
		statements, _ := syntax.Parse(text[e.start:e.end])
		if slices.ContainsFunc(statements, ofHeadersMore) {
			return true
		}
	}
	return false
}

// ofHeadersMore reports whether a directive is one of headers-more.
// Source: https://github.com/openresty/headers-more-nginx-module#directives
func ofHeadersMore(s syntax.Statement) bool { return strings.HasPrefix(s.Name(), "more_") }
