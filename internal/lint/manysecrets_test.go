package lint

import (
	"testing"

	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// TestMissingSecretOfAProblem finds the Secret in a text that also speaks of other ones.
func TestMissingSecretOfAProblem(t *testing.T) {
	t.Parallel()
	name := snapshot.Name{Namespace: "shop", Name: "tls"}
	secrets := map[string]snapshot.Name{translate.NoSecret(name): name}
	for text, want := range map[string]bool{
		translate.NoSecret(name) + ": the default certificate is presented":                                       true,
		"it does not exist; Secret shop/other is not it: " + translate.NoSecret(name):                             true,
		translate.NoSecret(snapshot.Name{Namespace: "shop", Name: "other"}) + ", and " + translate.NoSecret(name): true,
		translate.NoSecret(snapshot.Name{Namespace: "shop", Name: "other"}):                                       false,
		"Secret shop/tls": false, " does not exist": false, "": false,
	} {
		if got, found := missingSecret(model.Problem{Text: text}, secrets); found != want || found && got != name {
			t.Errorf("%q: %v %t, want %t", text, got, found, want)
		}
	}
}
