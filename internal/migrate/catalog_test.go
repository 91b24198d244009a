package migrate

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/lint"
	"sluice/internal/model"
)

var update = flag.Bool("update", false, "write the expectations anew")

// samples are values by the type that the catalog gives. What is not here is "1".
var samples = map[string]string{
	"bool": "true", "size": "8m", "string": "text", "url": "https://other.example/path", "secret-ref": "default/secret", "nginx-config": "more_set_headers \"X-One: 1\";",
	"cidr-list": "10.0.0.0/8", "nginx-variable-text": "$host", "configmap-ref": "default/headers", "header-list": "X-One,X-Two", "path": "/path", "cookie-name": "COOKIE",
	"hostname-or-variable": "other.example", "path-with-captures": "/path", "string-list": "one", "url-or-named-location": "https://other.example/error", "regex": "v.*", "pcre": "v.*",
	"header-name": "X-One", "method-list": "GET, POST", "origin-list": "https://other.example", "int-list": "404,503", "service-ref": "errors", "filename": "index.php",
	"hostname": "other.example", "modsec-rules": "SecRuleEngine On", "hostname-or-regex-list": "other.example", "openssl-cipher-string": "ECDHE-RSA-AES128-GCM-SHA256",
	"string-list (csv)": "one", "cidr-list (csv)": "10.0.0.0/8", "duration": "30s", "configmap-ref ns/name": "default/headers", "ip-list (csv)": "192.0.2.1", "int-list (csv)": "404",
	"http-method": "GET", "go-duration": "30s", "secret-ref ns/name": "default/secret", "float": "0.5",
}

// byName are valid values of settings whose type says too little.
var byName = map[string]string{
	"access-log-params": "buffer=16k", "access-log-path": "/var/log/nginx/access.log", "http-access-log-path": "/var/log/nginx/http.log", "stream-access-log-path": "/var/log/nginx/stream.log",
	"error-log-path": "/var/log/nginx/error.log", "error-log-level": "warn", "syslog-host": "192.0.2.1", "skip-access-log-urls": "/health", "annotation-value-word-blocklist": "load_module,lua_package",
	"brotli-types": "text/css", "gzip-types": "text/css", "default-type": "text/plain", "large-client-header-buffers": "4 8k", "limit-conn-zone-variable": "$host", "load-balance": "ewma",
	"main-snippet": "worker_rlimit_core 500m;", "http-snippet": "map $host $of_team { default one; }", "server-snippet": "location /other { return 200; }", "location-snippet": "more_set_headers \"X-One: 1\";",
	"stream-snippet": "map $remote_addr $of_stream { default one; }", "global-auth-snippet": "proxy_set_header X-One 1;", "global-auth-cache-duration": "200 202 401 5m", "modsecurity-snippet": "SecRuleEngine On",
	"lua-shared-dicts": "certificate_data: 128, configuration_data: 64", "no-auth-locations": "/path", "no-tls-redirect-locations": "/path", "otlp-collector-port": "4317", "proxy-busy-buffers-size": "8k",
	"proxy-cookie-domain": "one.example other.example", "proxy-cookie-path": "/one /other", "proxy-http-version": "1.1", "ssl-protocols": "TLSv1.2 TLSv1.3", "ssl-session-ticket-key": strings.Repeat("A", 107) + "=",
	"worker-cpu-affinity": "auto", "worker-processes": "auto", "ssl-ciphers": "ECDHE-RSA-AES128-GCM-SHA256", "ssl-ecdh-curve": "auto",
}

// entry is a row of the catalog of ingress-nginx 1.15.1.
type entry struct{ name, value string }

// catalogOf reads a table of the catalog. The names of a row are its first columns.
func catalogOf(t *testing.T, file string, aliases bool) []entry {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for _, cells := range table[1:] {
		names, kind, words := []string{cells[0]}, cells[1], cells[2]
		if aliases {
			names, kind, words = append(names, strings.Fields(strings.ReplaceAll(cells[1], ",", " "))...), cells[2], cells[3]
		}
		for _, name := range names {
			value := samples[kind]
			if first, _, _ := strings.Cut(words, ","); value == "" && first != "" {
				value = strings.Trim(first, `"`)
			}
			if value == "" {
				value = "1"
			}
			all = append(all, entry{name, value})
		}
	}
	return all
}

const around = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: default
  annotations: {%s}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
