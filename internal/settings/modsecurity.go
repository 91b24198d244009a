package settings

import "sluice/internal/keys"

// ModSecurity inspects requests and answers by rules. Annotations can override the first
// two.
type ModSecurity struct {
	Enabled   bool          `key:"enable-modsecurity" default:"false" empty:"zero" off:"false f 0 no off" protects:"true" doc:"Whether ModSecurity inspects the requests for all Ingresses. Without SecRuleEngine On in modsecurity-snippet it only reports them in the log."`
	CoreRules bool          `key:"enable-owasp-modsecurity-crs" default:"false" empty:"zero" off:"false f 0 no off" protects:"true" doc:"Whether the OWASP core rule set applies where ModSecurity inspects requests."`
	Rules     keys.SecRules `key:"modsecurity-snippet" empty:"zero" protects:"true" doc:"Directives of ModSecurity wherever it inspects requests. They come before the core rule set, and behind those of an Ingress."`
}
