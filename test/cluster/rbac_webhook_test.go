package cluster

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hookName is the name of the Secret, Service and ValidatingWebhookConfiguration of the chart.
const hookName = "sluice-admission"

// hooked says whether there is an admission webhook.
func (c cast) hooked() bool { return !c.namespaced() && c.rights == nil }

// moveWebhooks renames what rules and webhooks refer to of a ValidatingWebhookConfiguration, and lets
// webhooks judge the Ingresses of the test alone.
func (p places) moveWebhooks(o *unstructured.Unstructured) {
	rules, _, _ := unstructured.NestedSlice(o.Object, "rules")
	for _, one := range rules {
		rule := one.(map[string]any)
		if resources := rule["resources"].([]any); resources[0] == "validatingwebhookconfigurations" {
			rule["resourceNames"] = []any{rule["resourceNames"].([]any)[0].(string) + p.suffix}
		}
	}
	if len(rules) > 0 {
		o.Object["rules"] = rules
	}
	hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
	for _, one := range hooks {
		hook := one.(map[string]any)
		service, _, _ := unstructured.NestedMap(hook, "clientConfig", "service")
		service["namespace"] = p.namespaces[service["namespace"].(string)]
		_ = unstructured.SetNestedMap(hook, service, "clientConfig", "service")
		_ = unstructured.SetNestedField(hook, p.namespaces["shop"], "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name")
	}
	if len(hooks) > 0 {
		o.Object["webhooks"] = hooks
	}
}

// keepsCertificate: the Secret gets a certificate, and the API server the authority of it.
func (s *scene) keepsCertificate() {
	s.Helper()
	Eventually(s.T, "the certificate of the admission webhook", func(ctx context.Context) error {
		bundle, certificate := s.hookBundle(ctx)
		if len(bundle) == 0 || len(certificate) == 0 {
			return errors.New("it is not there, or the API server is not told of it")
		}
		return nil
	})
}

// hookBundle gives the caBundle of the webhook, and the certificate in the Secret.
func (s *scene) hookBundle(ctx context.Context) (bundle, certificate []byte) {
	s.Helper()
	configuration, err := s.c.Admin().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, s.hook, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	secret, err := s.c.Admin().CoreV1().Secrets(s.own).Get(ctx, hookName, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	return configuration.Webhooks[0].ClientConfig.CABundle, secret.Data["tls.crt"]
}

// isNotAsked: the API server has no authority of a certificate of the webhook, and all is served.
func (s *scene) isNotAsked() {
	s.Helper()
	s.start()
	s.complains("the certificate of the admission webhook is not kept", s.hooksObject())
	s.serves()
	if bundle, certificate := s.hookBundle(s.Context()); len(bundle) > 0 && len(certificate) > 0 {
		s.Error("the API server is told the authority of a certificate that is there")
	}
}

// hooksObject is the name of the object that the right is for.
func (s *scene) hooksObject() string {
	if s.missing.resource == "secrets" {
		return hookName
	}
	return s.hook
}
