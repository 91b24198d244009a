package migrate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/internal/lint"
)

// objects are those that the settings and annotations of the test name.
const objects = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: added, namespace: default}
data: {Strict-Transport-Security: max-age=1, Content-Type: text/plain, Set-Cookie: a=b, X-Unknown: $nothing}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: passed, namespace: default}
data: {X-Real-IP: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: dh, namespace: default}
data: {dhparam.pem: eA==}
---
apiVersion: v1
kind: Secret
metadata: {name: backend, namespace: certs}
---
`

// TestRowsOfSettings: settings, with annotations, are recognised as these rows.
func TestRowsOfSettings(t *testing.T) {
	t.Parallel()
	o := optionsFor(t)
	o.SecretThere = nil
	short, tickets := strings.Repeat("A", 64), "\nssl-session-tickets=true"
	for _, c := range []struct{ settings, annotation, want string }{
		{"add-headers=default/added", "", "add-headers-hsts add-headers-pages add-headers-reserved global-headers-values"},
		{"proxy-set-headers=default/passed", "", "set-headers-reserved"},
		{"allow-cross-namespace-resources=false", "proxy-ssl-secret=certs/backend\nbackend-protocol=HTTPS", "backend-key backend-secret-namespace"},
		{"annotation-value-word-blocklist=lua_package,", "upstream-vhost=lua_package", "word-blocklist"},
		{"bind-address=192.0.2.1, 192.0.2.2", "", "bind-address"},
		{"bind-address=2001:db8::1", "", "bind-address"},
		{"bind-address=192.0.2.1, 2001:db8::1", "", ""},
		{"bind-address=192.0.2.1, all", "", "bind-address bind-address-bad"},
		{"block-cidrs=10.0.0.0/8", "", "block-cidrs"},
		{"block-user-agents=one, ~two", "", ""},
		{"block-user-agents=~[", "", "block-bad"},
		{"block-referers=~(a*)*b", "", "block-patterns"},
		{"enable-ocsp=true", "", "ocsp"},
		{"geoip2-autoreload-in-minutes=5", "", "geoip-reload"},
		{"hide-headers=X-One", "backend-protocol=grpc", "hide-headers-grpc"},
		{"hide-headers=X-One", "", ""},
		{"http-snippet=text", "", "setting-snippets"},
		{"http-snippet=add_header X-One 1;", "", "setting-snippet-headers"},
		{"http-snippet=proxy_set_header X-One 1;", "", "setting-snippet-headers"},
		{"http-snippet=proxy_set_header  \"x-scheme\" http;", "", "setting-snippet-headers setting-snippet-own-headers"},
		{"http-snippet=proxy_cache_path /data/a keys_zone=a:1m max_size=1g;", "", "files"},
		{"http-snippet=proxy_cache_path /tmp/a keys_zone=a:1m;", "", "files"},
		{"http-snippet=proxy_cache_path /tmp/a keys_zone=a:1m max_size=100m;", "", ""},
		{"access-log-path=/var/log/a.log", "", "files"},
		{"limit-conn-zone-variable=$uri", "", "limit-conn-zone-variable"},
		{"limit-conn-zone-variable=$host", "", ""},
		{"location-snippet=set $proxy_upstream_name x;", "", "setting-snippets-reach"},
		{"lua-shared-dicts=other: 5", "", "dictionaries setting-bad"},
		{"main-snippet=worker_processes 1;", "", "setting-snippets-reach"},
		{"main-snippet=text", "", "setting-bad"},
		{"stream-snippet=text", "", "setting-bad"},
		{"server-snippet=location / { return 200; }", "", "setting-snippet-location"},
		{"server-snippet=location ~ ^/other { return 200; }", "", "setting-snippet-patterns"},
		{"ssl-dh-param=default/dh", "", "dh-param-bad"},
		{"ssl-early-data=true", "", "early-data"},
		{"ssl-session-ticket-key=abcd" + tickets, "", "ticket-key ticket-key-bad"},
		{"ssl-session-ticket-key=" + short + tickets, "", "ticket-key ticket-key-short"},
		{"ssl-session-ticket-key=" + short, "", ""},
		{"use-geoip2=true", "", "geoip-missing"},
	} {
		t.Run(strings.TrimSpace(c.settings+" "+c.annotation), func(t *testing.T) {
			t.Parallel()
			if got := rowsWith(t, o, c.settings, c.annotation); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// rowsWith returns the rows of a report, but for those of every report, and those of the
// protocol.
func rowsWith(t *testing.T, o lint.Options, settings, annotation string) string {
	t.Helper()
	m := read(t, objects+fmt.Sprintf(around, pairs("nginx.ingress.kubernetes.io/", annotation), pairs("", settings)))
	if len(m.Errors) > 0 {
		t.Fatal(m.Errors[0])
	}
	r := Look(m, o, Setup{})
	var ids []string
	for _, item := range slices.Concat(r.Everywhere, r.Objects, r.Ingresses[0].Items) {
		if d := item.Difference; d != nil && !strings.HasPrefix(d.Page, "docs/differences.md#status") && d.ID != "unread" && d.ID != "server-header" && d.ID != "hsts-errors" && !strings.HasPrefix(d.ID, "grpc-") && d.ID != "protocol-case" {
			ids = append(ids, d.ID)
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " ")
}

// pairs writes lines of "key=value" as an object of YAML, without its braces.
func pairs(prefix, lines string) string {
	var all []string
	for line := range strings.Lines(lines) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		all = append(all, prefix+key+": "+strconv.Quote(value))
	}
	return strings.Join(all, ", ")
}

// A path that is closed by an annotation of its Namespace names it.
func TestNamespacesThatCloseAreTold(t *testing.T) {
	t.Parallel()
	m := read(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, annotations: {sluice.io/defaults: \"allowlist-source-range: everybody\"}}\n---\n"+fmt.Sprintf(around, "", ""))
	i := Look(m, optionsFor(t), Setup{}).Ingresses[0]
	if i.Status != Unavailable || len(i.Items) != 1 || !strings.Contains(i.Items[0].Text, "because of Namespace default: sluice.io/defaults: ") || i.Items[0].Difference == nil {
		t.Errorf("got %s: %+v", i.Status, i.Items)
	}
}