data: {%s}
`

// with reports an Ingress with one annotation, and one setting.
func with(t *testing.T, o lint.Options, annotation, setting string) Report {
	t.Helper()
	m := read(t, fmt.Sprintf(around, annotation, setting))
	if len(m.Errors) > 0 {
		t.Fatal(m.Errors[0])
	}
	return Look(m, o, Setup{})
}

// TestEachAnnotationHasAStatus reports each annotation of the catalog, with a valid value
// and with one that is not. None is unknown, and each difference names its row.
func TestEachAnnotationHasAStatus(t *testing.T) {
	t.Parallel()
	o := optionsFor(t)
	entries := catalogOf(t, "annotations.csv", true)
	if len(entries) < 142 {
		t.Fatalf("%d annotations", len(entries))
	}
	var lines strings.Builder
	for _, e := range entries {
		for _, value := range []string{e.value, "no such\tvalue {"} {
			r := with(t, o, "nginx.ingress.kubernetes.io/"+e.name+": "+strconv.Quote(value), "")
			if len(r.Ingresses) != 1 {
				t.Fatalf("%s: %d Ingresses", e.name, len(r.Ingresses))
			}
			i := r.Ingresses[0]
			checkItems(t, e.name, i)
			fmt.Fprintf(&lines, "%s %q: %s %s\n", e.name, value, i.Status, strings.Join(idsOf(i.Items), " "))
		}
	}
	expect(t, "annotations.txt", lines.String())
}

// checkItems holds that a status follows from items, and that none is of an unknown name.
func checkItems(t *testing.T, name string, i Ingress) {
	t.Helper()
	worst := Ready
	for _, item := range i.Items {
		if strings.Contains(item.Text, "has this name") {
			t.Errorf("%s is unknown: %s", name, item.Text)
		}
		if item.Status != Note && item.Difference == nil {
			t.Errorf("%s: %s: names no row of docs/differences.md", name, item.Text)
		}
		if item.Status != Note && item.Text == "" {
			t.Errorf("%s: an item without a text", name)
		}
		if rank(item.Status) < rank(worst) {
			worst = item.Status
		}
	}
	if rank(i.Status) > rank(worst) {
		t.Errorf("%s: the status is %s, and an item is %s", name, i.Status, worst)
	}
	if i.Status != Ready && worst == Ready {
		t.Errorf("%s: the status is %s, and no item says why", name, i.Status)
	}
}

// idsOf are the rows of items that are no notes, sorted.
func idsOf(items []Item) []string {
	var ids []string
	for _, item := range items {
		switch {
		case item.Status == Note:
		case item.Difference != nil:
			ids = append(ids, item.Difference.ID)
		default:
			ids = append(ids, string(item.Reason))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// TestEachSettingHasAFate does the same with the ConfigMap.
func TestEachSettingHasAFate(t *testing.T) {
	t.Parallel()
	o := optionsFor(t)
	entries := catalogOf(t, "settings.csv", false)
	if len(entries) != 208 {
		t.Fatalf("%d settings", len(entries))
	}
	var lines strings.Builder
	for _, e := range entries {
		if value := byName[e.name]; value != "" {
			e.value = value
		}
		r := with(t, o, "", e.name+": "+strconv.Quote(e.value))
		if len(r.Settings) != 1 || r.Settings[0].Name != e.name {
			t.Fatalf("%s: %+v", e.name, r.Settings)
		}
		a := r.Settings[0]
		if a.Fate == Unknown || strings.Contains(a.Text, "not read yet") {
			t.Errorf("%s is unknown: %s", e.name, a.Text)
		}
		if a.Fate != Kept && a.Text == "" {
			t.Errorf("%s: %s without a reason", e.name, a.Fate)
		}
		if r.Ingresses[0].Status == Unavailable && a.Fate != Closes {
			t.Errorf("%s: the setting is %s, and the Ingress %s", e.name, a.Fate, r.Ingresses[0].Status)
		}
		fmt.Fprintf(&lines, "%s %q: %s\n", e.name, e.value, a.Fate)
	}
	expect(t, "settings.txt", lines.String())
}

// expect compares a text with a file of testdata.
func expect(t *testing.T, file, got string) {
	t.Helper()
	path := "testdata/" + file
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got), `go test ./internal/migrate -update` writes it:\n%s", file, diff)
	}
}

// An unknown annotation and setting are told as such.
func TestUnknownNamesAreSeen(t *testing.T) {
	t.Parallel()
	r := with(t, optionsFor(t), "nginx.ingress.kubernetes.io/no-such-annotation: x", "no-such-setting: x")
	if items := r.Ingresses[0].Items; len(items) != 1 || items[0].Reason != model.Unread || items[0].Status != Note {
		t.Errorf("the annotation: %+v", items)
	}
	if len(r.Settings) != 1 || r.Settings[0].Fate != Unknown {
		t.Errorf("the setting: %+v", r.Settings)
	}
}
