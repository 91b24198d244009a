package translate

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

func TestTransport(t *testing.T) {
	t.Parallel()
	authority := issue(t, "authority")
	ca := func(name string, text []byte) string {
		return "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: default, name: " + name + "}\ndata: {ca.crt: " + base64.StdEncoding.EncodeToString(text) + "}\n"
	}
	yaml := ca("ca", append([]byte("a comment\n"), authority.crt...)) + ca("junk", []byte("junk")) + secret("default/client", authority)
	foreign := func(namespace, namespaces string) string {
		return delegated(strings.Replace(ca("ca", authority.crt), "default", namespace, 1), namespaces)
	}
	yaml += foreign("shared", "default") + foreign("team", "other") + foreign("slip", "Default, default")
	for name, test := range map[string]struct {
		annotations map[string]string
		want        model.Transport
		denied      bool
		problems    []string
	}{
		"plain": {nil, model.Transport{}, false, nil},
		"TLS":   {map[string]string{"backend-protocol": "https"}, model.Transport{TLS: true}, false, nil},
		"verified": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/ca", "proxy-ssl-verify": "on", "proxy-ssl-name": "inside.example", "proxy-ssl-verify-depth": "3"},
			model.Transport{TLS: true, Ciphers: "DEFAULT", Protocols: "TLSv1.2", Verify: true, Name: "inside.example", TrustedCA: string(authority.crt), VerifyDepth: 3}, false, nil},
		"a name, not verified": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/ca", "proxy-ssl-name": "inside.example", "proxy-ssl-server-name": "on"},
			model.Transport{TLS: true, Ciphers: "DEFAULT", Protocols: "TLSv1.2", Name: "inside.example"}, false, nil},
		"plain with a Secret": {map[string]string{"proxy-ssl-secret": "default/nosuch"}, model.Transport{}, false, []string{"Unread Ingress default/i proxy-ssl-secret"}},
		"another namespace": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "team/ca"},
			model.Transport{}, true, []string{"NotFound Ingress default/i proxy-ssl-secret denies"}},
		"another namespace, delegated": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "shared/ca", "proxy-ssl-verify": "on", "proxy-ssl-name": "x"},
			model.Transport{TLS: true, Ciphers: "DEFAULT", Protocols: "TLSv1.2", Verify: true, Name: "x", TrustedCA: string(authority.crt), VerifyDepth: 1}, false, nil},
		"another namespace, delegated with a slip": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "slip/ca"},
			model.Transport{TLS: true, Ciphers: "DEFAULT", Protocols: "TLSv1.2"}, false, []string{"InvalidValue Secret slip/ca sluice.io/tls-delegation"}},
		"missing": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/nosuch"},
			model.Transport{}, true, []string{"NotFound Ingress default/i proxy-ssl-secret denies"}},
		"no authority": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/junk", "proxy-ssl-verify": "on", "proxy-ssl-name": "x"},
			model.Transport{}, true, []string{"InvalidValue Ingress default/i proxy-ssl-secret denies"}},
		"no name to verify": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/ca", "proxy-ssl-verify": "on"},
			model.Transport{}, true, []string{"InvalidValue Ingress default/i proxy-ssl-verify denies"}},
		"a client certificate": {map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/client", "proxy-ssl-protocols": "TLSv1.3  TLSv1.2", "proxy-ssl-ciphers": "HIGH"},
			model.Transport{TLS: true, Ciphers: "HIGH", Protocols: "TLSv1.2 TLSv1.3", Certificate: "that of the Secret"}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, problems := world{yaml: yaml, ingresses: []ing{{name: "i", annotations: test.annotations, rules: []string{"h / P a:80"}}}}.translate(t)
			if diff := cmp.Diff(test.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			l := serverNamed(t, config, "h").Locations[0]
			if test.denied != (l.Return != nil) {
				t.Fatalf("answered with %+v", l)
			}
			if test.want.Certificate != "" { // the only one that is pushed
				test.want.Certificate = config.Dynamic.Certificates[0].ID
			}
			if !test.denied {
				if diff := cmp.Diff(test.want, l.Proxy.Transport); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// A protection that cannot be honoured denies every path of its Ingress, on every host,
// and no other path.
func TestDenied(t *testing.T) {
	t.Parallel()
	config := world{ingresses: []ing{
		{name: "bad", age: 2, annotations: map[string]string{"allowlist-source-range": "nonsense", "rewrite-target": "/x/$1", "enable-cors": "true"}, rules: []string{"h /bad(.*) I a:80", "g /bad(.*) I a:80"}},
		{name: "good", rules: []string{"h /good P b:80", "g / P b:80"}},
	}}.check(t, []string{
		"h/bad", "~* ^/bad(.*) -> 503", "g/bad", "~* ^/bad(.*) -> 503", "h/good", "~* ^/good -> b", "g/other", "~* ^/ -> b",
		"h/other", "/ -> 503", // the fallback is the oldest Ingress's
	}, []string{"InvalidValue Ingress default/bad allowlist-source-range denies"})
	for _, b := range config.Dynamic.Backends {
		if b.Key == "default/a/80" {
			t.Error("the backend of a denied Ingress is pushed")
		}
	}
}

// Protecting settings that are not supported deny every path.
func TestSettingsDeny(t *testing.T) {
	t.Parallel()
	config, problems := world{
		config:    map[string]string{"block-cidrs": "192.0.2.0/33"},
		ingresses: []ing{{name: "i", rules: []string{"h /x P a:80"}}},
	}.translate(t)
	for _, url := range []string{"h/x", "h/y", "any/x"} {
		if got := ask(config, url); got[len(got)-3:] != "503" {
			t.Errorf("%s: %s", url, got)
		}
	}
	if len(problems) != 1 {
		t.Error(problems)
	}
}
