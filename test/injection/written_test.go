package injection

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/test/edges"
)

// accounted judges a value that changes the file: it is there as it was written,
// or a problem says that it is not.
func (j *judge) accounted(c hostileCase, read *reading, fresh []model.Problem) {
	count := read.tokens[c.value]
	literal := len(c.value) < 3 && count > 0 && count <= j.read.tokens[c.value] // others of that word may have gone
	written := c.forms()
	for _, token := range read.added {
		if carriesOne(token, written) {
			literal = true
			continue
		}
		if strings.Contains(token, marker) {
			j.t.Errorf("%s: the value is part of the token %q", c, token)
		}
	}
	if !literal && len(fresh) == 0 && !c.tame() && !c.leaves() && !c.passedOver() {
		j.t.Errorf("%s: it changes the file, is not in it, and no problem says why", c)
	}
}

// wrapping is what is printed before a value: flags and anchors of patterns, the
// name of a list of origins.
var wrapping = regexp.MustCompile(`^(?:~\*|[0-9a-f]{32}/)?(?:\(\?i\))?\^?`)

// limits are what is printed before a pattern, and around one that may begin
// anywhere, to limit how hard nginx tries it.
var limits = regexp.MustCompile(`^(~?)(?:\(\*NO_JIT\)\(\*LIMIT_HEAP=8192\))?\(\*LIMIT_MATCH=[0-9]+\)(\^\(\?s:\.\*\?\)\(\?:)?`)

// numberedGroup is the name of a group whose number the target of a rewrite uses.
var numberedGroup = regexp.MustCompile(`\(\?<p_[1-9]>`)

// withoutLimits gives a token as it would be without limits and such names.
func withoutLimits(token string) string {
	m := limits.FindStringSubmatch(token)
	if m == nil {
		return token
	}
	rest := numberedGroup.ReplaceAllString(token[len(m[0]):], "(")
	if m[2] != "" {
		rest = strings.TrimSuffix(rest, ")")
	}
	return m[1] + rest
}

// carriesOne says whether a token is one of the forms of a value: as it is, with
// what is printed around it, or as a part of a route.
func carriesOne(token string, forms []string) bool {
	token = withoutLimits(token)
	inner := strings.TrimPrefix(token, wrapping.FindString(token))
	route := strings.Split(token, "/")
	for _, form := range forms {
		for _, t := range []string{token, inner, strings.TrimSuffix(inner, "$")} {
			if t == form || strings.TrimSuffix(t, "/") == strings.TrimSuffix(form, "/") {
				return true
			}
		}
		if len(route) == 4 && slices.Contains(route, form) {
			return true
		}
	}
	return false
}

// forms are the ways to write the value of a case.
func (c hostileCase) forms() []string {
	list := forms(c.value)
	own, value := c.own()
	if value != c.value {
		list = append(list, forms(value)...)
	}
	if turn := turnedOwn[own]; turn != nil {
		list = append(list, turn(strings.TrimSpace(value))...)
	}
	if turn := turned[c.key()]; turn != nil {
		list = append(list, turn(strings.TrimSpace(c.value))...)
	}
	return list
}

// forms are the ways to write any value.
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
		list = append(list, item, "/"+item) // of a path that is closed by its beginning
	}
	return list
}

// turned are keys whose values are printed as something that is made of them. Each
// gives the only whole tokens that may be: whoever adds a key here has to be sure
// that no other text of nginx's language can come of a value.
var turned = map[string]func(value string) []string{
	"forwarded-for-header":  headerVariable,
	"forwarded-host-header": headerVariable,
	"permanent-redirect":    onOwnHost,
	"app-root":              onOwnHost,
	"server-alias":          furtherNames,

	"global-request-headers":  headerLine,
	"global-response-headers": headerLine,

	"auth-signin":                func(value string) []string { return signInWith(value, "back") },
	"auth-signin-redirect-param": func(value string) []string { return signInWith("https://login.example/start?x=1", value) },
}

// signInWith is the URL that clients are sent to, with a parameter that says what they
// asked for.
func signInWith(url, parameter string) []string {
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	whole := url + separator + parameter + "=$pass_access_scheme://$best_http_host$escaped_request_uri"
	return append(onOwnHost(whole), whole)
}

