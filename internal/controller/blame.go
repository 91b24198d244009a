package controller

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/snapshot"
)

// chunk is how many servers are tested in one small file.
const chunk = 256

// mostTests bounds one bisection.
const mostTests = 400

// mostRounds is how often in a row the lines that nginx names are followed, which
// takes no further test, before the owners are looked at. If there is only one group of
// them, lines are followed until the search is late.
const mostRounds = 4

// searchTime bounds a search while everybody waits for it: what is not looked into
// by then, and fails, waits for a test of its own.
const searchTime = 2 * time.Second

// tester has nginx test a file.
type tester interface {
	Test(ctx context.Context, conf io.WriterTo) error
}

// blame finds out whom nginx refuses. nginx names only the first error, and for
// some none: so small files are tested, without those already found, until they
// pass.
type blame struct {
	ctx     context.Context
	process tester
	render  func(model.Static) *render.File
	// oldest are all Ingresses, the oldest first: of those that only fail
	// together the youngest is blamed.
	oldest func() []model.ObjectRef
	// runs reports whether nginx runs an object in the same form as in this file; alone
	// whether one passed a test of its own. nil is for none.
	runs, alone func(model.ObjectRef) bool
	// until is when the search ends, zero for no end. patient is set if nobody
	// waits for it, so that each is looked into by itself.
	until    time.Time
	patient  bool
	culprits []culprit
	settings []refusedGroup
	// stuck is set if something fails that nobody could be found for.
	stuck bool
	// failed is set once nginx could not be asked. From then on nothing is
	// tested, and nobody is blamed.
	failed error
	// searched is set once find has run.
	searched bool
}

func (b *blame) found() bool {
	return b.failed == nil && (len(b.culprits) > 0 || len(b.settings) > 0)
}

// late reports whether the time for the search is over.
func (b *blame) late() bool { return !b.until.IsZero() && time.Now().After(b.until) }

// test renders and tests a part of the configuration.
func (b *blame) test(s model.Static) error { return b.read(b.render(s)) }

// read has nginx test a file, with the files that this names.
func (b *blame) read(file *render.File) error {
	if b.failed == nil {
		b.failed = writeTrust(file.Trust())
	}
	if b.failed != nil {
		return b.failed
	}
	err := b.process.Test(b.ctx, file)
	var refused *nginx.TestError
	if err != nil && !errors.As(err, &refused) {
		b.failed = err
	}
	return err
}

// find looks for culprits among the servers, in small files. Settings are tried
// first, alone: they are in every file. Servers of one namespace are tested
// together, so that its mistakes are in few of the files.
func (b *blame) find(s model.Static, servers []*model.Server) {
	if b.searched {
		return
	}
	b.searched = true
	if err := b.test(part(s, nil)); err != nil {
		b.blameSettings(part(s, nil), err)
		return
	}
	for some := range slices.Chunk(byNamespace(servers), chunk) {
		b.empty(part(s, some))
	}
	b.findStreams(s)
}

// byNamespace orders servers by that of their first location, the catch-all first.
func byNamespace(servers []*model.Server) []*model.Server {
	namespace := func(s *model.Server) string {
		if s.Host == "" && !s.AliasesOnly || len(s.Locations) == 0 {
			return ""
		}
		return s.Locations[0].Rule.Object.Namespace
	}
	return slices.SortedStableFunc(slices.Values(servers), func(a, b *model.Server) int { return strings.Compare(namespace(a), namespace(b)) })
}

// findWhole is for what only the whole file shows.
func (b *blame) findWhole(s model.Static, err error) {
	if !b.found() {
		b.byLine(b.render(s), err)
	}
}

// empty takes culprits out of a part until it passes.
func (b *blame) empty(s model.Static) {
	for round := 0; b.failed == nil; round++ {
		file := b.render(s)
		err := b.read(file)
		if err == nil {
			return
		}
		before := len(b.culprits)
		switch {
		case (round < mostRounds || !b.late() && len(b.groups(s)) == 1) && b.byLine(file, err):
		case b.late():
			b.outOfTime(s, err)
		default:
			b.byOwner(s, err)
		}
		if len(b.culprits) == before {
			b.stuck = true
			return
		}
		s = without(s, b.culprits)
	}
}

