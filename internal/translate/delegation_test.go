package translate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/claim"
	"sluice/internal/manifest/decode"
)

// delegated adds an annotation with namespaces to a Secret in YAML.
func delegated(yaml, namespaces string) string {
	return strings.Replace(yaml, "metadata: {", `metadata: {annotations: {sluice.io/tls-delegation: "`+namespaces+`"}, `, 1)
}

func TestDelegates(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]bool{
		"shop": true, " shop ,": true, "other,shop": true, "*": true, "other, *": true, "Shop!, shop": true,
		"": false, "other": false, "shop-2": false, "sho": false, "shop*": false, "other shop": false, "Shop": false,
	} {
		if got := claim.Delegates(written, "shop"); got != want {
			t.Errorf("%q delegates to shop: %v", written, got)
		}
	}
	if claim.Delegates("", "") {
		t.Error("what says nothing delegates")
	}
}

// Our annotations once began with "sluice/". That form is still read.
func TestOlderKeyDelegates(t *testing.T) {
	t.Parallel()
	for want, written := range map[string]map[string]string{
		"":  nil,
		"a": {delegation: "a"},
		"b": {"sluice/tls-delegation": "b"},
		"c": {delegation: "c", "sluice/tls-delegation": "b"},
	} {
		if got := delegationIn(written, delegation); got != want {
			t.Errorf("%v: %q", written, got)
		}
	}
	if got := HostDelegationOf(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"sluice/host-delegation": "x"}}}); got != "x" {
		t.Errorf("a Namespace delegates to %q", got)
	}
}

func TestForeignCertificate(t *testing.T) {
	t.Parallel()
	foreign, own := secret("certs/web", issue(t, "web.example")), secret("default/web", issue(t, "own.example"))
	for name, test := range map[string]struct {
		yaml      string
		namespace string
		presented string
		problems  []string
	}{
		"delegated":         {delegated(foreign, "default"), "certs", "web.example", nil},
		"delegated to all":  {delegated(foreign, "*") + own, "certs", "web.example", nil},
		"to another":        {delegated(foreign, "other"), "certs", "none", []string{"NotFound Ingress default/i spec.tls[0].secretName"}},
		"not delegated":     {foreign + own, "certs", "none", []string{"NotFound Ingress default/i spec.tls[0].secretName"}},
		"missing":           {own, "certs", "none", []string{"NotFound Ingress default/i spec.tls[0].secretName"}},
		"the own namespace": {own, "default", "none", []string{"InvalidValue Ingress default/i spec.tls[0].secretName"}},
		"broken": {delegated("---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: certs, name: web}\n", "default"), "certs", "none",
			[]string{"InvalidValue Ingress default/i spec.tls[0].secretName"}},
		"an item that is no namespace": {delegated(foreign, "default;other,default"), "certs", "web.example", []string{"InvalidValue Secret certs/web sluice.io/tls-delegation"}},
		"no namespace":                 {delegated(secret("default/web", issue(t, "web.example")), ""), "Certs", "web.example", []string{"InvalidValue Ingress default/i tls-cert-namespace"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, problems := world{yaml: test.yaml, ingresses: []ing{{name: "i", annotations: map[string]string{"tls-cert-namespace": test.namespace},
				tls: []string{"web web.example"}, rules: []string{"web.example / P a:80"}}}}.translate(t)
			if got := presented(t, config, "web.example"); got != test.presented {
				t.Errorf("presented is %q, want %q", got, test.presented)
			}
			if diff := cmp.Diff(test.problems, problems); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// No output depends on whether a Secret of another namespace exists that is not
// delegated.
func TestForeignSecretsCannotBeProbed(t *testing.T) {
	t.Parallel()
	secrets := []string{"", secret("certs/web", issue(t, "web.example")), delegated(secret("certs/web", issue(t, "other.example")), "other"),
		"---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: certs, name: web}\ndata: {ca.crt: anVuaw==}\n"}
	for name, i := range map[string]ing{
		"the host of tls": {annotations: map[string]string{"tls-cert-namespace": "certs"}, tls: []string{"web web.example"}},
		"any host":        {annotations: map[string]string{"tls-cert-namespace": "certs"}, tls: []string{"web"}},
		"backends":        {annotations: map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "certs/web"}},
		"verified backends": {annotations: map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "certs/web",
			"proxy-ssl-verify": "on", "proxy-ssl-name": "inside"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i.name, i.rules = "i", []string{"web.example / P a:80"}
			before := world{ingresses: []ing{i}}
			config, problems := Config(newSnapshot(t, before.objects(t)), before.flags(), nil)
			if len(problems) == 0 || !strings.Contains(problems[0].Text, "certs/web") || !strings.Contains(problems[0].Text, delegation+` has to name "default"`) {
				t.Errorf("the remedy is not told: %v", problems)
			}
			for _, yaml := range secrets {
				w := world{yaml: yaml, ingresses: []ing{i}}
				got, others := Config(newSnapshot(t, w.objects(t)), w.flags(), nil)
				if diff := cmp.Diff(config, got); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(problems, others); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// A new or removed delegation takes effect at the next call.
func TestDelegationIsNotRemembered(t *testing.T) {
	t.Parallel()
	crt := issue(t, "web.example")
	authority := delegated(secret("certs/ca", crt), "*")
	ingresses := []ing{
		{name: "i", annotations: map[string]string{"tls-cert-namespace": "certs"}, tls: []string{"web web.example"}, rules: []string{"web.example / P a:80"}},
		{name: "j", annotations: map[string]string{"backend-protocol": "HTTPS", "proxy-ssl-secret": "certs/ca"}, rules: []string{"j / P a:80"}},
	}
	base := world{ingresses: ingresses}
	objects := base.objects(t)
	memo := NewMemo()
	for _, step := range []struct {
		yaml, presented string
		denied          bool
	}{
		{secret("certs/web", crt) + secret("certs/ca", crt), "none", true},
		{delegated(secret("certs/web", crt), "default") + authority, "web.example", false},
		{delegated(secret("certs/web", crt), "other") + delegated(secret("certs/ca", crt), "other"), "none", true},
		{authority, "none", false},
	} {
		with, _, err := decode.FromYAML("secrets.yaml", []byte(step.yaml))
		if err != nil {
			t.Fatal(err)
		}
		objects.Secrets = with.Secrets
		config, _ := Config(newSnapshot(t, objects), base.flags(), memo)
		if got := presented(t, config, "web.example"); got != step.presented {
			t.Errorf("presented is %q, want %q", got, step.presented)
		}
		if denied := serverNamed(t, config, "j").Locations[0].Return != nil; denied != step.denied {
			t.Errorf("backends whose Secret is delegated or not: denied is %v, want %v", denied, step.denied)
		}
	}
}
