package translate

import (
	"cmp"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// attach reads the objects that the annotations of an owner and its paths name, and reports
// redirects without effect.
func (t *translation) attach(ing *owner) {
	for a := range ing.Annotations.Each() {
		ing.attaching = a
		ing.remarkRedirect(a.Redirect)
		ing.remarkBalancing(a)
		ing.remarkSatisfy(a)
		ing.remarkEnabled(a)
		attachOnce(ing, a.Transport, t.readTransport)
		attachOnce(ing, a.BasicAuth, t.readBasicAuth)
		attachOnce(ing, a.ExternalAuth, t.readExternalAuth)
		attachOnce(ing, a.ClientCertificates, t.readClientCertificates)
		attachOnce(ing, a.ClientCheck, t.readClientCheck)
		attachOnce(ing, a.RequestHeaders, t.readRequestHeaders)
		attachOnce(ing, a.CustomHeaders, t.readCustomHeaders)
		attachOnce(ing, a.NamedSnippets, t.readNamedSnippets)
		attachOnce(ing, a.Mirror, t.readMirror)
	}
	ing.attaching = nil
}

// attachOnce reads the objects of a group unless another path did so. read returns nil
// for a group that names none.
func attachOnce[G any](ing *owner, group *G, read func(*owner, *G) *claim.Attached) {
	if ing.Attached[group] != nil {
		return
	}
	if attached := read(ing, group); attached != nil {
		if ing.Attached == nil {
			ing.Attached = map[any]*claim.Attached{}
		}
		ing.Attached[group] = attached
	}
}

// reportDenial reports an annotation because of which paths are closed.
func (i *owner) reportDenial(key string, reason model.Reason, text string) {
	i.Problems = append(i.Problems, i.denial(key, reason, text))
}

// denial is the Problem of an annotation because of which paths are closed.
func (i *owner) denial(key string, reason model.Reason, text string) model.Problem {
	p := model.Problem{Object: i.Ref, Field: i.field(key), Reason: reason, Text: text, Denies: true}
	return cmp.Or(i.attaching, i.Annotations).Inherited(key, p)
}

// refuse reports an annotation that cannot be honoured, and closes its paths.
func (i *owner) refuse(key string, reason model.Reason, text string) *claim.Attached {
	i.reportDenial(key, reason, text)
	return &claim.Attached{Denied: true}
}