// outOfTime blames the only owner of a part that fails. Several wait for tests of their
// own.
func (b *blame) outOfTime(s model.Static, err error) {
	left := slices.Collect(maps.Keys(owners(s)))
	switch {
	case len(left) > 1:
		b.postpone(left, err)
	case len(left) == 1 && b.test(only(s, nil)) == nil:
		b.culprits = append(b.culprits, culprit{object: left[0], text: wordsOf(err)})
	}
}

// postpone leaves objects to tests of their own, as nothing says that they pass.
func (b *blame) postpone(objects []model.ObjectRef, err error) {
	for _, o := range objects {
		b.culprits = append(b.culprits, culprit{object: o, undecided: true, text: "not tested apart from others that fail: " + err.Error()})
	}
}

// byLine blames the Ingress or the stream that wrote the line nginx names, and
// those that wrote the same. An object that runs in this form is not to blame,
// whatever its line: something else makes it fail.
func (b *blame) byLine(file *render.File, err error) bool {
	var refused *nginx.TestError
	if !errors.As(err, &refused) || refused.Line == 0 {
		return false
	}
	origin, ok := file.Origin(refused.Line)
	if !ok || !snapshot.IsIngress(origin.Object) && origin.Stream == "" || b.runs != nil && b.runs(origin.Object) {
		return false
	}
	b.culprits = append(b.culprits, culprit{object: origin.Object, stream: origin.Stream, text: refused.Text})
	if origin.Stream == "" {
		b.alike(file, refused, origin.Object)
	}
	return true
}

// wordsOf gives nginx's own words of a refusal.
func wordsOf(err error) string {
	var refused *nginx.TestError
	if errors.As(err, &refused) {
		return refused.Text
	}
	return err.Error()
}

// part is the configuration with only some of its servers. The catch-all server
// comes along without locations, because nginx needs one.
func part(s model.Static, servers []*model.Server) model.Static {
	kept := []*model.Server{}
	if len(servers) == 0 || servers[0].Host != "" || servers[0].AliasesOnly {
		kept = append(kept, &model.Server{})
	}
	return model.Static{Blocks: s.Blocks, Servers: append(kept, servers...)}
}

// without leaves the locations of the culprits out, and their further names.
func without(s model.Static, culprits []culprit) model.Static {
	gone := make(map[model.ObjectRef]bool, len(culprits))
	for _, c := range culprits {
		gone[c.object] = true
	}
	return filter(s, func(o model.ObjectRef) bool { return !gone[o] })
}

// only keeps the locations of some objects, and their further names.
func only(s model.Static, objects []model.ObjectRef) model.Static {
	kept := make(map[model.ObjectRef]bool, len(objects))
	for _, o := range objects {
		kept[o] = true
	}
	return filter(s, func(o model.ObjectRef) bool { return kept[o] })
}

func filter(s model.Static, keep func(model.ObjectRef) bool) model.Static {
	out := model.Static{Blocks: s.Blocks}
	for _, server := range s.Servers {
		kept := *server
		kept.Locations = nil
		if len(server.Aliases) > 0 && !keep(server.AliasesFrom) {
			kept.Aliases = nil
			if server.AliasesOnly {
				continue // it has no name left
			}
		}
		for _, location := range server.Locations {
			if keep(location.Rule.Object) {
				kept.Locations = append(kept.Locations, location)
			}
		}
		kept.Blocks = slices.DeleteFunc(slices.Clone(server.Blocks), func(b model.Block) bool { return !keep(b.Source) })
		out.Servers = append(out.Servers, &kept)
	}
	return out
}

// owners are the Ingresses that have a part in the configuration: leaving one out is a way
// to go on. Locations of other objects, such as the default backend, belong to nobody.
func owners(s model.Static) map[model.ObjectRef]bool {
	found := map[model.ObjectRef]bool{}
	for _, server := range s.Servers {
		for _, location := range server.Locations {
			if snapshot.IsIngress(location.Rule.Object) {
				found[location.Rule.Object] = true
			}
		}
	}
	return found
}
