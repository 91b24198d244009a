package injection

import (
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// judge decides whether what became of a hostile value is what must be. It knows
// what the world becomes without one. It is for one goroutine.
type judge struct {
	t       *testing.T
	worker  *worker
	objects snapshot.Objects
	base    outcome
	// grammar holds each directive that benign objects give, with its place.
	grammar map[string]bool
	// tokens are those of the base.
	tokens    map[string]int
	neighbour string
	problems  map[model.Problem]bool
	// known are the files that were read already, by their hash.
	known map[string]*reading

	cases, refused, same int
}

// reading is a file that was read.
type reading struct {
	list   []*directive
	tokens map[string]int
}

func newJudge(t *testing.T, objects snapshot.Objects) *judge {
	t.Helper()
	j := &judge{t: t, worker: newWorker(t), objects: objects, known: map[string]*reading{}, problems: map[model.Problem]bool{}}
	j.base = j.worker.run(objects)
	for _, p := range j.base.problems {
		j.problems[p] = true
	}
	list := j.base.tree(t)
	j.grammar = map[string]bool{}
	learn(j.grammar, list)
	for _, other := range references(t) {
		learn(j.grammar, newWorker(t).run(other).tree(t))
	}
	j.tokens = tokensOf(list)
	j.neighbour = block(j.base, list, "neighbour.example")
	if j.neighbour == "" {
		t.Fatal("the neighbour is not served")
	}
	return j
}

// references are benign objects that use what the world does not.
func references(t *testing.T) []snapshot.Objects {
	t.Helper()
	worlds := []snapshot.Objects{worldObjects(t), worldObjects(t), worldObjects(t)}
	last := &worlds[2].Ingresses // without rules for the catch-all host
	*last = slices.DeleteFunc(*last, func(ing *networkingv1.Ingress) bool { return ing.Name == "plain" })
	for i, data := range []map[string]string{
		{"ssl-reject-handshake": "true", "regex-scope": "path"},
		{"hsts": "false", "ssl-session-cache": "false", "ssl-redirect": "false", "proxy-next-upstream": "off", "disable-access-log": "true", "upstream-keepalive-connections": "0"},
	} {
		worlds[i].ConfigMaps[0].Data = data
	}
	return worlds
}

// placeOf names a directive with where it stands. The entries of a map are
// values and have no names.
func placeOf(d *directive) string {
	name := d.name
	if strings.HasSuffix(d.path, "/map") && len(d.args) == 1 && !d.isBlock && name != "include" && name != "volatile" && name != "hostnames" {
		name = "<entry>"
	}
	if d.isBlock {
		name += " {}"
	}
	return d.path + " " + name
}

func learn(grammar map[string]bool, list []*directive) {
	all(list, func(d *directive) { grammar[placeOf(d)] = true })
}

// tokensOf counts all arguments, and the keys of maps.
func tokensOf(list []*directive) map[string]int {
	tokens := map[string]int{}
	all(list, func(d *directive) {
		if strings.HasSuffix(d.path, "/map") {
			tokens[d.name]++
		}
		for _, argument := range d.args {
			tokens[argument]++
		}
	})
	return tokens
}

// block gives the text of a host's server.
func block(o outcome, list []*directive, host string) string {
	server := serverOf(list, host)
	if server == nil {
		return ""
	}
	return string(o.file.Bytes()[server.start:server.stop])
}

// object judges what a changed object does.
func (j *judge) object(c hostileCase, objects snapshot.Objects) {
	j.cases++
	o := j.worker.run(objects)
	fresh := j.fresh(c, o)
	if o.file == j.base.file {
		j.unchanged(c, o, fresh)
		return
	}
	hash := o.file.Hash()
	if hash == j.base.file.Hash() {
		j.unchanged(c, o, fresh)
		return
	}
	read := j.known[hash]
	if read == nil {
		list := o.tree(j.t)
		read = &reading{list: list, tokens: tokensOf(list)}
		if len(j.known) > 300 {
			clear(j.known)
		}
		j.known[hash] = read
		j.structure(c, o, list, objects)
	}
	j.accounted(c, read, fresh)
	j.protected(c, read.list, objects)
}

// fresh gives the problems that the base does not have, and checks their texts.
func (j *judge) fresh(c hostileCase, o outcome) []model.Problem {
	var fresh []model.Problem
	for _, p := range o.problems {
		if j.problems[p] {
			continue
		}
		fresh = append(fresh, p)
		text := p.Text
		if !c.yaml && c.in("metadata.namespace", "spec.ports[1].name") {
			// No API server lets these pass: where one is printed it has to be
			// harmless, but may be long.
			text = strings.ToValidUTF8(p.String()[:min(len(p.String()), 400)], "")
		}
		if !presentable(text) {
			j.t.Errorf("%s: the problem is not one short printable line: %.300q (%d bytes)", c, p.Text, len(p.Text))
		}
	}
	return fresh
}

// presentable is true for one short line of printable text.
func presentable(text string) bool {
	return len(text) < 2500 && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// structure holds a file to what benign objects give: no directive that they do
// not have, no more blocks than the objects ask for, and nothing of the
// neighbour's is different.
func (j *judge) structure(c hostileCase, o outcome, list []*directive, objects snapshot.Objects) {
	servers, locations := 0, 0
	all(list, func(d *directive) {
		if !j.grammar[placeOf(d)] {
			j.t.Errorf("%s: the file has what no benign one has: %q %.200q", c, placeOf(d), d.args)
		}
		if strings.Contains(d.name, marker) && !strings.HasSuffix(d.path, "/map") {
			j.t.Errorf("%s: the marker is a directive", c)
		}
		if strings.ContainsAny(d.name+strings.Join(d.args, ""), "\r\n\x00") {
			j.t.Errorf("%s: a token holds a line end or NUL: %s %.200q", c, d.name, d.args)
		}
		switch d.name {
		case "server":
			servers++
		case "location":
			locations++
		case "set":
			j.route(c, d)
		}
	})
	mostServers, mostLocations := bounds(objects)
	if servers > mostServers || locations > mostLocations {
		j.t.Errorf("%s: %d servers and %d locations, want at most %d and %d", c, servers, locations, mostServers, mostLocations)
	}
	if c.subject.kind != "ConfigMap" && c.subject.kind != "IngressClass" && block(o, list, "neighbour.example") != j.neighbour {
		j.t.Errorf("%s: the neighbour is served otherwise:\n%s\nbefore:\n%s", c, block(o, list, "neighbour.example"), j.neighbour)
	}
}

// bounds are the most servers and locations that objects can need: a server for
// each host, the catch-all one, and three on unix sockets (and one line
// "server" in each upstream); for each path a location and one for its other
// form with or without "/", and for each host a fallback and a miss.
func bounds(objects snapshot.Objects) (servers, locations int) {
	hosts := map[string]bool{"": true}
	for _, ing := range objects.Ingresses {
		for _, rule := range ing.Spec.Rules {
			hosts[rule.Host] = true
			if rule.HTTP != nil {
				locations += 2 * len(rule.HTTP.Paths)
			}
		}
	}
	upstreams := 1 + len(objects.Ingresses)
	return len(hosts) + 3 + upstreams, locations + 2*len(hosts) + 1
}

// route checks the key that the balancer finds the endpoints by.
func (j *judge) route(c hostileCase, d *directive) {
	if len(d.args) != 2 || d.args[0] != "$route" {
		j.t.Errorf("%s: set %q", c, d.args)
		return
	}
	if d.args[1] != "" && !c.in("metadata.name", "metadata.namespace") && strings.Count(d.args[1], "/") != 3 {
		j.t.Errorf("%s: the route %.200q has not four parts", c, d.args[1])
	}
}

// unchanged judges a value that leaves no trace in the file.
func (j *judge) unchanged(c hostileCase, o outcome, fresh []model.Problem) {
	if len(fresh) > 0 || !c.read() || c.value == c.place.old || c.meansNothing() || c.isSwitch() || c.passedOver() {
		return
	}
	if reflect.DeepEqual(o.config, j.base.config) {
		j.t.Errorf("%s: it has no effect and no problem says so", c)
	}
}

// accounted judges a value that changes the file: it is there as it was written,
// or a problem says that it is not.
func (j *judge) accounted(c hostileCase, read *reading, fresh []model.Problem) {
	literal := false
	for token, count := range read.tokens {
		if count <= j.tokens[token] {
			literal = literal || token == c.value && len(token) < 3 // others of that word may have gone
			continue
		}
		if carries(token, c.value) {
			literal = true
			continue
		}
		if strings.Contains(token, marker) {
			j.t.Errorf("%s: the value is part of the token %q", c, token)
		}
	}
	if !literal && len(fresh) == 0 && !c.meansNothing() && !c.leaves() && !c.isSwitch() && !c.passedOver() {
		j.t.Errorf("%s: it changes the file, is not in it, and no problem says why", c)
	}
}

// wrapping is what is printed before a value: flags and anchors of patterns.
var wrapping = regexp.MustCompile(`^(?:~\*)?(?:\(\?i\))?\^?`)

// carries says whether a token is a value: as it is, or in one of the forms that
// it may have there.
func carries(token, value string) bool {
	inner := strings.TrimPrefix(token, wrapping.FindString(token))
	for _, form := range forms(value) {
		for _, t := range []string{token, inner, strings.TrimSuffix(inner, "$")} {
			if t == form || strings.TrimSuffix(t, "/") == strings.TrimSuffix(form, "/") {
				return true
			}
		}
		if strings.Contains("/"+token+"/", "/"+form+"/") && strings.Count(token, "/") >= 3 {
			return true // a part of a route
		}
	}
	return false
}

// forms are the ways to write a value.
func forms(value string) []string {
	decoded := value
	if d, err := url.PathUnescape(value); err == nil {
		decoded = d
	}
	list := []string{value, strings.TrimSpace(value), decoded, withRenamedGroups(value)}
	list = append(list, "/"+strings.TrimSpace(value), group.ReplaceAllString(value, "("))
	for _, v := range list[:4:4] {
		list = append(list, regexp.QuoteMeta(v), regexp.QuoteMeta(strings.TrimSuffix(v, "/")))
	}
	for item := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		list = append(list, item, item+"s")
	}
	return list
}

var (
	group  = regexp.MustCompile(`\(\?(?:P?<|')([A-Za-z0-9_]+)[>']`)
	remark = regexp.MustCompile(`\(\?#[^)]*\)`)
)

// withRenamedGroups gives a pattern with the names that its groups get, and
// without its comments.
func withRenamedGroups(pattern string) string {
	return group.ReplaceAllString(remark.ReplaceAllString(pattern, ""), "(?<p_$1>")
}

// passedOver is true for a place whose value may have no effect without a
// problem that says so: a host of tls that no rule has, a defaultBackend that no
// request reaches, a part of a backend that is a problem whatever it says, a
// setting that no Ingress of the world follows, the path "/" in the place of the
// fallback.
func (c hostileCase) passedOver() bool {
	return strings.HasPrefix(c.place.path, "spec.tls[0].hosts") || strings.HasPrefix(c.place.path, "spec.defaultBackend.") && c.subject.name == "verified" ||
		strings.Contains(c.place.path, ".resource.") || c.in("data[no-tls-redirect-locations]", "data[whitelist-source-range]") || c.value == "/"
}

// isSwitch is true for a valid value that is not printed as it is written.
func (c hostileCase) isSwitch() bool {
	value := strings.TrimSpace(c.value)
	_, err := strconv.ParseBool(value)
	return err == nil || value == "on" || value == "off"
}

// read says whether the place is one that decides about the file.
func (c hostileCase) read() bool {
	switch c.subject.kind {
	case "Ingress":
		return strings.HasPrefix(c.place.path, "spec.") || strings.HasPrefix(c.place.path, "metadata.annotations["+prefix)
	case "ConfigMap":
		return strings.HasPrefix(c.place.path, "data[")
	}
	return false
}

// meansNothing is true for what is as good as not written.
func (c hostileCase) meansNothing() bool { return strings.TrimSpace(c.value) == "" }

// leaves is true for a change by which the Ingress is no longer ours.
func (c hostileCase) leaves() bool {
	return c.in("spec.ingressClassName", "metadata.annotations[kubernetes.io/ingress.class]", "metadata.annotations[kubernetes.io/ingress.class]#key") || c.subject.kind == "IngressClass"
}

// protected checks that what protects a path is there or the path is closed. The
// Ingresses are known by their routes.
func (j *judge) protected(c hostileCase, list []*directive, objects snapshot.Objects) {
	guards := guardsOf(objects)
	all(list, func(d *directive) {
		route := argument(d.body, "set")
		if d.name != "location" || route == "" || len(find(d.body, "proxy_pass")) == 0 {
			return
		}
		parts := strings.Split(strings.TrimPrefix(route, "$route "), "/")
		if len(parts) < 2 {
			return // the route was judged
		}
		guard := guards[snapshot.Name{Namespace: parts[0], Name: parts[1]}]
		if guard.allows && (argument(d.body, "deny") != "all" || len(find(d.body, "allow")) == 0) {
			j.t.Errorf("%s: location %q of %s is open to everybody", c, d.args, route)
		}
		if guard.verifies && (argument(d.body, "proxy_ssl_verify") != "on" || !strings.HasPrefix(argument(d.body, "proxy_pass"), "https://")) {
			j.t.Errorf("%s: location %q of %s passes on without verifying", c, d.args, route)
		}
	})
}

// guard is what an Ingress asks for to be protected.
type guard struct{ allows, verifies bool }

// guardsOf reads what the objects ask for, whether it is valid or not.
func guardsOf(objects snapshot.Objects) map[snapshot.Name]guard {
	guards := map[snapshot.Name]guard{}
	for _, ing := range objects.Ingresses {
		name := snapshot.Name{Namespace: ing.Namespace, Name: ing.Name}
		guards[name] = guard{
			allows:   asks(ing, "allowlist-source-range", "whitelist-source-range"),
			verifies: asks(ing, "proxy-ssl-verify") && asks(ing, "proxy-ssl-secret") && ing.Annotations[prefix+"proxy-ssl-verify"] != "off" && !slices.Contains([]string{"", "HTTP", "http"}, strings.TrimSpace(ing.Annotations[prefix+"backend-protocol"])),
		}
	}
	return guards
}

// asks is true if one of the annotations is there and says something.
func asks(ing *networkingv1.Ingress, names ...string) bool {
	for _, key := range slices.Sorted(maps.Keys(ing.Annotations)) {
		for _, name := range names {
			if key == prefix+name && strings.TrimSpace(ing.Annotations[key]) != "" {
				return true
			}
		}
	}
	return false
}

func TestCarries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		token, value string
		want         bool
	}{
		{"/a/", "/a", true}, {"/a", "/a/", true}, {"^/a", "/a", true}, {"(?i)/a", "/a", true}, {"/a b/", "/a%20b", true}, {`^/a\.b`, "/a.b", true},
		{"default/web/x/80", "x", true}, {"~*^https://a$", "https://a", true}, {"/ab", "/a", false}, {"x /a", "/a", false}, {"/a;x", "/a", false},
	} {
		if got := carries(c.token, c.value); got != c.want {
			t.Errorf("carries(%q, %q) = %t, want %t", c.token, c.value, got, c.want)
		}
	}
}
