package render

import (
	"cmp"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// Environment describes the machine and the nginx that reads nginx.conf.
type Environment struct {
	// HTTPPort and HTTPSPort are the ports of nginx.
	HTTPPort, HTTPSPort int
	// Addresses are the addresses on which nginx listens; none means all. IPv6
	// addresses have no brackets.
	Addresses []string
	// StateDir is the absolute path of the only writable folder.
	StateDir string
	// Lua is the folder that holds sluice/*.lua.
	Lua string
	// LuaPath and LuaCPath are the search paths of the Lua libraries, besides
	// Lua and Lua's own; patterns separated by semicolons.
	LuaPath, LuaCPath string
	// Modules are the absolute paths of the modules to load, in order.
	Modules []string
	// StreamModule is the absolute path of a module that is loaded if there are streams;
	// "" if nginx has it built in, or not at all.
	StreamModule string
	// HeadersMoreModule is the absolute path of a module that is loaded if a snippet
	// uses it; "" if there is none.
	HeadersMoreModule string
	// ModSecurityModule is the absolute path of a module that is loaded if ModSecurity
	// inspects requests; "" if there is none. CoreRules are the files of the OWASP core rule
	// set, with * for all of a folder; nil if it is not installed.
	ModSecurityModule string
	CoreRules         []string
	// BrotliModule and GeoIPModule are the absolute paths of modules that are loaded if the
	// settings ask for them; "" if there are none. Databases are those of GeoIP.
	BrotliModule, GeoIPModule string
	Databases                 []Database
	// User is the user of the workers; "" prints nothing.
	User string
	// Workers is the number of "auto" workers; 0 is 1.
	Workers int
	// OpenFiles is the hard limit of open files when nginx starts, and MostOpenFiles
	// the maximum that workers can set; 0 is not known.
	OpenFiles, MostOpenFiles int
	// IPv6 is set if the machine can listen on IPv6.
	IPv6 bool
	// Token is a secret word of letters and digits, for names of headers that no client
	// may send.
	Token string
	// Memory is the memory with which this nginx was started; zero means that of the
	// settings.
	Memory model.Memory
	// Capabilities are those of the nginx binary.
	Capabilities Capabilities
	// Metrics says which requests are counted.
	Metrics Metrics
}

// Capabilities are the differences between nginx binaries.
type Capabilities struct {
	// HTTP2Directive is set if http2 is a directive and not a parameter of
	// listen (nginx 1.25.1 and later).
	HTTP2Directive bool
	// HTTP3 is set if nginx can listen for QUIC.
	HTTP3 bool
	// StubStatus is set if nginx can show its counters.
	StubStatus bool
	// Stream is set for TCP and UDP services, SSLPreread for TLS that is passed through
	// by server name, and StreamRealIP for addresses from a PROXY header there.
	Stream, SSLPreread, StreamRealIP bool
	// HeadersMore is set if snippets can use the directives of headers-more.
	HeadersMore bool
	// ModSecurity is set if requests can be inspected.
	ModSecurity bool
	// Brotli is set if answers can be compressed by brotli, GeoIP if clients can be looked up
	// in databases.
	Brotli, GeoIP bool
}

// within returns a path below the state directory.
func (e *Environment) within(path string) string { return e.StateDir + "/" + path }

// socket returns the address of a unix socket of ours.
func (e *Environment) socket(name string) string { return "unix:" + e.within("run/"+name+".sock") }

// entry returns the path of a Lua entry point.
func (e *Environment) entry(name string) string { return e.Lua + "/sluice/entry/" + name + ".lua" }

// mainView is the data of the templates of the file and of its fixed servers.
type mainView struct {
	Modules []string

	User     string
	PID      string
	Workers  int
	LuaPath  string
	LuaCPath string
	Lua      luaView
	Memory   memoryView
	// Nowhere is a folder that does not exist, so that nginx serves no files.
	Nowhere           string
	Temp              tempView
	ControlSocket     string
	UnavailableSocket string
	NotFoundSocket    string
	LoopSocket        string
	HTTPSPort         int
	HTTP2             bool
	// EarlyData is set if requests in early data have a header for backends. DHParams is the
	// path of Diffie-Hellman parameters, "" for none.
	EarlyData bool
	DHParams  string
	// DebugHeader is nil if no client gets the header X-Sluice-Debug.
	DebugHeader *debugHeaderView
	// HasCounters is set if nginx has counters of connections and requests for metrics.
	HasCounters bool
	// Metrics is nil if no requests are counted.
	Metrics   *metricsView
	Hash      hashView
	Forwarded forwardedView
	// Withheld are headers that backends never get from a client.
	Withheld []string
	Hops     hopsView
	// Joined is nil if each header for backends has a directive of its own.
	Joined *joinedView

	// OpenFiles is 0 to leave the limit as it is.
	OpenFiles, Connections int

	// Stream is nil if there is no stream level.
	Main, Events, HTTP, Stream, Headers, Blocks insertion
}

// luaView has the paths of the Lua entry points.
type luaView struct{ Init, InitWorker, ExitWorker, Control, RealIP string }

// tempView has the folders of temporary files.
type tempView struct{ Body, Proxy, FastCGI, UWSGI, SCGI string }

func (e *Environment) view() *mainView {
	view := &mainView{
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
	view.HasCounters = e.Metrics.Requests && e.Capabilities.StubStatus
	view.Metrics = e.metrics()
	return view
}

// memoryView has the sizes of the dictionaries.
type memoryView struct{ Backends, Certificates keys.Size }

func (e *Environment) memory(wanted settings.Memory) memoryView {
	sizes := cmp.Or(e.Memory, wanted.Sizes())
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
