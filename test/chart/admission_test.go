package chart

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sluice/test/chart/rendering"
)

// hookOf is the webhook for Ingresses that the chart registers with these values. That for the
// settings is behind it, and has the same certificate.
func hookOf(t *testing.T, values string) (*admissionregistrationv1.ValidatingWebhookConfiguration, admissionregistrationv1.ValidatingWebhook) {
	t.Helper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	typed(t, render(t, values).Objects, "ValidatingWebhookConfiguration", "sluice-admission", configuration)
	if len(configuration.Webhooks) != 2 || len(configuration.Webhooks[1].ClientConfig.CABundle) > 0 {
		t.Fatalf("%s: there are %d webhooks, or one has a caBundle", values, len(configuration.Webhooks))
	}
	return configuration, configuration.Webhooks[0]
}

// admissionFlags are the container's flags about the webhook, without their common beginning.
func admissionFlags(t *testing.T, values string) string {
	t.Helper()
	var all []string
	for _, argument := range podOf(t, values).Containers[0].Args {
		if text, is := strings.CutPrefix(argument, "--validating-webhook"); is {
			all = append(all, strings.ReplaceAll(text, "$(POD_NAMESPACE)/", ""))
		}
	}
	return strings.Join(all, " ")
}

// admissionObjects are the kinds of the webhook's objects.
func admissionObjects(t *testing.T, values string) string {
	t.Helper()
	var all []string
	for _, o := range render(t, values).Objects {
		if kind := o.GetKind(); kind == "Issuer" || kind == "Certificate" || o.GetName() == "sluice-admission" {
			all = append(all, strings.Replace(kind, "ValidatingAdmission", "", 1))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestAdmissionWebhook: who makes the certificate decides which objects and flags there are, and a
// webhook that is set up by hand has none of them.
func TestAdmissionWebhook(t *testing.T) {
	t.Parallel()
	const kept, files = ":8443 -configuration=sluice-admission -secret=sluice-admission -service=sluice-admission", ":8443 -certificate=/usr/local/certificates/cert -key=/usr/local/certificates/key"
	for values, want := range map[string]struct{ objects, flags string }{
		"": {"Policy PolicyBinding Secret Service ValidatingWebhookConfiguration", "=" + kept},
		"controller: {admissionWebhooks: {enabled: false}}":                                                         {"", ""},
		"controller: {extraArgs: {validating-webhook-mode: warn}}":                                                  {"Policy PolicyBinding Secret Service ValidatingWebhookConfiguration", "=" + strings.Replace(kept, " -secret", " -mode=warn -secret", 1)},
		"controller: {extraArgs: {validating-webhook: \":9000\"}}":                                                  {"", "=:9000"},
		"controller: {admissionWebhooks: {patch: {enabled: false}}}":                                                {"Service ValidatingWebhookConfiguration", "=" + files},
		"controller: {admissionWebhooks: {certManager: {enabled: true}}}":                                           {"Certificate Certificate Issuer Issuer Service ValidatingWebhookConfiguration", "=" + files},
		"controller: {admissionWebhooks: {certManager: {enabled: true, issuerRef: {name: ours}}}}":                  {"Certificate Service ValidatingWebhookConfiguration", "=" + files},
		"{rbac: {scope: true}, controller: {scope: {enabled: true}}}":                                               {"", ""},
		"{rbac: {scope: true, create: false}, controller: {scope: {enabled: true}}}":                                {"Policy PolicyBinding Secret Service ValidatingWebhookConfiguration", "=" + kept},
		"{rbac: {scope: true}, controller: {scope: {enabled: true}, admissionWebhooks: {patch: {enabled: false}}}}": {"Service ValidatingWebhookConfiguration", "=" + files},
	} {
		if got := admissionObjects(t, values); got != want.objects {
			t.Errorf("%s: the objects are %s, want %s", values, got, want.objects)
		}
		if got := admissionFlags(t, values); got != want.flags {
			t.Errorf("%s: the flags are %s, want %s", values, got, want.flags)
		}
		hasVolume := slices.ContainsFunc(podOf(t, values).Volumes, func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == "sluice-admission" })
		if hasVolume != strings.Contains(want.flags, "-certificate") {
			t.Errorf("%s: the pod has the volume of the certificate: %v", values, hasVolume)
		}
	}
}

// TestAdmissionConfiguration: the webhook leads to the port of the container, is not asked about more
// than Ingresses, and has no caBundle, which an upgrade would overwrite.
func TestAdmissionConfiguration(t *testing.T) {
	t.Parallel()
	const values = "controller: {admissionWebhooks: {port: 9443, service: {servicePort: 8443}}}"
	_, hook := hookOf(t, values)
	to := hook.ClientConfig.Service
	if len(hook.ClientConfig.CABundle) > 0 || hook.ClientConfig.URL != nil || to.Namespace != "sluice" || to.Name != "sluice-admission" || *to.Port != 8443 {
		t.Errorf("the client configuration is %+v", hook.ClientConfig)
	}
	if len(hook.Rules) != 1 || !slices.Equal(hook.Rules[0].Resources, []string{"ingresses"}) || !slices.Equal(hook.Rules[0].APIGroups, []string{"networking.k8s.io"}) || len(hook.Rules[0].Operations) != 2 {
		t.Errorf("the rules are %+v", hook.Rules)
	}
	service := &corev1.Service{}
	typed(t, render(t, values).Objects, "Service", "sluice-admission", service)
	if port := service.Spec.Ports[0]; port.Port != 8443 || port.TargetPort != intstr.FromString("webhook") || portsOf(podOf(t, values))["webhook"] != 9443 {
		t.Errorf("the port is %+v", port)
	}
	for values, want := range map[string]string{
		"": "Ignore 5 /networking/v1/ingresses {}",
		"controller: {admissionWebhooks: {mode: warn}}":                                                                             "Ignore 5 /networking/v1/ingresses/warn {}",
		"controller: {admissionWebhooks: {failurePolicy: Fail, timeoutSeconds: 29}}":                                                "Fail 29 /networking/v1/ingresses {}",
		"controller: {scope: {enabled: true, namespace: shop}}":                                                                     "Ignore 5 /networking/v1/ingresses kubernetes.io/metadata.name=shop",
		"controller: {scope: {enabled: true, namespace: shop}, admissionWebhooks: {namespaceSelector: {matchLabels: {team: web}}}}": "Ignore 5 /networking/v1/ingresses team=web",
	} {
		_, hook := hookOf(t, values)
		selector := "{}"
		if hook.NamespaceSelector != nil {
			for name, value := range hook.NamespaceSelector.MatchLabels {
				selector = name + "=" + value
			}
		}
		got := strings.Join([]string{string(*hook.FailurePolicy), strconv.Itoa(int(*hook.TimeoutSeconds)), *hook.ClientConfig.Service.Path, selector}, " ")
		if got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
	}
	if configuration, _ := hookOf(t, "controller: {admissionWebhooks: {certManager: {enabled: true}}}"); configuration.Annotations["cert-manager.io/inject-ca-from"] != "sluice/sluice-admission" {
		t.Errorf("cert-manager is not asked to write the caBundle: %v", configuration.Annotations)
	}
}

// TestAdmissionOfSettings: the API server asks about the one ConfigMap with the settings, and nobody
// is kept from mending it while no replica answers.
func TestAdmissionOfSettings(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"": "Ignore 5 /core/v1/configmaps sluice object.metadata.name == \"sluice-controller\"",
		"controller: {admissionWebhooks: {mode: warn, failurePolicy: Fail, timeoutSeconds: 9}}":                          "Ignore 9 /core/v1/configmaps/warn sluice object.metadata.name == \"sluice-controller\"",
		"controller: {configMapNamespace: infra, scope: {enabled: true}}":                                                "Ignore 5 /core/v1/configmaps infra object.metadata.name == \"sluice-controller\"",
		"controller: {extraArgs: {configmap: other/config}, admissionWebhooks: {objectSelector: {matchLabels: {a: b}}}}": "Ignore 5 /core/v1/configmaps other object.metadata.name == \"config\"",
	} {
		configuration, _ := hookOf(t, values)
		hook := configuration.Webhooks[1]
		rule := hook.Rules[0]
		if len(hook.Rules) != 1 || !slices.Equal(rule.Resources, []string{"configmaps"}) || !slices.Equal(rule.APIGroups, []string{""}) || len(rule.Operations) != 2 || hook.ObjectSelector != nil {
			t.Errorf("%s: the rules are %+v", values, hook.Rules)
		}
		got := fmt.Sprint(*hook.FailurePolicy, " ", *hook.TimeoutSeconds, " ", *hook.ClientConfig.Service.Path, " ", hook.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"], " ", hook.MatchConditions[0].Expression)
		if got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
	}
	release := rendering.Default()
	release.Kubernetes = "v1.27.9"
	if r, err := release.Render(""); err != nil || strings.Contains(r.Manifests, "matchConditions") {
		t.Errorf("there are conditions where the API server does not know them: %v", err)
	}
	release = rendering.Default()
	if r, err := release.Render("controller: {extraArgs: {configmap: \"\"}}"); err != nil || strings.Contains(r.Manifests, "settings.sluice.io") {
		t.Errorf("settings are reviewed that are not read: %v", err)
	}
}

// TestAdmissionPolicy: there is none where the API server does not know the kind.
func TestAdmissionPolicy(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"v1.29.9": false, "v1.30.0": true} {
		release := rendering.Default()
		release.Kubernetes = version
		r, err := release.Render("")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(r.Manifests, "ValidatingAdmissionPolicy"); got != want {
			t.Errorf("%s: there is a policy: %v", version, got)
		}
	}
}
