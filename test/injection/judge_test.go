package injection

import (
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

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

	tally
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
	j.grammar = maps.Clone(benign(t).all)
	learn(j.grammar, list)
	j.tokens = tokensOf(list)
	j.neighbour = block(j.base, list, "neighbour.example")
	if j.neighbour == "" {
		t.Fatal("the neighbour is not served")
	}
	return j
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
		j.files++
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
		for _, text := range []string{p.Object.String(), p.Field, p.Text, p.String()} {
			if !presentable(text) {
				j.t.Errorf("%s: the problem is not one short printable line: %.300q (%d bytes)", c, text, len(text))
			}
		}
	}
	return fresh
}

// presentable is true for one short line of printable text.
func presentable(text string) bool {
	return len(text) < 2600 && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
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
			j.route(c, d)
		case "location":
			locations++
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

// route checks the key that the balancer finds the endpoints by, and the name
// of the upstream that goes with it in logs, of a location or a server. Nothing
// else is set but what CORS needs.
func (j *judge) route(c hostileCase, within *directive) {
	given := map[string]string{}
	for _, d := range find(within.body, "set") {
		given[strings.Join(d.args[:len(d.args)-1], " ")] = d.args[len(d.args)-1]
	}
	dropList(given)
	delete(given, "$location_path") // its value is accounted for as any other token
	if len(given) == 0 {
		return
	}
	want := map[string]string{"$route": given["$route"], "$proxy_upstream_name": ""}
	if parts := strings.Split(given["$route"], "/"); len(parts) == 4 {
		want["$proxy_upstream_name"] = parts[0] + "-" + parts[2] + "-" + parts[3]
	} else if given["$route"] != "" {
		j.t.Errorf("%s: the route %.200q has not four parts", c, given["$route"])
		return
	}
	if !maps.Equal(given, want) {
		j.t.Errorf("%s: %.400q is set, want %.400q", c, given, want)
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
	written := forms(c.value)
	for token, count := range read.tokens {
		if count <= j.tokens[token] {
			literal = literal || token == c.value && len(token) < 3 // others of that word may have gone
			continue
		}
		if carriesOne(token, written) {
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

// wrapping is what is printed before a value: flags and anchors of patterns,
// the name of a list of origins.
var wrapping = regexp.MustCompile(`^(?:~\*|[0-9a-f]{32}/)?(?:\(\?i\))?\^?`)

// carries says whether a token is a value: as it is, or in one of the forms that
// it may have there.
func carries(token, value string) bool { return carriesOne(token, forms(value)) }

func carriesOne(token string, forms []string) bool {
	inner := strings.TrimPrefix(token, wrapping.FindString(token))
	for _, form := range forms {
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
	list = append(list, strings.ReplaceAll(value, "$", "${literal_dollar}"), model.OneLine(value, 10_000))
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
// problem that says so: a part of a backend of a kind that is a problem whatever
// it says, a setting that no Ingress of the world follows.
func (c hostileCase) passedOver() bool {
	return strings.Contains(c.place.path, ".resource.") || c.in("data[no-tls-redirect-locations]", "data[whitelist-source-range]")
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
