package snippets

import "strings"

// block deals with the directives of a block. Groups of directives come first, because
// their parts mean something else alone.
func (r *reader) block(nodes []*node, at scope) {
	r.access(nodes, at)
	r.crossOrigin(nodes, at)
	r.errorPages(nodes, at)
	r.bufferSize = ""
	for _, n := range nodes {
		if n.Name() == "proxy_buffer_size" {
			r.bufferSize = n.argument(1)
		}
	}
	for _, n := range nodes {
		if !r.done[n] {
			r.directive(n, at)
		}
	}
}

// directive deals with one directive.
func (r *reader) directive(n *node, at scope) {
	name := n.Name()
	switch {
	case name == "location":
		r.location(n, at)
	case name == "if":
		r.condition(n, at)
	case simple[name].annotation != "":
		r.simple(n, at, simple[name])
	case special[name] != nil:
		special[name](r, n, at)
	case usual[name] == n.arguments() && usual[name] != "":
		r.needlessFor(n, "it is the default")
	case ofFiles[name]:
		r.needlessFor(n, "it is about files, which nginx of Sluice does not serve")
	case settings[name] != "":
		r.leave(n, "want the setting "+settings[name]+" of the controller, which holds for all hosts")
	case instead[name] != "":
		r.leave(n, instead[name])
	case strings.Contains(name, "_by_lua"), strings.HasPrefix(name, "js_"):
		r.leave(n, "Sluice runs no programs of Ingresses")
	case strings.HasPrefix(name, "proxy_cache"):
		r.leave(n, "Sluice keeps no answers of backends: want a cache in front of the Service")
	default:
		r.leave(n, "")
	}
}

func (r *reader) location(n *node, at scope) {
	inner, ok := scopeOf(n)
	switch {
	case !ok || at.path != "" || n.argument(1) == "":
		r.leave(n, "no path of an Ingress stands for this location")
		return
	case !r.Server:
		r.leave(n, "nginx refuses a location here: it belongs into the server")
		return
	case servesFiles(n.block):
		r.leave(n, "nginx of Sluice has no files to serve: want a Service for this path")
		return
	}
	r.done[n] = true
	inner.where = at.where
	r.block(n.block, inner)
}

// servesFiles reports whether a location answers with files of the machine.
func servesFiles(nodes []*node) bool {
	for _, n := range nodes {
		switch n.Name() {
		case "root", "alias", "try_files", "autoindex":
			return true
		}
	}
	return false
}

// special are directives that need more than a value.
var special = map[string]func(r *reader, n *node, at scope){
	"add_header":             (*reader).addHeader,
	"more_set_headers":       (*reader).moreSetHeaders,
	"more_clear_headers":     (*reader).moreClearHeaders,
	"proxy_hide_header":      (*reader).moreClearHeaders,
	"grpc_hide_header":       (*reader).moreClearHeaders,
	"proxy_set_header":       (*reader).setHeader,
	"grpc_set_header":        (*reader).setHeader,
	"more_set_input_headers": (*reader).moreSetInputHeaders,
	"more_clear_input_headers": func(r *reader, n *node, at scope) {
		r.clear(n, at, "request-headers")
	},
	"proxy_pass_header": (*reader).passHeader,
	"return":            (*reader).answer,
	"rewrite":           (*reader).rewrite,
	"set":               (*reader).set,
	"auth_request_set":  (*reader).set,
	"auth_request":      (*reader).authRequest,
	"proxy_buffers":     (*reader).buffers,
	"proxy_redirect":    (*reader).proxyRedirect,
	"sub_filter":        (*reader).subFilter,
	"sub_filter_types":  (*reader).ofSubFilter,
	"sub_filter_once":   (*reader).ofSubFilter,
	"proxy_cookie_path": (*reader).cookiePath,
	"access_log":        (*reader).accessLog,
	"auth_basic":        (*reader).authBasic,
	"break":             func(r *reader, n *node, _ scope) { r.needlessFor(n, "nothing comes after it") },
}
