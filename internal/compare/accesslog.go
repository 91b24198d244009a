package compare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/route"
)

// Log says how an access log is read.
type Log struct {
	// Fields are the names of the fields of JSON lines: method, host, uri, scheme, and request
	// for the request line.
	Fields map[string]string
	// Host is that of lines without one.
	Host string
	// Methods are the methods to ask; Schemes those of the controllers.
	Methods, Schemes []string
}

// UsualFields are the fields that a log has if nothing else is said: the names of nginx's
// variables.
var UsualFields = map[string]string{"method": "request_method", "host": "host", "uri": "request_uri", "scheme": "scheme", "request": "request"}

// entry is a line of an access log.
type entry struct {
	method, scheme, host, uri string
	// upstream is the name of ingress-nginx's upstream, such as "shop-web-80".
	upstream string
}

// combined is a line as ingress-nginx writes it unless log-format-upstream says otherwise, or
// as nginx's format "combined" has it. Source:
// https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/log-format/
var combined = regexp.MustCompile(`^\S+ - .*? \[[^\]]*\] "((?:[^"\\]|\\.)*)" \d+ \d+(?: "(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*"(?: \d+ [0-9.]+ \[([^\]]*)\])?)?`)

// mostLine limits a line of a log, in bytes.
const mostLine = 1 << 20

// FromAccessLog reads the requests of an access log, the most frequent first, each once. Notes
// say which lines were left out.
func FromAccessLog(in io.Reader, core *Core, o Log) (requests []Request, notes []string, err error) {
	r := &logReader{Log: o, core: core, counts: map[string]int{}, left: map[string]int{}, hosts: hostsOfUpstreams(core), schemes: map[string]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			r.line(line)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("read the access log: %w", err)
	}
	slices.SortStableFunc(r.requests, func(a, b Request) int { return cmp.Compare(r.counts[b.key()], r.counts[a.key()]) })
	for _, why := range []string{notALine, otherMethod, noHost, notSendable} {
		if n := r.left[why]; n > 0 {
			notes = append(notes, fmt.Sprintf("%s: %s", model.Counted(n, "line was left out", "lines were left out"), why))
		}
	}
	return r.requests, notes, nil
}

// The reasons to leave out a line.
const (
	notALine    = "neither a line of ingress-nginx's format nor JSON with the given fields (see --access-log-fields)"
	otherMethod = "another method than GET and HEAD (see --methods)"
	noHost      = "no host is logged, and no rule of the Ingresses leads to the upstream (see --access-log-host)"
	notSendable = "the URI does not begin with / or has bytes that no request can have"
)

type logReader struct {
	Log
	core     *Core
	requests []Request
	counts   map[string]int
	left     map[string]int
	hosts    map[string][]string
	schemes  map[string]string
}

func (r *logReader) line(line string) {
	e, ok := r.parse(line)
	hosts := []string{e.host}
	if e.host == "" {
		hosts = r.hostsOf(e)
	}
	switch {
	case !ok:
		r.left[notALine]++
		return
	case !slices.Contains(r.Methods, e.method):
		r.left[otherMethod]++
		return
	case !sendable(e.uri) || !sendable("/"+e.host):
		r.left[notSendable]++
		return
	case len(hosts) == 0:
		r.left[noHost]++
	}
	for _, host := range hosts {
		r.add(Request{Method: e.method, Scheme: r.schemeOf(e, host), Host: host, Target: e.uri, Why: "a line of the access log"})
	}
}

func sendable(uri string) bool {
	return strings.HasPrefix(uri, "/") && !strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c == 0x7f })
}

func (r *logReader) add(q Request) {
	if r.counts[q.key()]++; r.counts[q.key()] == 1 {
		r.requests = append(r.requests, q)
	}
}

// schemeOf returns the scheme of the line, else the one whose requests reach the backends.
func (r *logReader) schemeOf(e entry, host string) string {
	scheme := e.scheme
	if scheme == "" {
		scheme = r.usualScheme(host)
	}
	if !slices.Contains(r.Schemes, scheme) {
		return r.Schemes[0]
	}
	return scheme
}

// usualScheme is that of the rules that take a host.
func (r *logReader) usualScheme(host string) string {
	scheme, known := r.schemes[host]
	if !known {
		scheme = r.core.scheme(r.core.origin(Request{Host: host, Target: "/"}).host)
		r.schemes[host] = scheme
	}
	return scheme
}

// parse reads a line.
func (r *logReader) parse(line string) (entry, bool) {
	var e entry
	request := ""
	if strings.HasPrefix(line, "{") {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) != nil {
			return e, false
		}
		of := func(name string) string {
			value, _ := fields[r.Fields[name]].(string)
			return value
		}
		e, request = entry{method: of("method"), scheme: of("scheme"), host: of("host"), uri: of("uri")}, of("request")
	} else if parts := combined.FindStringSubmatch(line); parts != nil {
		request, e.upstream = unescaped(parts[1]), parts[2]
	}
	if words := strings.Split(request, " "); len(words) == 3 && e.uri == "" {
		e.method, e.uri = words[0], words[1]
	}
	return e, e.method != "" && e.uri != ""
}

// unescaped undoes the escapes that nginx writes in a log.
func unescaped(text string) string {
	unquoted, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		return text
	}
	return unquoted
}

// hostsOf returns the hosts that lead to the upstream of a line by its URI.
func (r *logReader) hostsOf(e entry) []string {
	if r.Host != "" {
		return []string{r.Host}
	}
	var hosts []string
	for _, host := range r.hosts[e.upstream] {
		answer := route.Match(r.core.Config.Static.Servers, hostOf(host), e.uri)
		if answer.Location != nil && answer.Location.Proxy != nil && upstreamName(answer.Location.Proxy) == e.upstream {
			hosts = append(hosts, hostOf(host))
		}
	}
	return hosts
}

// hostsOfUpstreams returns the hosts with a rule for each upstream.
func hostsOfUpstreams(core *Core) map[string][]string {
	hosts := map[string][]string{}
	for _, server := range core.Config.Static.Servers {
		for _, l := range server.Locations {
			if l.Proxy == nil {
				continue
			}
			if name := upstreamName(l.Proxy); !slices.Contains(hosts[name], server.Host) {
				hosts[name] = append(hosts[name], server.Host)
			}
		}
	}
	return hosts
}

// upstreamName is ingress-nginx's name of a Service and port.
func upstreamName(p *model.Proxy) string {
	return p.Service.Namespace + "-" + p.Service.Name + "-" + p.Service.Port
}
