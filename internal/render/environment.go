package render

import (
	"cmp"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// Environment is what nginx.conf must say of the machine and the nginx that
// read it.
type Environment struct {
	// HTTPPort and HTTPSPort are where nginx listens.
	HTTPPort, HTTPSPort int
	// Addresses are where it listens; none means all. IPv6 addresses come
	// without brackets.
	Addresses []string
	// StateDir is the absolute path of the only folder that is written to.
	StateDir string
	// Lua is the folder that holds sluice/*.lua.
	Lua string
	// LuaPath and LuaCPath are the search paths of the Lua libraries, besides
	// Lua and Lua's own; patterns separated by semicolons.
	LuaPath, LuaCPath string
	// Modules are the absolute paths of the modules to load, in order.
	Modules []string
	// StreamModule is the absolute path of the module that is loaded besides
	// where there are streams; "" if nginx has it built in, or not at all.
	StreamModule string
	// HeadersMoreModule is the absolute path of the module that is loaded besides
	// where a snippet uses it; "" if there is none.
	HeadersMoreModule string
	// User is who the workers run as; "" prints nothing.
	User string
	// Workers is the number of CPUs that "auto" workers are made for; 0 is 1.
	Workers int
	// OpenFiles is the hard limit of open files that nginx starts with, and
	// MostOpenFiles what workers can raise it to; 0 is not known.
	OpenFiles, MostOpenFiles int
	// IPv6 is set if the machine can listen on IPv6.
	IPv6 bool
	// Token is a word that nobody outside knows, for a header that no client may
	// send; letters and digits.
	Token string
	// Memory is what this nginx was started with; none means what the settings say.
	Memory model.Memory
	// Capabilities are what the nginx can do.
	Capabilities Capabilities
}

// Capabilities are what differs between the versions of nginx that matter here.
type Capabilities struct {
	// HTTP2Directive is set if http2 is a directive and not a parameter of
	// listen (nginx 1.25.1 and later).
	HTTP2Directive bool
	// Stream is set if TCP and UDP services can be passed on, SSLPreread if TLS
	// can be by the name that is asked for, and StreamRealIP if the address in a
	// PROXY header can be taken over there.
	Stream, SSLPreread, StreamRealIP bool
	// HeadersMore is set if snippets can use the directives of headers-more.
	HeadersMore bool
}

// within gives a path below the state directory.
func (e *Environment) within(path string) string { return e.StateDir + "/" + path }

// socket names a unix socket of our own.
func (e *Environment) socket(name string) string { return "unix:" + e.within("run/"+name+".sock") }

// entry gives the path of a Lua entry point.
func (e *Environment) entry(name string) string { return e.Lua + "/sluice/entry/" + name + ".lua" }

// mainView is what the templates of the file and of its fixed servers are given.
type mainView struct {
	Modules []string

	User     string
	PID      string
	Workers  int
	LuaPath  string
	LuaCPath string
	Lua      luaView
	Memory   memoryView
	// Nowhere is a folder that does not exist: what no location answers is not
	// found.
	Nowhere           string
	Temp              tempView
	ControlSocket     string
	UnavailableSocket string
	NotFoundSocket    string
	LoopSocket        string
	HTTPSPort         int
	HTTP2             bool
	Hash              hashView
	Forwarded         forwardedView
	// Withheld are headers that backends never get from a client.
	Withheld []string
	Hops     hopsView

	// OpenFiles is 0 to leave the limit as it is.
	OpenFiles, Connections int

	// Stream is nil where there is no stream.
	Main, Events, HTTP, Stream, Blocks insertion
}

// luaView is the paths of the Lua entry points.
type luaView struct{ Init, InitWorker, ExitWorker, Control, RealIP string }

// tempView is the folders of temporary files.
type tempView struct{ Body, Proxy, FastCGI, UWSGI, SCGI string }

func (e *Environment) view() *mainView {
	return &mainView{
		Modules: e.Modules, User: e.User, PID: e.within("nginx.pid"), Workers: max(e.Workers, 1),
		Memory:  e.memory(settings.Memory{}),
		LuaPath: luaPath(e.Lua+"/?.lua", e.LuaPath), LuaCPath: luaPath("", e.LuaCPath),
		Lua:     luaView{Init: e.entry("init"), InitWorker: e.entry("init_worker"), ExitWorker: e.entry("exit_worker"), Control: e.entry("control"), RealIP: e.entry("real_ip")},
		Nowhere: e.within("none"),
		Temp: tempView{
			Body: e.within("temp/body"), Proxy: e.within("temp/proxy"), FastCGI: e.within("temp/fastcgi"),
			UWSGI: e.within("temp/uwsgi"), SCGI: e.within("temp/scgi"),
		},
		ControlSocket:     e.socket("control"),
		UnavailableSocket: e.socket("503"),
		NotFoundSocket:    e.socket("404"),
		LoopSocket:        e.socket("508"),
		HTTPSPort:         e.HTTPSPort,
	}
}

// memoryView is the sizes of the dictionaries.
type memoryView struct{ Backends, Certificates keys.Size }

func (e *Environment) memory(said settings.Memory) memoryView {
	sizes := cmp.Or(e.Memory, said.Sizes())
	return memoryView{keys.SizeOf(sizes.Backends), keys.SizeOf(sizes.Certificates)}
}

// luaPath joins search paths; the empty pattern at the end is Lua's own path.
func luaPath(paths ...string) string {
	joined := ""
	for _, path := range paths {
		if path != "" {
			joined += path + ";"
		}
	}
	if joined == "" {
		return ";;"
	}
	return joined + ";"
}
