package debug

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/debugapi"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// refusal is an error answer. The function refuse makes its text safe to show.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

func notFound(format string, arguments ...any) error {
	return refusal{http.StatusNotFound, fmt.Sprintf(format, arguments...)}
}

// mostSaid limits the length of a refusal.
const mostSaid = 1500

// refuse answers with an error as one line.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var r refusal
	if errors.As(err, &r) {
		status = r.status
	}
	http.Error(w, model.OneLine(err.Error(), mostSaid), status)
}

func unknownPath(path string) error {
	var known []string
	for _, p := range pages {
		known = append(known, p.path)
	}
	return notFound("%s: there is no such view: want %s", model.Quoted(path), model.OneOf(known))
}

// parameters are the given parameters of a request.
type parameters map[string]string

// parameters reads a query.
func (p *page) parameters(query string) (parameters, error) {
	given, err := url.ParseQuery(query)
	if err != nil {
		return nil, refusal{http.StatusBadRequest, fmt.Sprintf("%s: want a query such as ?host=shop.example, percent-encoded (got %s): %v", p.path, model.Quoted(query), err)}
	}
	read := parameters{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case len(p.takes) == 0:
			return nil, refusal{http.StatusBadRequest, fmt.Sprintf("%s: %s takes no parameter (got %s)", model.Quoted(name), p.path, model.Quoted(given.Get(name)))}
		case !slices.Contains(p.takes, name):
			return nil, refusal{http.StatusBadRequest, fmt.Sprintf("%s: %s has no such parameter: want %s (got %s)", model.Quoted(name), p.path, model.OneOf(p.takes), model.Quoted(given.Get(name)))}
		case len(given[name]) > 1:
			return nil, refusal{http.StatusBadRequest, fmt.Sprintf("%s: want it once (got %s and %s)", name, model.Quoted(given[name][0]), model.Quoted(given[name][1]))}
		}
		read[name] = given.Get(name)
	}
	return read, nil
}

// wrong returns the error for a parameter, with a valid value.
func (p parameters) wrong(name, want string) error {
	return refusal{http.StatusBadRequest, fmt.Sprintf("%s: want %s (got %s)", name, want, model.Quoted(p[name]))}
}

// format is Text by default.
func (p parameters) format() (string, error) {
	format, given := p[debugapi.FormatParam]
	switch {
	case !given:
		return debugapi.Text, nil
	case format != debugapi.Text && format != debugapi.JSON:
		return "", p.wrong(debugapi.FormatParam, debugapi.Text+" or "+debugapi.JSON)
	}
	return format, nil
}

// difference returns the format of DiffPath.
func (p parameters) difference() (string, error) {
	if p[debugapi.FormatParam] == debugapi.Markdown {
		return debugapi.Markdown, nil
	}
	format, err := p.format()
	if err != nil {
		return "", p.wrong(debugapi.FormatParam, model.OneOf([]string{debugapi.Text, debugapi.JSON, debugapi.Markdown}))
	}
	return format, nil
}

// hostPattern matches hosts, aliases that are not patterns, and server names.
var hostPattern = regexp.MustCompile(`^[a-z0-9_*]([a-z0-9_.*-]*[a-z0-9_*])?$`)

const mostHost = 253

// host returns the parameter in lower case, without a final dot.
func (p parameters) host() (host string, given bool, err error) {
	written, given := p[debugapi.HostParam]
	host = strings.TrimSuffix(strings.ToLower(written), ".")
	if given && (len(host) > mostHost || !hostPattern.MatchString(host)) {
		return "", true, p.wrong(debugapi.HostParam, "a host such as shop.example or *.shop.example, without a port")
	}
	return host, given, nil
}

func (p parameters) ingress() (ref model.ObjectRef, given bool, err error) {
	text, given := p[debugapi.IngressParam]
	if !given {
		return ref, false, nil
	}
	name, err := snapshot.ParseName(text)
	if err != nil {
		return ref, true, p.wrong(debugapi.IngressParam, "namespace/name")
	}
	return snapshot.IngressRef(name), true, nil
}

func (p parameters) namespace() (namespace string, given bool, err error) {
	namespace, given = p[debugapi.NamespaceParam]
	if given && len(validation.IsDNS1123Label(namespace)) > 0 {
		return "", true, p.wrong(debugapi.NamespaceParam, "the name of a namespace")
	}
	return namespace, given, nil
}
