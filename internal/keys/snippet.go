package keys

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"sluice/internal/syntax"
	"sluice/templates"
)

// Snippet is directives of nginx as an Ingress writes them. They stand in its
// locations as they are, and reach nothing outside of them.
type Snippet string

// longestSnippet bounds what one Ingress adds to nginx.conf for each of its paths.
const longestSnippet = 32768

// UnmarshalText accepts whole directives, but for those that reach further than the
// location that they stand in.
func (s *Snippet) UnmarshalText(text []byte) error {
	if len(text) > longestSnippet {
		return &specific{fmt.Sprintf("it has %d bytes, more than %d", len(text), longestSnippet)}
	}
	statements, err := syntax.Parse(text)
	if err != nil {
		return &specific{err.Error()}
	}
	for _, statement := range statements {
		why := reaches(statement)
		if name := overwrites(statement); name != "" {
			why = "sets $" + name + ", on which others depend"
		}
		if why != "" {
			return &specific{fmt.Sprintf("line %d: %s %s", statement.Line, Quote(statement.Name()), why)}
		}
	}
	*s = Snippet(text)
	return nil
}

// Contains reports whether a directive of one of the names is in the snippet.
func (s Snippet) Contains(names ...string) bool {
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		for _, name := range names {
			if statement.Name() == name {
				return true
			}
		}
	}
	return false
}

// far are directives that reach further than their location, with what they do.
var far = []struct {
	name *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`lua|^js_|^perl`), "runs programs in nginx, which holds the private keys of all hosts"},
	{regexp.MustCompile(`^include$`), "adds text that is not in the snippet"},
	{regexp.MustCompile(`_store$|_temp_path$|^dav_|^modsecurity|^xslt_`), "writes files"},
}

// reaches says how a directive reaches further than its location, "" if it does not.
// It is the rest of a sentence that begins with the directive.
func reaches(s syntax.Statement) string {
	for _, f := range far {
		if f.name.MatchString(s.Name()) {
			return f.why
		}
	}
	argument := ""
	if len(s.Tokens) > 1 {
		argument = s.Tokens[1]
	}
	// Sluice reads on /dev/stderr why nginx refuses a file: clients could imitate it.
	switch name := s.Name(); {
	case name == "access_log" && argument == "off", name == "error_log" && argument == "stderr":
	case name == "access_log" || name == "error_log":
		if !logTarget.MatchString(argument) || strings.Contains(argument, "unix:") {
			return "writes to another file than /dev/stdout, /dev/null or one below /var/log"
		}
	case certificate.MatchString(name) && !strings.HasPrefix(argument, "/"):
		// OpenSSL finds an engine by its path, too.
		return "may load a library: want the path of a file"
	case strings.HasSuffix(name, "_pass") && !namesHost(argument):
		return "may lead to a unix socket: want a host that is written out"
	}
	return ""
}

// overwrites gives the variable that a directive sets though it is not the snippet's
// own, "" for none. Where a group of a pattern has the name of one, nginx forgets for
// all requests what it meant. Package render has the last word: it knows what the
// templates in force use.
func overwrites(s syntax.Statement) string {
	variable, groups := s.Sets()
	if variable != "args" && variable != "limit_rate" && foreign(variable) {
		return variable
	}
	for _, group := range groups {
		if group == "args" || group == "limit_rate" || foreign(group) {
			return group
		}
	}
	return ""
}

// foreign is true for a variable of the templates, and for one that nginx makes of
// what is behind its prefix.
func foreign(name string) bool { return ofTemplates()[name] || prefixed.MatchString(name) }

var prefixed = regexp.MustCompile(`^(?:arg|cookie|http|sent_(?:http|trailer)|upstream_(?:cookie|http|trailer))_`)

var ofTemplates = sync.OnceValue(func() map[string]bool {
	used := map[string]bool{}
	err := fs.WalkDir(templates.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates.Files, path)
		for _, name := range syntax.Variables(text) {
			used[name] = true
		}
		return err
	})
	if err != nil {
		panic("keys: " + err.Error()) // They are in the binary.
	}
	return used
})

var certificate = regexp.MustCompile(`_ssl_certificate(?:_key)?$`)

var logTarget = regexp.MustCompile(`^(?:/dev/(?:stdout|null)|syslog:.*|` + logFile + `)$`)

// namesHost is true if what a request is passed to is no unix socket, whatever its
// variables hold.
func namesHost(target string) bool {
	const socket = "unix:"
	literal, _, variable := strings.Cut(strings.ToLower(target), "$")
	scheme, host, found := strings.Cut(literal, "://")
	if !found {
		return !variable && !strings.HasPrefix(scheme, socket)
	}
	return !strings.HasPrefix(host, socket) && !(variable && strings.HasPrefix(socket, host))
}
