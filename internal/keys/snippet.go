package keys

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sluice/internal/model"
	"sluice/internal/syntax"
	"sluice/templates"
)

// Snippet contains nginx directives of an Ingress. Its locations contain them
// unchanged. They must not affect anything outside their location.
type Snippet string

// longestSnippet limits the text that one Ingress adds to nginx.conf for each of its
// paths.
const longestSnippet = 32768

// UnmarshalText accepts complete directives, except those that reach beyond their
// location.
func (s *Snippet) UnmarshalText(text []byte) error {
	if err := checkSnippet(text, reachesInHTTP); err != nil {
		return err
	}
	*s = Snippet(text)
	return nil
}

// checkSnippet rejects text that is not complete directives, and each directive for which
// wrong returns a reason.
func checkSnippet(text []byte, wrong func(syntax.Statement) string) error {
	if len(text) > longestSnippet {
		return &specific{fmt.Sprintf("it has %d bytes, more than %d", len(text), longestSnippet)}
	}
	statements, err := syntax.Parse(text)
	if err != nil {
		return &specific{err.Error()}
	}
	for _, statement := range statements {
		why := wrong(statement)
		if name := overwrites(statement); name != "" {
			why = "sets $" + name + ", on which others depend"
		}
		if why != "" {
			return &specific{fmt.Sprintf("line %d: %s %s", statement.Line, model.Quoted(statement.Name()), why)}
		}
	}
	return nil
}

// QuestionSnippet contains nginx directives for the location of requests to an
// authentication server. These share the variables of the client's request, so the
// directives must not set any. nginx checks no access for them, so that they must not lead on to
// another location.
type QuestionSnippet string

// leadsOn matches the directives by which nginx goes on in another location, or asks a server whose
// X-Accel-Redirect it follows.
var leadsOn = regexp.MustCompile(`^(?:error_page|try_files|(?:fastcgi|grpc|memcached|scgi|uwsgi)_pass)$`)

// UnmarshalText accepts a Snippet without directives that set variables or change the URI.
func (s *QuestionSnippet) UnmarshalText(text []byte) error {
	var snippet Snippet
	if err := snippet.UnmarshalText(text); err != nil {
		return err
	}
	statements, _ := syntax.Parse(text)
	for _, statement := range statements {
		// A subrequest shares its variables with its parent, and the balancer finds the
		// server by the URI.
		if variable, groups := statement.Sets(); (variable != "" || len(groups) > 0 || statement.Name() == "rewrite") && !takesFromAnswer(statement) {
			return &specific{fmt.Sprintf("line %d: %s changes the request of the client", statement.Line, model.Quoted(statement.Name()))}
		}
		if leadsOn.MatchString(statement.Name()) {
			return &specific{fmt.Sprintf("line %d: %s may lead to another path of the host, whose protection nginx leaves out", statement.Line, model.Quoted(statement.Name()))}
		}
	}
	*s = QuestionSnippet(text)
	return nil
}

// fromAnswer matches the variables with headers of the answer of an authentication server.
var fromAnswer = regexp.MustCompile(`^\$(?:upstream_http_[A-Za-z0-9_]+|\{upstream_http_[A-Za-z0-9_]+\})$`)

// takesFromAnswer reports whether a directive sets a variable to a header of the answer of an
// authentication server.
func takesFromAnswer(s syntax.Statement) bool {
	return s.Name() == "auth_request_set" && s.Depth == 0 && len(s.Tokens) == 3 && fromAnswer.MatchString(s.Tokens[2])
}

// Split separates the directives that take headers of the answer: they count in the location that
// asks, as the recipe of Vouch means them.
func (s QuestionSnippet) Split() (question QuestionSnippet, takes Snippet) {
	statements, _ := syntax.Parse([]byte(s))
	done, asked := 0, ""
	for _, statement := range statements {
		if takesFromAnswer(statement) {
			asked += string(s[done:statement.Start])
			takes += Snippet(s[statement.Start:statement.End]) + "\n"
			done = statement.End
		}
	}
	return QuestionSnippet(asked) + s[done:], takes
}

