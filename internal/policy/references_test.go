package policy

import (
	"slices"
	"strings"
	"testing"
)

// What is named like a reference must say that it is one, or the cluster is not
// read for it.
func TestReferencesSaySo(t *testing.T) {
	t.Parallel()
	if !slices.Contains(referring["Secret"], "proxy-ssl-secret") {
		t.Errorf("proxy-ssl-secret names no Secret: got %v", referring)
	}
	for _, b := range all {
		for _, doc := range b.Keys {
			if strings.HasSuffix(doc.Key, "-secret") && doc.Refers != "Secret" {
				t.Errorf("%s: give it a rule of keys.ruleRefers, so that its Secret is read", doc.Key)
			}
		}
	}
}
