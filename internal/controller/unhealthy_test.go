package controller

import (
	"slices"
	"testing"
	"time"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
)

// TestServiceWithoutAHealthyEndpoint gets a Problem until one of its endpoints is healthy,
// or new. Nothing listens at its address.
func TestServiceWithoutAHealthyEndpoint(t *testing.T) {
	t.Parallel()
	source := &objects{}
	add := func(text string) {
		parsed, _, err := decode.FromYAML("test.yaml", []byte(object(t, text)))
		if err != nil {
			t.Fatal(err)
		}
		source.Append(parsed)
	}
	for _, text := range []string{"ingress a web", "service web", "slice web 127.0.0.1"} {
		add(text)
	}
	port := int32(1)
	source.EndpointSlices[0].Ports[0].Port = &port
	source.Ingresses[0].Annotations = map[string]string{"sluice.io/health-check-path": "/healthz", "sluice.io/health-check-interval": "1",
		"sluice.io/health-check-unhealthy-threshold": "1"}
	c := idle(t, source)
	c.Translate.ManifestMode, c.Translate.IngressClasses = true, []string{"nginx"}
	c.sync(t.Context())
	go c.Prober.Run(t.Context())
	go c.forward(t.Context())
	unhealthy := func() bool {
		return slices.ContainsFunc(c.latest.problems, func(p model.Problem) bool {
			return p.Reason == model.Unhealthy && p.Object == model.ObjectRef{Kind: "Service", Namespace: "default", Name: "web"}
		})
	}
	if unhealthy() {
		t.Error("it is unhealthy before any check")
	}
	late := time.After(4 * time.Minute)
	for !unhealthy() {
		select {
		case <-c.endpointsChanged:
			c.resolved(t.Context())
		case <-c.pace.due:
			c.syncOrWait(t.Context())
		case <-late:
			t.Fatalf("no Problem; there are %v", c.latest.problems)
		}
	}
	add("slice web 127.0.0.2")
	source.EndpointSlices[1].Name, source.EndpointSlices[1].Ports[0].Port = "more", &port
	if c.sync(t.Context()); unhealthy() {
		t.Error("a new endpoint is not healthy")
	}
}
