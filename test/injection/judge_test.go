package injection

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/test/guarded"
)

// judge decides whether what became of a hostile value is what must be. It knows
// what the world becomes without one. It is for one goroutine.
type judge struct {
	t       *testing.T
	worker  *worker
	guarded *guarded.Memo
	objects snapshot.Objects
	base    outcome
	read    *reading // that of the base
	// grammar holds each directive that benign objects give, with its place.
	grammar map[string]bool
	// neighbours are the servers that answer for neighbours in the base.
	neighbours []string
	problems   map[model.Problem]bool
	// known are the files that were read already, by their hash.
	known map[string]*reading
	// traces are the cases that changed anything or gave a Problem.
	traces int

	tally
}

// reading is a file that was read.
type reading struct {
	list   []*directive
	tokens map[string]int
	// added are the tokens that it has more often than the base.
	added []string
	// passing are its locations that pass requests on.
	passing []passage
}

// passage is a location that passes requests on, and the Ingress that its route names.
type passage struct {
	*directive
	route string
	owner snapshot.Name
}

// newReading reads a file beside the base, which is nil for the base itself.
func newReading(list []*directive, base *reading) *reading {
	r := &reading{list: list, tokens: tokensOf(list)}
	for token, count := range r.tokens {
		if base != nil && count > base.tokens[token] {
			r.added = append(r.added, token)
		}
	}
	all(list, func(d *directive) {
		if d.name != "location" || len(passing(d.body)) == 0 {
			return
		}
		route := routeOf(d.body)
		if parts := strings.Split(strings.TrimPrefix(route, "$route "), "/"); len(parts) > 1 { // the route is judged by itself
			r.passing = append(r.passing, passage{d, route, snapshot.Name{Namespace: parts[0], Name: parts[1]}})
		}
	})
	return r
}

// newJudge makes a judge of what changes of a subject do.
func newJudge(t *testing.T, s subject, objects snapshot.Objects) *judge {
	t.Helper()
	j := &judge{t: t, worker: newWorker(t), guarded: guarded.NewMemo(), objects: objects, known: map[string]*reading{}, problems: map[model.Problem]bool{}}
	j.base = j.worker.run(objects)
	for _, p := range j.base.problems {
		j.problems[p] = true
	}
	list := j.base.tree(t)
	j.read = newReading(list, nil)
	j.grammar = benign(t).ingresses
	if s.kind == "ConfigMap" {
		j.grammar = benign(t).all
	}
	for _, host := range neighbours {
		server := answering(j.base, list, host)
		if !strings.Contains(server, "other/neighbour/side/80") {
			t.Fatalf("%s is not served by the neighbour: %s", host, server)
		}
		j.neighbours = append(j.neighbours, server)
	}
	return j
}

