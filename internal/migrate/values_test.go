package migrate

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/snapshot"
)

// TestReadValues: values get a fate each, and become settings and flags.
func TestReadValues(t *testing.T) {
	t.Parallel()
	v, err := ReadValues([]byte("controller: {config: {proxy-body-size: 8m, no-such: x, block-cidrs: 192.0.2.1}, ingressClass: outer, replicaCont: 2, scope: {enabled: true, namespace: team}}"),
		[]byte("controller: {ingressClass: inner, extraArgs: {v: 2}, admissionWebhooks: {enabled: true, extraEnvs: [{name: A}]}, customTemplate: {configMapName: mine}}\nserviceAccount: {create: true}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(v.Arguments(), " "); got != "--configmap=ingress-nginx/ingress-nginx-controller --controller-class=k8s.io/ingress-nginx --ingress-class=inner --v=2 --watch-namespace=team" {
		t.Errorf("flags %s", got)
	}
	own, err := ReadValues([]byte("controller: {config: {hsts-max-age: 31536000, proxy-body-size: 104857600}, ingressClassResource: {name: internal, default: true}, scope: {enabled: true}}"))
	if err != nil {
		t.Fatal(err)
	}
	if own.Settings["hsts-max-age"] != "31536000" || own.Settings["proxy-body-size"] != "104857600" || own.Flags["watch-namespace"] != "ingress-nginx" {
		t.Errorf("settings %v, flags %v", own.Settings, own.Flags)
	}
	fates := map[string]Fate{}
	for _, a := range v.Given {
		fates[a.Name] = a.Fate
		if a.Fate != Kept && a.Text == "" {
			t.Errorf("%s: %s without a reason", a.Name, a.Fate)
		}
	}
	for name, want := range map[string]Fate{
		"controller.config.proxy-body-size": Kept, "controller.config.no-such": Unknown, "controller.replicaCont": Unknown,
		"controller.ingressClass": Kept, "controller.admissionWebhooks.enabled": Kept, "controller.admissionWebhooks.extraEnvs": WithoutEffect, "serviceAccount.create": Kept,
	} {
		if fates[name] != want {
			t.Errorf("%s is %q, want %q", name, fates[name], want)
		}
	}
	for _, bad := range []string{"kind: Service\napiVersion: v1", "- a", "a: b: c", "a: 1\na: 2"} {
		if _, err := ReadValues([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestFoldersOfValues: the volumes of values can be written to, and limits of the values hold.
func TestFoldersOfValues(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"{}": "[]",
		"controller: {extraVolumes: [{name: a, emptyDir: {sizeLimit: 2Gi}}, {name: b, secret: {}}], extraVolumeMounts: [{name: a, mountPath: /data}, {name: b, mountPath: /b}]}": "[{/data 2147483648 true}]",
		"controller: {tmpSizeLimit: 1Gi, cacheSizeLimit: \"\"}":                                        "[{/var/cache/nginx 0 true} {/tmp 1073741824 true}]",
		"controller: {extraInitContainers: [{name: a}], cacheSizeLimit: 1000, extraVolumes: [sample]}": "[]",
	} {
		v, err := ReadValues([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(v.Folders); got != want {
			t.Errorf("%s: got %s", values, got)
		}
	}
}

// TestMayRead: the ConfigMap of another release can be the one that the chart makes, unless
// the values say where it is.
func TestMayRead(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"{}": "here there",
		"controller: {configMapNamespace: there}":             "there",
		"controller: {extraArgs: {configmap: here/own-name}}": "",
	} {
		v, err := ReadValues([]byte(values))
		if err != nil {
			t.Fatal(err)
		}
		var may []string
		for _, namespace := range []string{"here", "there"} {
			if v.MayRead(snapshot.Name{Namespace: namespace, Name: "edge-ingress-nginx-controller"}) {
				may = append(may, namespace)
			}
		}
		if got := strings.Join(may, " "); got != want {
			t.Errorf("%s: %q, want %q", values, got, want)
		}
	}
}
