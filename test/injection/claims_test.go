package injection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// ownersText is two owners that are no Ingress: one whose values are changed, with a
// claim of each kind, and a neighbour of another namespace.
const ownersText = `
- ref: {kind: HTTPRoute, namespace: default, name: shop}
  created: "2021-01-01T00:00:00Z"
  annotations: {nginx.ingress.kubernetes.io/allowlist-source-range: 10.0.0.0/8}
  claims:
  - {field: "rules[0]", host: claims.example, path: /zero, pathType: Prefix, service: {namespace: default, name: web, port: "80"}}
  - {field: "rules[1]", host: claims.example, path: /one, pathType: Exact, match: {method: POST, headers: [{name: X-A, value: a}], query: [{name: q, value: b}]}, service: {namespace: default, name: web, port: "80"}}
  - {field: "rules[2]", host: "*.claims.example", anyLabels: true, path: /two, pathType: Prefix, match: {headers: [{name: X-P, value: "[a-z]+", pattern: true}], query: [{name: q, value: "[0-9]", pattern: true}]}, service: {namespace: default, name: web, port: "80"}}
- ref: {kind: HTTPRoute, namespace: other, name: neighbour}
  created: "2022-01-01T00:00:00Z"
  claims:
  - {field: "rules[0]", host: beside.example, path: /, pathType: Prefix, service: {namespace: other, name: side, port: "80"}}
  - {field: "rules[1]", host: beside.example, path: /, pathType: Prefix, match: {headers: [{name: X-B, value: b}]}, service: {namespace: other, name: side, port: "80"}}
`

func readOwners(t *testing.T) []*claim.Object {
	t.Helper()
	var owners []*claim.Object
	if err := yaml.UnmarshalStrict([]byte(ownersText), &owners); err != nil {
		t.Fatal(err)
	}
	return owners
}

// become gives the outcome of owners.
func (j *claimJudge) become(owners []*claim.Object) (o outcome) {
	var unprintable []model.Problem
	o.config, o.problems = translate.ConfigWith(j.snap, j.worker.options, owners, j.worker.memo)
	o.file, unprintable = j.worker.render(o.config.Static)
	o.problems = append(o.problems, unprintable...)
	return o
}

// claimJudge judges what becomes of hostile claims. It is for one goroutine.
type claimJudge struct {
	t       *testing.T
	worker  *worker
	snap    *snapshot.Snapshot
	grammar map[string]bool
	base    outcome
	list    []*directive // that of the base
	tokens  map[string]int
	// servers and locations are those of the base.
	servers, locations int
	beside             string
}

func newClaimJudge(t *testing.T) *claimJudge {
	t.Helper()
	j := &claimJudge{t: t, worker: newWorker(t), grammar: map[string]bool{}}
	for place := range benign(t).ingresses {
		j.grammar[place] = true
	}
	objects := sharedWorld(t)
	objects.Ingresses = nil
	j.snap, _ = snapshot.New(objects)
	j.worker.options.TCPServices, j.worker.options.UDPServices = snapshot.Name{}, snapshot.Name{}
	j.base = j.become(readOwners(t))
	if len(j.base.problems) > 0 {
		t.Fatalf("the base has problems: %v", j.base.problems)
	}
	list := j.base.tree(t)
	learn(j.grammar, list)
	j.list = list
	j.tokens, j.servers, j.locations = tokensOf(list), count(list, "server"), count(list, "location")
	j.beside = answering(j.base, list, "beside.example")
	if !strings.Contains(j.beside, "other/neighbour/side/80") {
		t.Fatalf("the neighbour is not served: %s", j.beside)
	}
	return j
}

func count(list []*directive, name string) (n int) {
	all(list, func(d *directive) {
		if d.name == name {
			n++
		}
	})
	return n
}

// TestEveryClaim puts every hostile value in every string of claims that no Ingress
// makes, as another kind of object would.
func TestEveryClaim(t *testing.T) {
	t.Parallel()
	var own tally
	t.Cleanup(func() {
		t.Log(&own)
		if own.cases < 1000 || own.refused < 500 || own.files < 500 {
			t.Errorf("only %d cases, of which %d were refused and %d changed the file", own.cases, own.refused, own.files)
		}
	})
	for at, p := range placesOf(readOwners(t)[0], nil) {
		if strings.HasPrefix(p.path, "annotations") { // TestEveryField has them
			continue
		}
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			j := newClaimJudge(t)
			var done tally
			for _, value := range valuesFor(p, false) {
				owners := readOwners(t)
				changed := placesOf(owners[0], nil)[at]
				changed.set(value)
				j.judge(hostileCase{subject: subject{kind: "HTTPRoute", name: "shop"}, place: changed, value: value}, owners, &done)
			}
			own.add(&done)
		})
	}
}

