package claim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/syntax"
)

// Target is a host for subrequests that is not a Service.
type Target struct {
	// Host is without brackets, Port a number.
	Host, Port string
	// Service is set if the host is that of a Service whose endpoints get the requests.
	Service snapshot.Name
	// Transport is the connection to it.
	Transport model.Transport
	// URI is that of the subrequests, as in the URL of the target. Header is their
	// Host.
	URI, Header string
	// Pool is the pool of kept connections; zero for that of all backends.
	Pool model.Pool
	// Field is the annotation that names it. Settings names the ConfigMap if that is a
	// setting.
	Field    string
	Settings model.ObjectRef
}

// Authentication is a server that decides which requests may pass.
type Authentication struct {
	Target
	Asked *annotations.ExternalAuth
	// OfRule is set if the host of the target is the host of the rule.
	OfRule bool
	// Headers are those of the question.
	Headers []QuestionHeader
	// Varying are the parts of the question with variables that users chose. Uncacheable is a
	// further one that cannot be a part of the key of kept answers, empty for none.
	Varying     []string
	Uncacheable string
	// Question is the snippet of the question, and Takes the part of it that takes headers of the
	// answer. Taken are the variables that this and other snippets of the Ingress set to those.
	Question keys.QuestionSnippet
	Takes    keys.Snippet
	Taken    []string
}

// TakenIn returns those of Taken that a text names, each once.
func (a *Authentication) TakenIn(text string) []string {
	names := slices.DeleteFunc(syntax.Variables([]byte(text)), func(name string) bool { return !slices.Contains(a.Taken, name) })
	slices.Sort(names)
	return slices.Compact(names)
}

// Keeps reports whether answers of the server are kept.
func (a *Authentication) Keeps() bool { return a.Asked.CacheKey != "" && a.Uncacheable == "" }

// QuestionHeader is a header of the question; its value may contain variables.
type QuestionHeader struct{ Name, Value string }

// AnsweredHeader is a header of the answer that backends get. From is the nginx
// variable of the answer; Variable is the one that keeps its value.
type AnsweredHeader struct{ Name, From, Variable string }

// Set adds a header, or replaces the one with the same name.
func (a *Authentication) Set(header QuestionHeader) {
	at := slices.IndexFunc(a.Headers, func(h QuestionHeader) bool { return strings.EqualFold(h.Name, header.Name) })
	if at < 0 {
		a.Headers = append(a.Headers, header)
		return
	}
	a.Headers[at] = header
}

// namedCookie matches the variables of cookies.
var namedCookie = regexp.MustCompile(`\$\{?(?:http_cookie\b|cookie_)`)

// NamesCookie reports whether a text has the variable of a cookie, or of all cookies.
func NamesCookie(text string) bool { return namedCookie.MatchString(text) }

// credential matches the variables by which a server can know a client. $remote_user is
// none, because it is there without the right password too.
var credential = regexp.MustCompile(`\$\{?(?:http_|cookie_|ssl_client_|remote_addr\b|arg_)`)

// NamesCredential reports whether a text has such a variable.
func NamesCredential(text string) bool { return credential.MatchString(text) }

// Answered lists the headers of the answer that backends get; none for nil. Variables
// are numbered by their place in the list, so that all Ingresses share a few variables.
func (a *Authentication) Answered() []AnsweredHeader {
	if a == nil {
		return nil
	}
	var headers []AnsweredHeader
	for _, name := range a.Asked.ResponseHeaders {
		same := func(h AnsweredHeader) bool { return strings.EqualFold(h.Name, name) }
		if slices.ContainsFunc(headers, same) {
			continue
		}
		from := "upstream_http_" + strings.ReplaceAll(strings.ToLower(name), "-", "_")
		headers = append(headers, AnsweredHeader{name, from, "external_auth_" + strconv.Itoa(len(headers)+1)})
	}
	return headers
}

// Authentication returns that of the path of a claim; nil for none.
func (c *Claim) Authentication() *Authentication {
	return c.Owner.AttachedTo(c.Annotations.ExternalAuth).Auth
}
