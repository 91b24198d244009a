package translate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// constant reports a key of requests without a variable: all requests have the same key, and
// go to the same endpoint.
func (t *translation) constant(ing *owner) {
	for each := range ing.Annotations.Each() {
		if each.Hash.By == "" || strings.Contains(each.Hash.By, "$") {
			continue
		}
		effect := "one endpoint"
		if each.Hash.Subset {
			effect = "one group of endpoints"
		}
		t.report(model.Problem{Object: ing.Ref, Field: each.Field(ing.PrefixKey, "upstream-hash-by"), Reason: Constant,
			Text: fmt.Sprintf("the key has no variable, so that all requests go to %s: want one such as $request_uri (got %s)", effect, model.Quoted(each.Hash.By))})
	}
}

// ofEndpoints are the annotations that choose among the endpoints of a Service.
var ofEndpoints = []string{"affinity", "fail-timeout", "health-check-path", "load-balance", "max-fails", "slow-start", "upstream-hash-by"}

// atServices reports annotations about endpoints beside service-upstream, with which nginx
// knows one address of the Service.
func (t *translation) atServices(ing *owner) {
	if ing.object == nil || t.onlyHeadless(ing.object) {
		return
	}
	for each := range ing.Annotations.Each() {
		if !each.ServiceUpstream.Enabled {
			continue
		}
		by := each.Field(ing.PrefixKey, "service-upstream")
		if ing.given[by] == "" {
			by = "the setting service-upstream"
		}
		for _, key := range ofEndpoints {
			field := each.Field(ing.PrefixKey, key)
			general := field == annotations.FieldOf(ing.PrefixKey, key)
			if ing.given[field] == "" || !choosesEndpoints(each, key) || general && by == annotations.PathsPrefix+"service-upstream" {
				continue
			}
			t.report(model.Problem{Object: ing.Ref, Field: field, Reason: model.NoEffect,
				Text: "it has no effect beside " + by + ", with which nginx sends requests to the address of the Service and does not choose an endpoint"})
		}
	}
}

// choosesEndpoints reports whether the value of one of ofEndpoints asks for anything.
func choosesEndpoints(a *annotations.Annotations, key string) bool {
	switch key {
	case "affinity":
		return a.Affinity.Type != ""
	case "health-check-path":
		return a.HealthCheck.Path != ""
	case "load-balance":
		return a.LoadBalance.Work() != ""
	case "max-fails", "fail-timeout":
		return a.Ejection.MaxFails > 0
	case "slow-start":
		return a.SlowStart.Seconds > 0
	}
	return a.Hash.By != ""
}

// onlyHeadless reports whether all Services of an Ingress have no cluster address: these
// keep their endpoints.
func (t *translation) onlyHeadless(object *networkingv1.Ingress) bool {
	headless := false
	for _, rule := range object.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			if path.Backend.Service == nil {
				continue
			}
			service, _ := t.service(snapshot.Name{Namespace: object.Namespace, Name: path.Backend.Service.Name})
			if service == nil || service.Spec.ClusterIP != corev1.ClusterIPNone {
				return false
			}
			headless = true
		}
	}
	return headless
}

// pageless reports error pages that no Service gives.
func (t *translation) pageless(ing *owner) {
	if t.options.DefaultBackend != (snapshot.Name{}) {
		return
	}
	for each := range ing.Annotations.Each() {
		field := each.Field(ing.PrefixKey, "custom-http-errors")
		if ing.given[field] == "" || len(each.CustomErrors.Codes) == 0 || each.CustomErrors.Backend != "" {
			continue
		}
		t.report(model.Problem{Object: ing.Ref, Field: field, Reason: model.NoEffect,
			Text: "no Service answers in place of errors: want " + annotations.FieldOf(ing.PrefixKey, "default-backend") + " beside it, or --default-backend-service of the controller"})
	}
}

// uncollected reports traced paths whose spans no collector gets. The settings report their
// own enable-opentelemetry.
func (t *translation) uncollected(ing *owner) {
	for each := range ing.Annotations.Each() {
		field := each.Field(ing.PrefixKey, "enable-opentelemetry")
		if ing.given[field] == "" || !each.OpenTelemetry.Enabled || ing.Settings.Tracing.Records() {
			continue
		}
		t.report(model.Problem{Object: ing.Ref, Field: field, Reason: model.NoEffect,
			Text: "traces are passed on, but nobody gets spans: want the setting otlp-collector-host, the name or address of the collector"})
	}
}
