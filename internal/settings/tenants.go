package settings

// Bounds limits what the Ingresses of one namespace may have, so that none fills nginx's memory.
type Bounds struct {
	Hosts int `key:"max-hosts-per-namespace" default:"0" validate:"min=0,max=1000000" instead:"there is no limit" permits:"true" doc:"Maximum number of hosts that the Ingresses of a namespace may have, with their aliases. The oldest Ingresses count first. One that would exceed the number is left out as a whole; if it protects paths, they return 503. 0 means no limit."`
	Paths int `key:"max-paths-per-namespace" default:"0" validate:"min=0,max=1000000" instead:"there is no limit" permits:"true" doc:"Maximum number of paths that the Ingresses of a namespace may have, with those of the annotation redirects and a defaultBackend, counted like max-hosts-per-namespace. 0 means no limit."`
}

// Targets configures which servers Ingresses and Services of tenants may lead requests to. An
// invalid value counts as the stricter one.
type Targets struct {
	Scope string `key:"target-scope" default:"any" validate:"oneof=any namespace" empty:"zero" invalid:"zero" permits:"strictly" instead:"requests go only to Pods that a Service of the same namespace selects" doc:"Where requests may go: with any, wherever a Service, auth-url or mirror-target leads, as in ingress-nginx; with namespace, only to Pods that a Service of the same namespace selects. Then Services of the type ExternalName and EndpointSlices that Kubernetes did not write are not followed, and auth-url and mirror-target must have the host SERVICE.NAMESPACE.svc. Empty means namespace."`
}

// OwnNamespace reports whether requests may go only to Pods of the namespace that leads them.
func (t Targets) OwnNamespace() bool { return t.Scope != "any" }
