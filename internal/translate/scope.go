package translate

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// targetScope is the setting that keeps requests in the namespace that leads them.
const targetScope = "target-scope"

// byKubernetes is the value of discoveryv1.LabelManagedBy in the EndpointSlices that Kubernetes
// writes for the Pods that a Service selects. It undoes what others write into these: see
// https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#management
const byKubernetes = "endpointslice-controller.k8s.io"

// ofNamespace reports whether requests may go only to Pods of the namespace that leads them.
func (t *translation) ofNamespace() bool { return t.settings.Targets.OwnNamespace() }

// beyondScope returns why a Service leads to other Pods than those that it selects, "" if it does
// not.
func beyondScope(service *corev1.Service) string {
	switch {
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return "the externalName " + model.Quoted(service.Spec.ExternalName) + " of Service " + snapshot.NameOf(service).String() + " is not followed, as the setting " + targetScope + " is namespace: want a Service with a selector"
	case len(service.Spec.Selector) == 0:
		return "Service " + snapshot.NameOf(service).String() + " has no selector, and the setting " + targetScope + " is namespace: want a selector, because only Pods that it selects get requests"
	}
	return ""
}

// selected returns the EndpointSlices with the Pods that a Service selects, and a Problem for each
// other one.
func selected(parts []*discoveryv1.EndpointSlice) (own []*discoveryv1.EndpointSlice, problems []model.Problem) {
	for _, part := range parts {
		by := part.Labels[discoveryv1.LabelManagedBy]
		if by == byKubernetes {
			own = append(own, part)
			continue
		}
		problems = append(problems, model.Problem{Object: model.ObjectRef{Kind: "EndpointSlice", Namespace: part.Namespace, Name: part.Name}, Field: "metadata.labels", Reason: model.Unsupported,
			Text: fmt.Sprintf("want %s: %s, which Kubernetes writes (got %s), as the setting %s is namespace: its endpoints get no requests", discoveryv1.LabelManagedBy, byKubernetes, model.Quoted(by), targetScope)})
	}
	return own, problems
}

// ownService makes a target that is asked for in a namespace a Service of it, if requests may go
// only there. text is why it is none.
func (t *translation) ownService(namespace, asked string, to *claim.Target) (text string) {
	if !t.ofNamespace() {
		return ""
	}
	name, found := strings.CutSuffix(strings.TrimSuffix(to.Host, ".cluster.local"), "."+namespace+".svc")
	if !found || len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Sprintf("want a URL with the host SERVICE.%s.svc, as the setting %s is namespace (got %s)", namespace, targetScope, model.Quoted(asked))
	}
	to.Service = snapshot.Name{Namespace: namespace, Name: name}
	return ""
}

// ofScope keeps the EndpointSlices that count, and returns the fault of a Service that leads
// elsewhere.
func (b *backend) ofScope() ([]*discoveryv1.EndpointSlice, *backendFault) {
	if text := beyondScope(b.service); text != "" {
		return nil, &backendFault{false, model.Unsupported, fmt.Sprintf("%s: %d is answered", text, b.model.WhenEmpty)}
	}
	own, problems := selected(b.slices)
	b.remarks = append(b.remarks, problems...)
	if b.Balancing != nil && b.Balancing.ServiceAddress {
		b.remarks = append(b.remarks, model.Problem{Object: refTo(kindService, b.ID.Service), Field: "spec.clusterIP", Reason: model.Unsupported,
			Text: "service-upstream has no effect on it, as the setting " + targetScope + " is namespace: its endpoints get the requests"})
	}
	return slices.Clip(own), nil
}
