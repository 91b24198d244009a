package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hasRow reports whether a report has a row, for an Ingress or for all.
func hasRow(r Report, id string) bool {
	items := slices.Clone(r.Everywhere)
	for _, i := range r.Ingresses {
		items = append(items, i.Items...)
	}
	return slices.ContainsFunc(items, func(i Item) bool { return i.Difference != nil && i.Difference.ID == id })
}

// TestRowsOnlyWhereTheyHold: a row is not there for an Ingress that it says nothing about.
func TestRowsOnlyWhereTheyHold(t *testing.T) {
	t.Parallel()
	const (
		global = `global-auth-url: "https://sign-in.example/"`
		broken = `nginx.ingress.kubernetes.io/auth-url: "no such"`
		alias  = `nginx.ingress.kubernetes.io/server-alias: "*.shops.example"`
	)
	for _, test := range []struct {
		row, annotation, setting, path, host string
		want                                 bool
	}{
		{"no-auth-locations", broken, "", "/.well-known/acme-challenge/a", "", true},
		{"no-auth-locations", broken, `no-auth-locations: "/open"`, "/open", "", true},
		{"no-auth-locations", broken, global, "/", "", false},
		{"no-auth-locations", `nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/33`, global, "/.well-known/acme-challenge", "", false},
		{"server-header", "", "", "/", "", true},
		{"server-header", "", `server-tokens: "true"`, "/", "", false},
		{"rewrite-same", `nginx.ingress.kubernetes.io/rewrite-target: /api`, "", "/api", "", true},
		{"rewrite-same", `nginx.ingress.kubernetes.io/rewrite-target: /`, "", "/", "", false},
		{"connection-header", `nginx.ingress.kubernetes.io/connection-proxy-header: upgrade`, "", "/", "", true},
		{"connection-header", `nginx.ingress.kubernetes.io/connection-proxy-header: close`, "", "/", "", false},
		{"app-root-closed", `nginx.ingress.kubernetes.io/app-root: /home, nginx.ingress.kubernetes.io/whitelist-source-range: 10.0.0.0/33`, "", "/", "", true},
		{"app-root-closed", `nginx.ingress.kubernetes.io/app-root: /home`, "", "/", "", false},
		{"app-root-lost", `nginx.ingress.kubernetes.io/app-root: /home`, "", "/", "", false},
		{"app-root-relative", `nginx.ingress.kubernetes.io/app-root: /home`, `relative-redirects: "true"`, "/", "", true},
		{"app-root-relative", `nginx.ingress.kubernetes.io/app-root: /home, nginx.ingress.kubernetes.io/relative-redirects: "true"`, "", "/", "", false},
		{"redirect-port-usual", `nginx.ingress.kubernetes.io/use-port-in-redirects: "true"`, "", "/", "", true},
		{"redirect-port-usual", "", `use-port-in-redirects: "true"`, "/", "", true},
		{"backend-verify-name", `nginx.ingress.kubernetes.io/proxy-ssl-verify: "on", nginx.ingress.kubernetes.io/proxy-ssl-secret: default/ca`, "", "/", "", false}, // the Secret is not there
		{"www-wildcard", `nginx.ingress.kubernetes.io/from-to-www-redirect: "true"`, "", "/", "", false},
		{"error-snippet", `nginx.ingress.kubernetes.io/configuration-snippet: "more_set_headers X:1;", nginx.ingress.kubernetes.io/custom-http-errors: "404"`, "", "/", "", true},
		{"error-snippet", `nginx.ingress.kubernetes.io/configuration-snippet: "more_set_headers X:1;"`, "", "/", "", false},
		{"alias-yields", alias, "", "/", "other.example", false},
		{"alias-yields", alias, "", "/", "*.other.example", false},
		{"alias-yields", alias, "", "/", "*.eu.shops.example", true},
		{"alias-yields", alias, "", "/", "*.shops.example", false}, // a finding says it
		{"alias-yields", `nginx.ingress.kubernetes.io/server-alias: "~^shop-.*[.]shops[.]example$"`, "", "/", "*.shops.example", true},
	} {
		text := fmt.Sprintf(around, test.annotation, test.setting)
		if test.host != "" {
			text += strings.NewReplacer("shop.example", "'"+test.host+"'", "canary: ", "unread: ").Replace(fmt.Sprintf(canaryOf, "", "/"))
		}
		m := read(t, strings.Replace(text, "path: /,", "path: "+test.path+",", 1))
		if r := Look(m, optionsFor(t), Setup{}); hasRow(r, test.row) != test.want {
			t.Errorf("%s with %s, %s, %s and the host %s: want it %v: %+v", test.row, test.annotation, test.setting, test.path, test.host, test.want, r.Ingresses)
		}
	}
}
