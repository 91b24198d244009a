package translate

import (
	"sluice/internal/annotations"
	"sluice/internal/assemble"
	"sluice/internal/model"
)

// passes reports whether an Ingress asks for its hosts to be passed through, and
// the controller does that.
func (t *translation) passes(p *annotations.Passthrough, ing *owner) bool {
	if p.Enabled && !t.options.Passthrough {
		ing.report(ing.PrefixKey+assemble.PassthroughKey, model.Unsupported, "it has no effect, as the controller runs without --enable-ssl-passthrough: the TLS of its hosts ends here")
		return false
	}
	return p.Enabled
}
