package assemble

import (
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// purpose is that of subrequests.
type purpose struct {
	kept
	// word begins the path of their location.
	word string
	model.Purpose
}

// The purposes of subrequests.
var (
	forCopies    = purpose{kept{subrequest: true, untraced: true, blocks: ofAnswers}, "mirror", model.Purpose{Annotation: "mirror-target", Failure: "nothing is mirrored"}}
	forQuestions = purpose{kept{subrequest: true, blocks: ofAnswers}, "auth", model.Purpose{Annotation: "auth-url", Failure: "clients get 500"}}
)

// ofAnswers keeps the sizes of answers: the server may send headers as large as those that the
// Service sends.
func ofAnswers(b model.Block) bool {
	buffers, ok := b.Data.(annotations.Buffers)
	return ok && buffers.OfAnswers() != (annotations.Buffers{})
}

// subrequest adds the internal location by which subrequests of the location of a claim reach a
// target, and returns its path. The block has the details of the subrequests.
func (b *builder) subrequest(l *model.Location, c *claim.Claim, t *claim.Target, use purpose, block model.Block) (path string) {
	block.Source = l.Rule.Object
	asker := l.Rule.Object
	if t.Settings.Kind != "" {
		asker = t.Settings
	}
	id := BackendID{Service: snapshot.Name{Namespace: asker.Namespace}, Host: t.Host, Port: t.Port}
	if t.Service != (snapshot.Name{}) {
		id = BackendID{Service: t.Service, Port: t.Port}
		b.out.uses = append(b.out.uses, Use{Backend: b.backendOf(id), Owner: c.Owner, Field: t.Field, PortField: t.Field, Instead: use.Failure})
	}
	proxy := b.pass(id, nil)
	proxy.Transport, proxy.Pool, proxy.URI = t.Transport, t.Pool, t.URI
	to := derive(l, use.kept)
	for i := range to.Blocks {
		to.Blocks[i].Data = to.Blocks[i].Data.(annotations.Buffers).OfAnswers()
	}
	to.Proxy, to.Blocks = proxy, append(to.Blocks, block)
	if !use.untraced {
		b.traceQuestion(to, l)
	}
	path = b.internals.add(model.Equal, use.word, "/"+proxy.Backend, to)
	b.internals.ask(path, &use.Purpose, model.Asker{Object: asker, Field: t.Field})
	return path
}

// Subrequest is the path of the internal location of the subrequests.
func (b externalAuthBlock) Subrequest() string { return b.To }

// Subrequest is the path of the internal location of the subrequests.
func (b mirrorBlock) Subrequest() string { return b.To }

// addBlock adds a block of its object to a location.
func (b *builder) addBlock(l *model.Location, name string, data any) {
	l.Blocks = append(slices.Clip(l.Blocks), annotations.BlockOf(l.Rule.Object, name, data))
}

// ask records who asks for the location of a path that add returned.
func (i *internals) ask(path string, purpose *model.Purpose, asker model.Asker) {
	l := i.by[path]
	if l.Purpose = purpose; !slices.Contains(l.Askers, asker) {
		l.Askers = append(l.Askers, asker)
	}
}