// TakenFromAnswer returns the variables, in lower case, that the snippet sets to headers of the
// answer of an authentication server.
func (s Snippet) TakenFromAnswer() (names []string) {
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		if takesFromAnswer(statement) {
			name, _ := statement.Sets()
			names = append(names, name)
		}
	}
	return names
}

// Place sets the position of a block with the snippet. A return in it also answers plain
// HTTP, as with ingress-nginx. But if it can end nginx's rewrite module, the redirect to
// HTTPS must come first, because nginx would skip it.
func (s Snippet) Place(b *model.Block) {
	b.Ends = s.Contains("break", "rewrite")
	b.Answers = !b.Ends && s.Contains("return")
	b.SetsHeaders = s.SetsHeaders()
}

// SetsHeaders reports whether the snippet changes headers of answers, which a redirect has too.
func (s Snippet) SetsHeaders() bool {
	return s.Contains("add_header", "add_trailer", "more_set_headers", "more_clear_headers", "expires")
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

// far are directives that reach beyond their location, with their effect.
var far = []struct {
	name *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`lua|^js_|^perl`), "runs programs in nginx, which holds the private keys of all hosts"},
	{regexp.MustCompile(`^include$`), "adds text that is not in the snippet"},
	// nginx checks no access for a subrequest.
	{regexp.MustCompile(`^(?:add_(?:before|after)_body|ssi|mirror|auth_request|post_action|echo_(?:location|subrequest|exec).*|srcache_.*)$`),
		"asks another path of the host, whose protection nginx leaves out"},
	{regexp.MustCompile(`^client_body_in_file_only$`), "keeps the body of each request in a file: want off or clean"},
	{regexp.MustCompile(`_store$|_temp_path$|_key_log$|^dav_|^modsecurity|^xslt_`), "writes files"},
}

// whoIsClient are directives that decide who a client is. The decision holds for the rest of
// the request, so also for the location of another Ingress that an internal redirect leads to,
// such as one by X-Accel-Redirect or try_files.
var whoIsClient = regexp.MustCompile(`^(?:set_real_ip_from|real_ip_.*)$`)

// reachesInHTTP is reaches for a snippet of the HTTP level.
func reachesInHTTP(s syntax.Statement) string {
	if whoIsClient.MatchString(s.Name()) {
		return "decides who a client is, also for the paths of other Ingresses: want the settings use-forwarded-headers and proxy-real-ip-cidr"
	}
	return reaches(s)
}

// harmless are forms of far directives that reach nothing.
var harmless = map[string]bool{
	"auth_request off": true, "client_body_in_file_only clean": true, "client_body_in_file_only off": true, "mirror off": true, "ssi off": true,
}

// zoneOfSluice matches the names of the zones that templates declare, as arguments of
// limit_req and limit_conn.
var zoneOfSluice = regexp.MustCompile(`^(?:zone=)?(?:.*_(?:conn|rpm|rps)|basic_auth_[0-9]+)$`)

// cacheOfSluice matches the names of the caches that templates declare, and variables,
// which can have such a name.
var cacheOfSluice = regexp.MustCompile(`^auth_cache|\$`)