// tokensOf counts all arguments, and the keys of maps, from which nginx takes off
// a leading backslash.
// Source: ngx_http_map in nginx's src/http/modules/ngx_http_map_module.c.
func tokensOf(list []*directive) map[string]int {
	tokens := map[string]int{}
	all(list, func(d *directive) {
		if valued(d) {
			tokens[strings.TrimPrefix(d.name, `\`)]++
		}
		for _, argument := range d.args {
			tokens[argument]++
		}
	})
	return tokens
}

// answering gives the text of the server that nginx takes for a host, but for how
// its name is written: whether a wildcard host is given to nginx as a pattern, or
// as a wildcard with a guard, hangs on the rules for the catch-all host.
func answering(o outcome, list []*directive, host string) string {
	server := choose(list, host)
	if server == nil {
		return ""
	}
	var text strings.Builder
	for _, d := range server.body {
		said := d.name + " " + strings.Join(d.args, " ")
		if d.name != "server_name" && !strings.HasPrefix(said, "if ($host !~ ") && said != "error_page 418 = @miss" && said != "location @miss" {
			text.Write(o.file.Bytes()[d.start:d.stop])
		}
	}
	return text.String()
}

// object judges what a changed object does.
func (j *judge) object(c hostileCase, objects snapshot.Objects) {
	j.cases++
	o := j.worker.run(objects)
	if c.subject.kind == "Ingress" && strings.Contains(c.place.path, ".path") && o.file != j.base.file {
		for _, line := range j.guarded.Open(o.snap, o.options, o.config.Static.Servers, o.problems) {
			j.t.Errorf("%s: open is %s", c, line)
		}
	}
	fresh := j.fresh(c, o)
	if len(fresh) > 0 || !o.file.Equal(j.base.file) || !reflect.DeepEqual(o.config, j.base.config) {
		j.traces++
	}
	if o.file.Equal(j.base.file) {
		j.unchanged(c, o, fresh)
		if slices.Contains(guarding, c.key()) {
			j.protected(c, j.read, objects)
		}
		return
	}
	hash := o.file.Hash()
	read := j.known[hash]
	if read == nil {
		list := o.tree(j.t)
		j.files++
		read = newReading(list, j.read)
		if len(j.known) > 300 {
			clear(j.known)
		}
		j.known[hash] = read
		j.structure(c, o, list, objects)
	}
	j.accounted(c, read, fresh)
	j.protected(c, read, objects)
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

// errorPage is one of custom-http-errors, error-status or fallback-path.
var errorPage = regexp.MustCompile(`^(?:(?:\d{3} )+@errors|\d{3} =(?:\d{3})? @error-\d{3}|404 = @fallback-path)-[0-9a-f]{16}$`)

// errorLocation is the location of such a page.
var errorLocation = regexp.MustCompile(`^@(?:errors|error-\d{3}|no-endpoints|fallback-path)-[0-9a-f]{16}$`)

// dispatched is the value of $dispatch where the choice is left to match-headers and match-query, and where another location
// answers without endpoints.
var dispatched = regexp.MustCompile(`^(?:\$dispatch_|@no-endpoints-)[0-9a-f]{16}$`)

// signIn is the error page of a location that sends unknown clients to sign in.
var signIn = regexp.MustCompile(`^401 = @sign-in-[0-9a-f]{16}$`)

// grpcError is the error page of a location of a gRPC backend.
var grpcError = regexp.MustCompile(`^(?:[45][0-9]{2} )+@grpc-error-[0-9a-f]{16}$`)

// structure holds a file to what benign objects give: no directive that they do
// not have, no more blocks than the objects ask for, and nothing of the
// neighbour's is different.
func (j *judge) structure(c hostileCase, o outcome, list []*directive, objects snapshot.Objects) {
	servers, locations, streams := 0, 0, 0
	all(list, func(d *directive) {
		if !j.grammar[placeOf(d)] {
			j.t.Errorf("%s: the file has what no benign one has: %q %.200q", c, placeOf(d), d.args)
		}
		if strings.Contains(d.name, marker) && !valued(d) {
			j.t.Errorf("%s: the marker is a directive", c)
		}
		if strings.ContainsAny(d.name+strings.Join(d.args, ""), "\r\n\x00") {
			j.t.Errorf("%s: a token holds a line end or NUL: %s %.200q", c, d.name, d.args)
		}
		switch d.name {
		case "server":
			if strings.HasPrefix(d.path, "stream") {
				streams++
			} else {
				servers++
			}
			j.route(c, d)
		case "error_page":
			if said := strings.Join(d.args, " "); said != "418 = @miss" && said != ofSubrequests && !signIn.MatchString(said) && !grpcError.MatchString(said) && !errorPage.MatchString(said) && !certificatePage.MatchString(said) {
				j.t.Errorf("%s: error_page %.200q", c, said)
			}
		case "location":
			locations++
			j.route(c, d)
		}
	})
	mostServers, mostLocations := bounds(objects)
	if servers > mostServers || locations > mostLocations {
		j.t.Errorf("%s: %d servers and %d locations, want at most %d and %d", c, servers, locations, mostServers, mostLocations)
	}
	if most := streamBound(objects); streams > most {
		j.t.Errorf("%s: %d servers at the stream level, want at most %d", c, streams, most)
	}
	if name := twice(list); name != "" {
		j.t.Errorf("%s: two servers have the name %.200q", c, name)
	}
	if c.subject.kind == "ConfigMap" || c.subject.kind == "IngressClass" {
		return // both are everybody's
	}
	for i, host := range neighbours {
		if server := answering(o, list, host); server != j.neighbours[i] {
			j.t.Errorf("%s: %s is served otherwise:\n%s\nbefore:\n%s", c, host, server, j.neighbours[i])
		}
	}
}

// bounds are the most servers and locations that objects can need: a server for
// each host, the catch-all one, and three on unix sockets (and one line "server"
// in each upstream, of which each Service that is named may need one); for each path a location and one for its other form with or
// without "/", and for each host a fallback, a miss and one for "/". A host with
// further names can need three servers, each with all locations.
func bounds(objects snapshot.Objects) (servers, locations int) {
	hosts, times := map[string]bool{"": true}, 1
	upstreams := 1 + len(objects.Ingresses)
	for _, ing := range objects.Ingresses {
		if asks(ing, "server-alias") {
			times = 3
		}
		for _, rule := range ing.Spec.Rules {
			hosts[rule.Host] = true
			if rule.HTTP != nil {
				locations += 2 * len(rule.HTTP.Paths)
				upstreams += len(rule.HTTP.Paths)
			}
			if asks(ing, "auth-url") {
				locations += 2 // of the questions, and to sign in
			}
		}
	}
	return times*len(hosts) + 3 + upstreams, times*(locations+3*len(hosts)) + 1
}

// streamBound is the most servers, with the lines "server" of upstreams, that the
// stream level can need: for each entry of the two ConfigMaps one with an endpoint,
// two with their upstreams for what is passed through, and an endpoint a host.
func streamBound(objects snapshot.Objects) int {
	most := 4
	for _, m := range objects.ConfigMaps {
		if m.Name != "config" {
			most += 2 * len(m.Data)
		}
	}
	for _, ing := range objects.Ingresses {
		if asks(ing, "ssl-passthrough") {
			most += len(ing.Spec.Rules)
		}
	}
	return most
}

// route checks the key that the balancer finds the endpoints by, and the name
// of the upstream that goes with it in logs, of a location or a server. Nothing
// else is set but what CORS and the header with the prefix need.
func (j *judge) route(c hostileCase, within *directive) {
	given := map[string]string{}
	for _, d := range find(within.body, "set") {
		given[strings.Join(d.args[:len(d.args)-1], " ")] = d.args[len(d.args)-1]
	}
	dropList(given)
	dropPrefix(given, within)
	dropAnswers(given, within)
	delete(given, "$location_path") // its value is accounted for as any other token
	delete(given, "$metric_labels")
	if dispatched.MatchString(given["$dispatch"]) {
		delete(given, "$dispatch")
		if length, set := given["$unlimited_length"]; set && length == "" {
			delete(given, "$unlimited_length")
		}
	}
	if len(given) == 0 {
		return
	}
	if within.name == "location" && errorLocation.MatchString(within.args[0]) {
		// It keeps the route of the location with the error.
		if status := given["$custom_error_status"]; status == "$status" || statusCode.MatchString(status) {
			delete(given, "$custom_error_status")
		}
		want := map[string]string{"$backend": given["$backend"], "$proxy_alternative_upstream_name": "", "$proxy_upstream_name": strings.ReplaceAll(given["$backend"], "/", "-")}
		ofFallback := strings.HasPrefix(within.args[0], "@fallback-path-")
		if !maps.Equal(given, want) || strings.Count(given["$backend"], "/") != 2 || strings.HasSuffix(given["$backend"], "/_default") == ofFallback {
			j.t.Errorf("%s: %.400q is set, want %.400q", c, given, want)
		}
		return
	}
	want := map[string]string{"$route": given["$route"], "$proxy_upstream_name": ""}
	if parts := strings.Split(given["$route"], "/"); len(parts) == 4 {
		want["$proxy_upstream_name"] = parts[0] + "-" + parts[2] + "-" + parts[3]
	} else if given["$route"] != "" {
		j.t.Errorf("%s: the route %.200q has not four parts", c, given["$route"])
		return
	}
	if key, hash, ok := strings.Cut(given["$backend"], "~"); ok && balancedHash.MatchString(hash) && key == backendOf(given["$route"]) {
		want["$backend"], want["$proxy_alternative_upstream_name"] = given["$backend"], ""
	}
	if !maps.Equal(given, want) {
		j.t.Errorf("%s: %.400q is set, want %.400q", c, given, want)
	}
}

var (
	statusCode = regexp.MustCompile(`^[45]\d{2}$`)
	// balancedHash ends the key of a backend that is balanced in another way than most.
	balancedHash = regexp.MustCompile(`^[0-9a-f]{16}$`)
	// certificatePage is for clients without a valid certificate. Its target is accounted
	// for as any other token.
	certificatePage = regexp.MustCompile(`^49[56] = (?:@|/|https?://)[^ ]*$`)
)

// backendOf is the key of the plain backend of a route.
func backendOf(route string) string {
	parts := strings.Split(route, "/")
	if len(parts) != 4 {
		return ""
	}
	return parts[0] + "/" + parts[2] + "/" + parts[3]
}

// dropPrefix takes out what a location sets for the header with the prefix that a
// rewrite took off. It is looked at before it is sent if a capture is in it.
func dropPrefix(given map[string]string, within *directive) {
	value, set := given["$forwarded_prefix"]
	checked := slices.ContainsFunc(find(within.body, "if"), func(d *directive) bool {
		return strings.Join(d.args, " ") == "($forwarded_prefix ~ [[:cntrl:]] )" && argument(d.body, "return") == "400"
	})
	if set && len(find(within.body, "rewrite")) == 1 && (checked || !strings.Contains(value, "$")) {
		delete(given, "$forwarded_prefix")
	}
}

// unchanged judges a value that leaves no trace in the file.
func (j *judge) unchanged(c hostileCase, o outcome, fresh []model.Problem) {
	if len(fresh) > 0 || !c.read() || c.value == c.place.old || c.tame() || c.passedOver() {
		return
	}
	if reflect.DeepEqual(o.config, j.base.config) {
		j.t.Errorf("%s: it has no effect and no problem says so", c)
	}
}