// headerVariable is nginx's variable for a header: letters, digits and "_" only.
func headerVariable(name string) []string {
	variable := "$http_" + strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	if !regexp.MustCompile(`^\$http_[a-z0-9_]+$`).MatchString(variable) {
		return nil
	}
	return []string{variable}
}

// onOwnHost is the URL of a path on the host that was asked.
func onOwnHost(path string) []string {
	if !strings.HasPrefix(path, "/") {
		return nil
	}
	return []string{"$redirect_scheme://$best_http_host" + path}
}

// furtherNames are names in lower case; ".name" is two of them, and a wildcard may
// be the pattern of the same names.
func furtherNames(value string) []string {
	var list []string
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		if strings.HasPrefix(item, "~") {
			list = append(list, item, "/"+item) // of a path that is closed by its beginning
			continue
		}
		item = strings.ToLower(item)
		if strings.HasPrefix(item, ".") {
			list = append(list, item[1:])
			item = "*" + item
		}
		beginning, tail := strings.CutSuffix(item, ".*")
		switch {
		case tail:
			list = append(list, "~^"+regexp.QuoteMeta(beginning)+`\..+$`)
		case strings.HasPrefix(item, "*."):
			list = append(list, "~^.+"+regexp.QuoteMeta(item[1:])+"$")
		}
		list = append(list, item, "/"+item) // of a path that is closed by its beginning
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

// key is the annotation or setting that a case gives a value to, without the
// prefix; "" for other places.
func (c hostileCase) key() string {
	path, found := strings.CutPrefix(c.place.path, "metadata.annotations["+prefix)
	if !found {
		path, found = strings.CutPrefix(c.place.path, "data[")
	}
	key, isValue := strings.CutSuffix(path, "]")
	if !found || !isValue || !c.subject.settings() && c.subject.kind != "Ingress" {
		return ""
	}
	return key
}

var (
	annotationDoc = sync.OnceValue(func() map[string]keys.Doc { return keyed(annotationDocs()) })
	settingDoc    = sync.OnceValue(func() map[string]keys.Doc { return keyed(settingDocs()) })
)

// doc is what the key says of itself; empty for other places.
func (c hostileCase) doc() keys.Doc {
	if c.subject.settings() {
		return settingDoc()[c.key()]
	}
	return annotationDoc()[c.key()]
}

// digits are a number, with a unit or without.
var digits = regexp.MustCompile(`^[+-]?[0-9]+ ?[bkmgsdhy]?$`)

// tame is true for a value that cannot become anything but what the key means by
// it: nothing, its default, a switch, or digits where a number belongs. It need not
// be found in the file as it is written. That the file holds nothing else is judged
// all the same.
func (c hostileCase) tame() bool {
	value, doc := strings.TrimSpace(c.value), c.doc()
	if value == "" || doc.Key != "" && value == c.byDefault() {
		return true
	}
	if c.in("data[default-annotations]", "data[fixed-annotations]") && onlyComments(value) {
		return true
	}
	_, err := strconv.ParseBool(value)
	switch {
	case doc.Key == "":
		return false // it is no key that has edges
	case doc.IsOff(value):
		return true
	case doc.Type == "bool":
		return err == nil
	case numeric(doc):
		return digits.MatchString(value)
	}
	return slices.Contains(edges.Of(doc), "on") && (value == "on" || value == "off")
}

// onlyComments is true for a list of lines that are all empty or comments.
func onlyComments(value string) bool {
	return !slices.ContainsFunc(strings.Split(value, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !strings.HasPrefix(line, "#")
	})
}

// byDefault is what the key says if nobody says anything.
func (c hostileCase) byDefault() string {
	doc := c.doc()
	if doc.Key == "tls-cert-namespace" {
		return "default" // where the Ingresses are
	}
	if doc.From != "" && c.subject.kind == "Ingress" {
		return settingDoc()[doc.From].Default
	}
	return doc.Default
}

// passedOver is true for a place whose value may have no effect without a problem
// that says so: a part of a backend of a kind that is a problem whatever it says,
// a path that is never redirected, which the world has no rule for, and what makes
// an EndpointSlice another's, or its endpoints useless: they come and go, and the
// host that is passed through to them has none then. Of users a hash is in the file.
// A list of revoked certificates is optional, and what requests are balanced by and what
// is checked is pushed. A word that no annotation may contain changes those that have it. A span has a name and ModSecurity an id only where they are on.
func (c hostileCase) passedOver() bool {
	return strings.Contains(c.place.path, ".resource.") || c.in("data[no-tls-redirect-locations]") || c.subject.kind == "EndpointSlice" ||
		c.subject.kind == "Secret" && c.subject.name == "users" || c.in("data[no-auth-locations]", "data[annotation-value-word-blocklist]") || c.in("data[ca.crl]#key") || strings.Contains(c.place.path, "upstream-hash-by]") || strings.Contains(c.place.path, "health-check-path]") ||
		c.subject.kind == "Ingress" && (strings.Contains(c.place.path, "opentelemetry-operation-name]") || strings.Contains(c.place.path, "modsecurity-transaction-id]"))
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
		{"https://a/x/y", "x", false}, {"a/b/c/d;x", "x", false}, {"a.test", "b.test, a.test", true},
	} {
		if got := carriesOne(c.token, forms(c.value)); got != c.want {
			t.Errorf("carriesOne(%q, %q) = %t, want %t", c.token, c.value, got, c.want)
		}
	}
}

