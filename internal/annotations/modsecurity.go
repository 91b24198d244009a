package annotations

import (
	"reflect"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// ModSecurity inspects requests and answers by rules.
type ModSecurity struct {
	Enabled       bool          `key:"enable-modsecurity" from:"enable-modsecurity" off:"false f 0 no off" protects:"true" risk:"low" doc:"Whether ModSecurity inspects requests. Without SecRuleEngine On in modsecurity-snippet it only reports them in the log."`
	CoreRules     bool          `key:"enable-owasp-core-rules" from:"enable-owasp-modsecurity-crs" off:"false f 0 no off" protects:"true" risk:"low" doc:"Whether the OWASP core rule set applies, beside enable-modsecurity."`
	Rules         keys.SecRules `key:"modsecurity-snippet" from:"modsecurity-snippet" risk:"critical" allowed:"allow-snippet-annotations" protects:"true" doc:"Directives of ModSecurity, in addition to those of the settings and of Sluice. They come before the core rule set."`
	TransactionID string        `key:"modsecurity-transaction-id" validate:"max=500,transaction_id" risk:"high" doc:"ID of a request in the log of ModSecurity, which can have variables such as $request_id. Default: one that ModSecurity makes."`
}

func (ModSecurity) switchKey() string { return "enable-modsecurity" }

// mend reports keys that ask for protection without the switch.
func (m *ModSecurity) mend(given func(key string) bool) []keys.Fault {
	if m.Enabled {
		return nil
	}
	var faults []keys.Fault
	report := func(key string, asks bool) {
		if asks && given(key) {
			faults = append(faults, keys.Fault{Key: key, Value: "true", Want: `enable-modsecurity: "true" beside it, without which it cannot be done`})
		}
	}
	report("enable-owasp-core-rules", m.CoreRules)
	report("modsecurity-snippet", len(m.Rules) > 0)
	return faults
}

// modSecurityBlock is the data of the templates. OfAll are the rules of the settings, which
// all locations share.
type modSecurityBlock struct {
	OfAll, Rules  keys.SecRules
	CoreRules     bool
	TransactionID string
}

// UsesCoreRules implements model.Inspecting.
func (b modSecurityBlock) UsesCoreRules() bool { return b.CoreRules }

var _ model.Inspecting = modSecurityBlock{}

// Print returns the rules. Those of the settings are not repeated.
func (m ModSecurity) Print(p Place) any {
	if !m.Enabled {
		return nil
	}
	block := modSecurityBlock{OfAll: p.Settings.ModSecurity.Rules, CoreRules: m.CoreRules, TransactionID: m.TransactionID}
	if !reflect.DeepEqual(m.Rules, block.OfAll) {
		block.Rules = m.Rules
	}
	return block
}
