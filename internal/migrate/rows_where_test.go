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