// A value that is turned into something else is only that.
func TestForms(t *testing.T) {
	t.Parallel()
	setting, annotation := subject{kind: "ConfigMap", name: "config"}, subject{kind: "Ingress"}
	for _, c := range []struct {
		subject           subject
		key, value, token string
		want              bool
	}{
		{setting, "data[forwarded-for-header]", "X-A", "$http_x_a", true},
		{setting, "data[forwarded-for-header]", "X-A;", "$http_x_a;", false},
		{setting, "data[proxy-real-ip-cidr]", "X-A", "$http_x_a", false},
		{annotation, "metadata.annotations[" + prefix + "app-root]", "/a", "$redirect_scheme://$best_http_host/a", true},
		{annotation, "metadata.annotations[" + prefix + "app-root]", "a", "$redirect_scheme://$best_http_hosta", false},
		{annotation, "metadata.annotations[" + prefix + "server-alias]", "B.a, .c", "*.c", true},
		{annotation, "metadata.annotations[" + prefix + "server-alias]", "x.*", `~^x\..+$`, true},
		{annotation, "metadata.annotations[sluice.io/response-headers]", "X-A: /b;", "/b;", true},
		{annotation, "metadata.annotations[sluice.io/response-headers]", "X;A:/b;", "/b;", false},
		{annotation, "metadata.annotations[sluice.io/paths.response-headers]", "/x: X-A: /b;", "/b;", true},
		{annotation, "metadata.annotations[sluice.io/match-headers]", "X-A: b;", `~^b;\z`, true},
		{annotation, "metadata.annotations[sluice.io/match-headers]", "X-A:b;", "b;", false},
		{annotation, "metadata.annotations[sluice.io/match-query]", "a: b;/", `~^b(?:;|%3[Bb])(?:/|%2[Ff])\z`, true},
		{annotation, "metadata.annotations[" + prefix + "server-alias]#key", "x.*", `~^x\..+$`, false},
	} {
		h := hostileCase{subject: c.subject, place: place{path: c.key}, value: c.value}
		if got := carriesOne(c.token, h.forms()); got != c.want {
			t.Errorf("%s = %q as %q: %t, want %t", c.key, c.value, c.token, got, c.want)
		}
	}
	for value, want := range map[string]bool{"": true, "true": true, "x": false, "1": true, "on": false, "10": false} {
		if got := (hostileCase{subject: annotation, place: place{path: "metadata.annotations[" + prefix + "use-regex]"}, value: value}).tame(); got != want {
			t.Errorf("use-regex = %q is tame: %t, want %t", value, got, want)
		}
	}
}
