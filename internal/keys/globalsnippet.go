package keys

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// GlobalSnippet contains nginx directives of the administrator, for the http level, all
// servers, all locations or the stream level. They may have effects that those of an
// Ingress may not have, but must not take over nginx from Sluice.
type GlobalSnippet string

// UnmarshalText accepts complete directives, except those by which nginx would obey others
// than Sluice.
func (s *GlobalSnippet) UnmarshalText(text []byte) error {
	if err := checkSnippet(text, takesOver); err != nil {
		return err
	}
	*s = GlobalSnippet(text)
	return nil
}

// MainSnippet contains nginx directives of the administrator for the main level.
type MainSnippet string

// UnmarshalText accepts complete directives, except those that Sluice writes.
func (s *MainSnippet) UnmarshalText(text []byte) error {
	err := checkSnippet(text, func(statement syntax.Statement) string {
		switch {
		case statement.Depth == 0 && ofMain[statement.Name()]:
			return "is a directive that Sluice writes, by other settings"
		case statement.Name() == "load_module" && (len(statement.Tokens) != 2 || !isInstalledModule(statement.Tokens[1])):
			return "may load a library that others can write: want modules/NAME.so, or a path ending in .so below " + model.OneOf(moduleFolders)
		}
		return takesOver(statement)
	})
	if err != nil {
		return err
	}
	*s = MainSnippet(text)
	return nil
}

// ofMain are the directives of the main level that Sluice writes, or by which it would lose
// nginx: it reads nginx's reasons in the error log.
var ofMain = map[string]bool{
	"user": true, "pid": true, "daemon": true, "master_process": true, "lock_file": true, "error_log": true,
	"worker_processes": true, "events": true, "http": true, "stream": true,
}

// moduleFolders are folders that the image or a volume of the administrator has.
var moduleFolders = []string{"/usr/", "/opt/", "/etc/nginx/", "/modules_mount/"}

func isInstalledModule(file string) bool {
	if path.Ext(file) != ".so" || path.Clean(file) != file {
		return false
	}
	return strings.HasPrefix(file, "modules/") || slices.ContainsFunc(moduleFolders, func(folder string) bool { return strings.HasPrefix(file, folder) })
}

// ofLua are the handlers of Lua that Sluice sets. At one level nginx runs only one of them, and only
// that of the innermost level.
var ofLua = regexp.MustCompile(`^(?:init|init_worker|exit_worker|rewrite|log|ssl_certificate|ssl_client_hello)_by_lua`)

// takesOver returns how a directive takes nginx over from Sluice, "" if it does not: the
// rest of a sentence that begins with the directive.
func takesOver(s syntax.Statement) string {
	name := s.Name()
	switch {
	case s.Depth == 0 && ofLua.MatchString(name), name == "lua_code_cache":
		return "is a directive that Sluice needs for itself"
	case s.Depth == 0 && name == "server_name":
		return "decides which requests come to the servers: want it in a server of the http-snippet, or server-alias"
	case s.Depth == 0 && name == "location" && ofSluice(s):
		return "is a location of Sluice"
	case slices.ContainsFunc(s.Tokens, namesControl):
		return "may name the unix socket at which nginx takes its backends: want another one, without variables in its name"
	}
	return ""
}

// namesControl reports whether a token can be the address of the control socket.
func namesControl(token string) bool {
	token = strings.ToLower(token)
	_, socket, found := strings.Cut(token, "unix:")
	return found && (strings.Contains(socket, "control.sock") || strings.Contains(socket, "$"))
}

// ofSluice reports whether a location has a path or a name of an internal location.
func ofSluice(s syntax.Statement) bool {
	return slices.ContainsFunc(s.Tokens[1:], func(token string) bool {
		token = strings.TrimLeft(token, "=^~* ")
		return strings.HasPrefix(token, model.InternalPrefix) || token == "@"+model.MissName || namedOfSluice.MatchString(token)
	})
}

// namedOfSluice matches the names of internal locations: a kind and a hash.
var namedOfSluice = regexp.MustCompile(`^@[a-z-]+-[0-9a-f]{16}$`)

// Locations returns the locations of the snippet that are in no other block.
func (s GlobalSnippet) Locations() []SnippetLocation { return ServerSnippet(s).Locations() }

// Ports returns the ports on which a snippet of the stream level listens, each once.
func (s GlobalSnippet) Ports() []model.StreamPort { return StreamSnippet(s).Ports() }

// Variables returns the variables that blocks of the snippet define, without their $.
func (s GlobalSnippet) Variables() []string { return StreamSnippet(s).Variables() }

// Place sets the position of a block with the snippet, as that of an Ingress.
func (s GlobalSnippet) Place(b *model.Block) { Snippet(s).Place(b) }
