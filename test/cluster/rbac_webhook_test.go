package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// hookName is the name of the Secret, Service and ValidatingWebhookConfiguration of the chart.
const hookName = "sluice-admission"

// hooked says whether there is an admission webhook.
func (c cast) hooked() bool { return !c.namespaced() && c.rights == nil }

// moveWebhooks renames what rules and webhooks refer to of a ValidatingWebhookConfiguration, and lets
// webhooks judge the Ingresses, and the settings, of the test alone.
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
		reviewed := "shop"
		if hook["name"] == "settings.sluice.io" {
			reviewed = "sluice"
		}
		_ = unstructured.SetNestedField(hook, p.namespaces[reviewed], "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name")
	}
	if len(hooks) > 0 {
		o.Object["webhooks"] = hooks
	}
	p.movePolicy(o)
}

// movePolicy renames what the policy about the configuration refers to.
func (p places) movePolicy(o *unstructured.Unstructured) {
	if !strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy") {
		return
	}
	text, _ := json.Marshal(o.Object["spec"])
	moved := strings.NewReplacer(`"`+hookName+`"`, `"`+hookName+p.suffix+`"`, "serviceaccount:sluice:", "serviceaccount:"+p.namespaces["sluice"]+":").Replace(string(text))
	spec := map[string]any{}
	_ = json.Unmarshal([]byte(moved), &spec)
	o.Object["spec"] = spec
}

// changesBundleOnly: by the right to the configuration, the account can change the caBundle and
// nothing that says which objects go where.
func (s *scene) changesBundleOnly() {
	s.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.c.TokenKubeconfig(s.T, s.own, s.account))
	if err != nil {
		s.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		s.Fatal(err)
	}
	try := func(ctx context.Context, change string) error {
		_, err := clients.AdmissionregistrationV1().ValidatingWebhookConfigurations().Patch(ctx, s.hook, types.JSONPatchType, []byte(change), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	for _, change := range []string{
		`[{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["*"]}]`,
		`[{"op":"replace","path":"/webhooks/0/clientConfig/service/namespace","value":"elsewhere"}]`,
		`[{"op":"replace","path":"/webhooks/0/clientConfig","value":{"url":"https://elsewhere.example/"}}]`,
		`[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`,
		`[{"op":"remove","path":"/webhooks/0/namespaceSelector"}]`,
		`[{"op":"replace","path":"/webhooks/0/name","value":"another.sluice.io"}]`,
		`[{"op":"copy","from":"/webhooks/0","path":"/webhooks/1"},{"op":"replace","path":"/webhooks/1/name","value":"another.sluice.io"}]`,
		`[{"op":"remove","path":"/webhooks"}]`,
	} {
		Eventually(s.T, "the refusal of "+change, func(ctx context.Context) error {
			if err := try(ctx, change); err == nil || !strings.Contains(err.Error(), "Sluice may change the caBundle only") {
				return fmt.Errorf("the answer is %w", errors.Join(err, errors.New("no refusal")))
			}
			return nil
		})
	}
	if err := try(s.Context(), `[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`); err != nil {
		s.Errorf("a change of the caBundle: %v", err)
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
