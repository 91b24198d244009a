package debug

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/debugapi"
	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/route"
)

// comparison collects how a decision of nginx differs from an explanation.
type comparison struct {
	differences []debugapi.Difference
	notes       []string
}

// compareDecision compares what nginx decided with what was computed. Neither list is nil.
func compareDecision(d *debugapi.Decision, e *explain.Explanation) ([]debugapi.Difference, []string) {
	c := comparison{[]debugapi.Difference{}, []string{}}
	if e.Answer.Kind == explain.ToUnknown {
		c.note("only nginx can tell the answer: " + e.Answer.Why)
		return c.differences, c.notes
	}
	if at := slices.IndexFunc(e.Servers, func(s explain.Server) bool { return s.Verdict == route.Wins }); at >= 0 {
		c.compareServer(d.Host, catchallName(e.Servers[at].Host))
	}
	if strings.Contains(d.UpstreamStatus, redirected) {
		c.note("after the answer of the backend, nginx went on to another location, as an error page or X-Accel-Redirect of the backend ask for")
		return c.differences, c.notes
	}
	c.compareRule(d, e)
	if e.Answer.Kind == explain.ToService {
		c.compareService(d, e)
	} else if e.Answer.Status != 0 {
		c.compareStatus(d, e)
	}
	return c.differences, c.notes
}

// redirected separates the statuses of backends before and after an internal redirect.
// Source: https://nginx.org/en/docs/http/ngx_http_upstream_module.html#var_upstream_status
const redirected = " : "

// compareServer compares the server. That of a wildcard answers names with more labels as the
// catch-all server would.
func (c *comparison) compareServer(decided, computed string) {
	if computed == catchallName("") && strings.HasPrefix(decided, "*.") {
		c.note("the server of " + decided + " answers names with more labels as the catch-all server")
		return
	}
	c.compare("server", decided, computed)
}

// catchallName is the name of a host in decisions.
func catchallName(host string) string {
	if host == "" {
		return "_"
	}
	return host
}

func (c *comparison) note(text string) { c.notes = append(c.notes, shown(text)) }

func (c *comparison) compare(of, decided, computed string) {
	if decided != computed {
		c.differences = append(c.differences, debugapi.Difference{Of: of, Decided: shown(decided), Computed: shown(computed)})
	}
}

// cut are the ends of paths that were too long for nginx.conf.
const cut = "..."

// compareRule compares the location and its owner. A server that redirects all requests
// chooses none, and a request that is dispatched ends in an internal location.
func (c *comparison) compareRule(d *debugapi.Decision, e *explain.Explanation) {
	if d.Location == "" {
		return
	}
	at := slices.IndexFunc(e.Locations, func(l explain.Location) bool { return l.Verdict == route.Wins })
	if at >= 0 && d.Modifier != string(model.Named) && !strings.HasSuffix(d.Location, cut) {
		l := e.Locations[at]
		c.compare("location", strings.TrimSpace(d.Modifier+" "+d.Location), strings.TrimSpace(string(l.Modifier)+" "+l.Path))
	}
	if e.Winner == nil {
		return
	}
	object := ""
	if e.Winner.Object != (model.ObjectRef{}) {
		object = e.Winner.Object.String()
	}
	c.compare("object", d.Object, object)
	if e.Winner.Kind == explain.FromRule && !strings.HasSuffix(d.Path, cut) {
		c.compare("path", d.Path, e.Winner.Path)
	}
}

// compareService compares the backend, and the URI that it got. An answer that may come from
// something before the backend is noted.
func (c *comparison) compareService(d *debugapi.Decision, e *explain.Explanation) {
	if d.Backend == "" {
		if len(e.Answer.Unless) > 0 {
			c.note("the backend was not asked: " + strings.Join(e.Answer.Unless, "; "))
			return
		}
		c.compare("backend", "", e.Answer.Service)
		return
	}
	decided, computed := labelOfKey(d.Backend), labelOfService(e.Answer.Service)
	if d.Canary != "" {
		decided = d.Canary
	}
	canary := slices.ContainsFunc(e.Answer.Canaries, func(service string) bool { return labelOfService(service) == decided })
	if !canary {
		c.compare("backend", decided, computed)
	}
	if e.Applied != nil && e.Applied.Rewrite != nil && e.Applied.Rewrite.Path != "" {
		c.compare("uri", pathOf(d.URI), unescaped(pathOf(e.Applied.Rewrite.Path)))
	}
}

func (c *comparison) compareStatus(d *debugapi.Decision, e *explain.Explanation) {
	if d.Status != e.Answer.Status && len(e.Answer.Unless) > 0 {
		c.note("the status may be another one: " + strings.Join(e.Answer.Unless, "; "))
		return
	}
	if e.Answer.Service == "" { // an error backend may give another one
		c.compare("status", strconv.Itoa(d.Status), strconv.Itoa(e.Answer.Status))
	}
}

// labelOfKey returns "namespace-service-port" for "namespace/service/port~hash", and
// labelOfService for "namespace/service:port".
func labelOfKey(key string) string {
	key, _, _ = strings.Cut(key, "~")
	return strings.ReplaceAll(key, "/", "-")
}

func labelOfService(service string) string {
	return strings.NewReplacer("/", "-", ":", "-").Replace(service)
}

func pathOf(uri string) string {
	path, _, _ := strings.Cut(uri, "?")
	return path
}

func unescaped(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}