func (j *claimJudge) judge(c hostileCase, owners []*claim.Object, done *tally) {
	done.cases++
	o := j.become(owners)
	for _, p := range o.problems {
		if !presentable(p.Text) || !presentable(p.Field) || !presentable(p.Object.String()) {
			j.t.Errorf("%s: the problem is not one short printable line: %.300q", c, p.String())
		}
	}
	if len(o.problems) > 0 {
		done.refused++
	}
	list := j.list
	if !o.file.Equal(j.base.file) {
		list = o.tree(j.t)
		done.files++
		j.structure(c, list)
	}
	if beside := answering(o, list, "beside.example"); beside != j.beside && !strings.Contains(c.value, "beside.example") {
		j.t.Errorf("%s: the neighbour is served otherwise:\n%s\nbefore:\n%s", c, beside, j.beside)
	}
	j.accounted(c, o, list)
	j.guarded(c, owners[0], list)
	if strings.HasSuffix(c.place.path, ".listener") && c.value != "" {
		j.unlistened(c, o, list)
	}
}

// structure holds a file to the directives of benign objects, and to the servers and
// locations of the base: a claim that goes elsewhere can need one server more, with a
// fallback and a location for its other form.
func (j *claimJudge) structure(c hostileCase, list []*directive) {
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
	})
	if n := count(list, "server"); n > j.servers+1 {
		j.t.Errorf("%s: %d servers, want at most %d", c, n, j.servers+1)
	}
	if n := count(list, "location"); n > j.locations+4 {
		j.t.Errorf("%s: %d locations, want at most %d", c, n, j.locations+4)
	}
	if name := twice(list); name != "" {
		j.t.Errorf("%s: two servers have the name %.200q", c, name)
	}
}

// accounted judges what carries the marker: the whole value is in one token, as it is
// or as the pattern that matches it.
func (j *claimJudge) accounted(c hostileCase, o outcome, list []*directive) {
	if !strings.Contains(c.value, marker) {
		return
	}
	written := append(c.forms(), regexp.QuoteMeta(c.value), inQuery(c.value))
	for token := range tokensOf(list) {
		if !strings.Contains(token, marker) || j.tokens[token] > 0 {
			continue
		}
		if !slices.ContainsFunc(written, func(form string) bool { return form != "" && strings.Contains(token, form) }) {
			j.t.Errorf("%s: the value is part of the token %q", c, token)
		}
	}
	if len(o.problems) == 0 && o.file.Equal(j.base.file) && !strings.HasSuffix(c.place.path, ".field") && c.place.path != "ref.kind" {
		j.t.Errorf("%s: it has no effect and no problem says so", c)
	}
}

// inQuery is the pattern of a value in the query of a request, each byte as it is or
// percent-encoded.
func inQuery(value string) string {
	var pattern strings.Builder
	for _, b := range []byte(value) {
		plain, encoded := regexp.QuoteMeta(string(rune(b))), "%"
		for _, digit := range fmt.Sprintf("%02X", b) {
			if digit >= 'A' {
				encoded += fmt.Sprintf("[%c%c]", digit, digit+'a'-'A')
			} else {
				encoded += string(digit)
			}
		}
		switch {
		case strings.ContainsRune("_-.~", rune(b)), b >= '0' && b <= '9', b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z':
			pattern.WriteString(plain)
			continue
		case b == ' ':
			plain = `\+`
		case b == '%':
			pattern.WriteString("(?:" + encoded + ")")
			continue
		case b >= 0x80:
			plain = fmt.Sprintf(`\x%02x`, b)
		}
		pattern.WriteString("(?:" + plain + "|" + encoded + ")")
	}
	return pattern.String()
}

// guarded checks that each location of the changed owner lets in the network that it
// allows, or nobody.
func (j *claimJudge) guarded(c hostileCase, owner *claim.Object, list []*directive) {
	allows := guard{allows: owner.Annotations[prefix+"allowlist-source-range"]}
	all(list, func(d *directive) {
		parts := strings.Split(strings.TrimPrefix(routeOf(d.body), "$route "), "/")
		if d.name != "location" || len(passing(d.body)) == 0 || len(parts) != 4 || parts[0] != owner.Ref.Namespace || parts[1] != owner.Ref.Name {
			return
		}
		if fault := allows.accessFault(d.body); fault != "" {
			j.t.Errorf("%s: location %q: %s", c, d.args, fault)
		}
	})
}

// unlistened checks that a claim for a listener that is not there is not served on
// those that are: it says so, and its path is nowhere.
func (j *claimJudge) unlistened(c hostileCase, o outcome, list []*directive) {
	at, _, _ := strings.Cut(strings.TrimPrefix(c.place.path, "claims["), "]")
	field, path := fmt.Sprintf("rules[%s].listener", at), map[string]string{"0": "/zero", "1": "/one", "2": "/two"}[at]
	if !slices.ContainsFunc(o.problems, func(p model.Problem) bool { return p.Field == field && p.Reason == model.Unsupported }) {
		j.t.Errorf("%s: want a problem of %s, got %v", c, field, o.problems)
	}
	all(list, func(d *directive) {
		if d.name == "location" && strings.HasPrefix(argumentOf(d), path) {
			j.t.Errorf("%s: %s is served", c, path)
		}
	})
}

// argumentOf is the last argument of a directive, "" for none.
func argumentOf(d *directive) string {
	if len(d.args) == 0 {
		return ""
	}
	return d.args[len(d.args)-1]
}
