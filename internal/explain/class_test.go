package explain

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/translate"
)

// inner is a class of ours with settings.
const inner = `---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: inner}
spec: {controller: k8s.io/ingress-nginx, parameters: {kind: ConfigMap, name: inner, namespace: shop, scope: Namespace}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inner, namespace: shop}
data:
`

// inClass gives Ingresses the class inner.
func inClass(manifests string) string {
	return strings.ReplaceAll(manifests, "ingressClassName: nginx", "ingressClassName: inner")
}

// Each value is said to be from where it is: the class, and else the controller.
func TestSettingsOfAClass(t *testing.T) {
	t.Parallel()
	manifests := inClass(ingress("a", []string{"shop.example / Prefix web"}, "proxy-send-timeout: '5'")) + ingress("b", []string{"other.example / Prefix web"}) +
		inner + "  proxy-read-timeout: '7'\n  proxy-send-timeout: '8'\n  proxy-connect-timeout: many\n" +
		scoped("path", "proxy-read-timeout: '9'", "proxy-connect-timeout: '10'")
	in := inputOf(t, manifests, withSettings)
	for url, want := range map[string]map[string]string{
		"shop.example/":  {"proxy-read-timeout": "7 setting ConfigMap shop/inner", "proxy-send-timeout": "5 annotation Ingress shop/a", "proxy-connect-timeout": "10 setting ConfigMap shop/settings"},
		"other.example/": {"proxy-read-timeout": "9 setting ConfigMap shop/settings", "proxy-send-timeout": "60 default", "proxy-connect-timeout": "10 setting ConfigMap shop/settings"},
	} {
		for _, behaviour := range asked(t, in, url).Applied.Behaviours {
			for _, k := range behaviour.Keys {
				got := strings.TrimSpace(k.Value + " " + string(k.Source) + " " + strings.TrimSpace(k.Object.String()))
				if w, ok := want[k.Key]; ok && got != w {
					t.Errorf("%s: %s: got %s, want %s", url, k.Key, got, w)
				}
				delete(want, k.Key)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s: not said: %v", url, want)
		}
	}
}

// What no Ingress has is not of the default class.
func TestWhatNoRuleTakesHasTheSettingsOfTheController(t *testing.T) {
	t.Parallel()
	class := strings.Replace(inner, "{name: inner}", `{name: inner, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}`, 1)
	in := inputOf(t, inClass(ingress("a", []string{"shop.example / Prefix web"}))+class+"  proxy-read-timeout: '7'\n", func(o *translate.Options) {
		o.DefaultBackend.Namespace, o.DefaultBackend.Name = "shop", "web"
	})
	for url, want := range map[string]string{"shop.example/": "7", "nobody.example/": "60"} {
		list := asked(t, in, url).Applied.Behaviours
		at := slices.IndexFunc(list, func(b Behaviour) bool { return b.Name == "timeouts" })
		if at < 0 || !slices.ContainsFunc(list[at].Keys, func(k Key) bool { return k.Key == "proxy-read-timeout" && k.Value == want }) {
			t.Errorf("%s: want the timeout %s, got %+v", url, want, list)
		}
	}
}

func TestAnswersOfAClass(t *testing.T) {
	t.Parallel()
	rule := []string{"shop.example / Prefix web"}
	for _, test := range []struct{ name, manifests, want string }{
		{"denied by a setting of the class", inClass(ingress("a", rule)) + inner + "  whitelist-source-range: nonsense\n", "is answered 503 by Ingress shop/a, spec.rules[0].http.paths[0] (Prefix /): ConfigMap shop/inner: whitelist-source-range: want IP addresses"},
		{"redirected by it", inClass(ingress("a", rule)) + inner + "  force-ssl-redirect: 'true'\n  http-redirect-code: '301'\n", "is redirected with 301 to https://shop.example by Ingress shop/a"},
		{"not redirected for it", inClass(ingress("a", rule, "force-ssl-redirect: 'true'")) + inner + "  no-tls-redirect-locations: /\n", "goes to Service shop/web"},
	} {
		e := asked(t, inputOf(t, test.manifests, nil), "shop.example/")
		if !strings.Contains(e.Summary, test.want) {
			t.Errorf("%s: got %s", test.name, e.Summary)
		}
		if test.name == "not redirected for it" && !strings.Contains(e.Applied.Redirect.Why, "no-tls-redirect-locations") {
			t.Errorf("%s: got %+v", test.name, e.Applied.Redirect)
		}
	}
}

// Where classes cannot be read, the flag is what an Ingress must name.
func TestUnreadableClasses(t *testing.T) {
	t.Parallel()
	in := inputOf(t, inClass(ingress("a", []string{"shop.example / Prefix web"}))+inner+"  proxy-read-timeout: '7'\n", func(o *translate.Options) { o.ClassesUnreadable = true })
	e := asked(t, in, "shop.example/")
	if len(e.Losers) != 1 || !strings.Contains(e.Losers[0].Why, `is of the class "inner" (spec.ingressClassName), and served are: nginx`) {
		t.Errorf("got %+v", e.Losers)
	}
}