// reaches returns how a directive reaches beyond its location, "" if it does not: the
// rest of a sentence that begins with the directive.
func reaches(s syntax.Statement) string {
	if harmless[strings.Join(s.Tokens, " ")] {
		return ""
	}
	for _, f := range far {
		if f.name.MatchString(s.Name()) {
			return f.why
		}
	}
	if (s.Name() == "limit_req" || s.Name() == "limit_conn") && slices.ContainsFunc(s.Tokens[1:], zoneOfSluice.MatchString) {
		return "counts in a zone of Sluice, which may be that of another Ingress: want the annotations limit-rps, limit-rpm and limit-connections"
	}
	if strings.HasSuffix(s.Name(), "_cache") && slices.ContainsFunc(s.Tokens[1:], cacheOfSluice.MatchString) {
		return "keeps answers in a cache of Sluice, which may be that of another Ingress: want a cache of your own"
	}
	argument := ""
	if len(s.Tokens) > 1 {
		argument = s.Tokens[1]
	}
	if why := leads(s.Name(), argument); why != "" {
		return why
	}
	if slices.ContainsFunc(s.Tokens, namesSocket) {
		return "names a unix socket, such as that at which nginx takes its backends: want HOST:PORT"
	}
	return ""
}

// namesSocket reports whether a token can be the address of a unix socket, or its end.
// A variable can carry it to a directive that connects, so that no directive may have it.
func namesSocket(token string) bool { return strings.Contains(strings.ToLower(token), "unix:") }

// leads returns where a directive leads by its argument, "" if that may be.
func leads(name, argument string) string {
	// Sluice reads nginx's reasons on /dev/stderr, and clients could imitate them
	// there.
	switch {
	case name == "access_log" && argument == "off", name == "error_log" && argument == "stderr":
	case name == "access_log" || name == "error_log":
		if !logTarget.MatchString(argument) || strings.Contains(argument, "unix:") {
			return "writes to another file than /dev/stdout, /dev/null or one below /var/log"
		}
	case certificate.MatchString(name) && !strings.HasPrefix(argument, "/"):
		// OpenSSL also loads an engine by its path.
		return "may load a library: want the path of a file"
	case (name == "pass" || strings.HasSuffix(name, "_pass")) && !namesHost(argument):
		return "may lead to a unix socket: want a host that is written out"
	case (name == "pass" || strings.HasSuffix(name, "_pass")) && namesOurs(argument):
		return "uses connections of other Services, such as those with a certificate for them: want HOST:PORT"
	}
	return ""
}

// overwrites returns the variable that a directive sets but that does not belong to
// the snippet, "" for none. If a named group of a pattern has the name of a variable,
// nginx loses the meaning of that variable for all requests. Package render checks
// again with the templates in force.
func overwrites(s syntax.Statement) string {
	variable, groups := s.Sets()
	if !syntax.MaySet(variable) && foreign(variable) {
		return variable
	}
	for _, group := range groups {
		if syntax.MaySet(group) || foreign(group) {
			return group
		}
	}
	return ""
}

// foreign reports whether a variable belongs to the templates or to nginx, including
// those with a variable part such as $http_NAME.
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

var certificate = regexp.MustCompile(`(?:^|_)ssl_certificate(?:_key)?$`)

var logTarget = regexp.MustCompile(`^(?:/dev/(?:stdout|null)|syslog:.*|` + logFile + `)$`)

// namesHost reports whether a proxy target is certainly no unix socket, whatever its
// variables contain.
func namesHost(target string) bool {
	const socket = "unix:"
	literal, _, variable := strings.Cut(strings.ToLower(target), "$")
	scheme, host, found := strings.Cut(literal, "://")
	if !found {
		return !variable && !strings.HasPrefix(scheme, socket)
	}
	return !strings.HasPrefix(host, socket) && !(variable && strings.HasPrefix(socket, host))
}

// ours begins the names of the upstream blocks of Sluice.
const ours = "sluice"

// namesOurs reports whether a proxy target is an upstream block of Sluice, or can be one by its
// variables.
func namesOurs(target string) bool {
	literal, _, variable := strings.Cut(strings.ToLower(target), "$")
	if _, behind, found := strings.Cut(literal, "://"); found {
		literal = behind
	}
	if end := strings.IndexAny(literal, ":/?"); end >= 0 {
		literal, variable = literal[:end], false
	}
	return literal == ours || strings.HasPrefix(literal, ours+"_") || variable && strings.HasPrefix(ours, literal)
}
