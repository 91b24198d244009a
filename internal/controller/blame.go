package controller

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/snapshot"

	corev1 "k8s.io/api/core/v1"
)

// chunk is the number of servers in one small file.
const chunk = 256

// mostTests limits the tests of one bisection.
const mostTests = 400

// mostRounds is how often in a row the search follows the line that nginx names, which
// needs no further test, before it looks at the owners. If there is only one group of
// owners, it follows lines until it is late.
const mostRounds = 4

// searchTime limits a search for which all changes wait. What still fails then waits
// for a separate test.
const searchTime = 2 * time.Second

// tester tests a file with nginx.
type tester interface {
	Test(ctx context.Context, conf io.WriterTo) error
}

// blame finds the objects that nginx rejects. nginx names only the first error, and for
// some errors no line. So blame tests small files, without the culprits found so far,
// until they pass.
type blame struct {
	ctx     context.Context
	process tester
	render  func(model.Static) *render.File
	// oldest returns all Ingresses, the oldest first: of those that fail only together,
	// the youngest is blamed.
	oldest func() []model.ObjectRef
	// running reports whether nginx runs an object in the same form as in this file;
	// alone reports whether an object passed a separate test. nil means none.
	running, alone func(model.ObjectRef) bool
	// good are the settings that nginx ran last, nil for the defaults.
	good *corev1.ConfigMap
	// until is the end of the search, zero for none. patient is set if nobody waits for
	// the search, so that each object can be tested separately.
	until    time.Time
	patient  bool
	culprits []culprit
	settings []refusedGroup
	// stuck is set if something fails and no culprit was found.
	stuck bool
	// failed is the error of a test that could not run. After it, nothing is tested and
	// nobody is blamed.
	failed error
	// searched is set once find has run.
	searched bool
	// rejected is the last file that nginx rejected, with the error.
	rejected      *render.File
	rejectedError error
}

func (b *blame) found() bool {
	return b.failed == nil && (len(b.culprits) > 0 || len(b.settings) > 0)
}

// runs reports whether nginx runs an object in the same form as in this file.
func (b *blame) runs(o model.ObjectRef) bool { return b.running != nil && b.running(o) }

// passedAlone reports whether an object passed a separate test.
func (b *blame) passedAlone(o model.ObjectRef) bool { return b.alone != nil && b.alone(o) }

func (b *blame) blamed(s quarantine.Subject) bool {
	return slices.ContainsFunc(b.culprits, func(c culprit) bool { return c.subject() == s })
}

// late reports whether the time for the search is over.
func (b *blame) late() bool { return !b.until.IsZero() && time.Now().After(b.until) }

// test renders and tests a part of the configuration.
func (b *blame) test(s model.Static) error { return b.read(b.render(s)) }

// read has nginx test a file, after writing the files that it names. A file that nginx
// has just rejected is not tested again, because that can take long.
func (b *blame) read(file *render.File) error {
	if b.failed != nil {
		return b.failed
	}
	if file.Equal(b.rejected) {
		return b.rejectedError
	}
	if b.failed = writeTrust(file.Trust()); b.failed != nil {
		return b.failed
	}
	err := b.process.Test(b.ctx, file)
	var refused *nginx.TestError
	switch {
	case errors.As(err, &refused):
		b.rejected, b.rejectedError = file, err
	case err != nil:
		b.failed = err
	}
	return err
}

// search finds the items that make a test fail, as nginx.Blame does. It has nginx test
// each of them once more, and leaves out those that pass then: an error of the machine,
// such as "too many open files", may be over.
func search[T any](b *blame, items []T, test func([]T) error, most int) (nginx.Verdict[T], error) {
	verdict, err := nginx.Blame(items, test, most)
	verdict.Culprits = slices.DeleteFunc(verdict.Culprits, func(c nginx.Culprit[T]) bool {
		b.rejected = nil
		return test(append(slices.Clone(verdict.Passing), c.Item)) == nil
	})
	return verdict, err
}

// find looks for culprits among the servers of a file that nginx rejected. It tests the
// settings first, alone, because they are in every file. Then it follows the line that
// nginx named, and tests the rest in small files. Servers of one namespace are tested
// together, so that its mistakes are in few of these files.
func (b *blame) find(s model.Static, servers []*model.Server, file *render.File, err error) {
	if b.searched {
		b.byLine(file, err) // the small files were not rejected
		return
	}
	b.searched = true
	if err := b.test(part(s, nil)); err != nil {
		b.blameSettings(part(s, nil), err)
		return
	}
	b.byLine(file, err)
	if len(servers) > chunk {
		servers = byNamespace(servers)
	}
	for some := range slices.Chunk(servers, chunk) {
		b.removeCulprits(without(part(s, some), b.culprits))
	}
	b.findStreams(s)
}

// byNamespace sorts servers by the namespace of their first location, with the
// catch-all first.
func byNamespace(servers []*model.Server) []*model.Server {
	namespace := func(s *model.Server) string {
		if s.Host == "" && !s.AliasesOnly || len(s.Locations) == 0 {
			return ""
		}
		return s.Locations[0].Rule.Object.Namespace
	}
	return slices.SortedStableFunc(slices.Values(servers), func(a, b *model.Server) int { return strings.Compare(namespace(a), namespace(b)) })
}

// removeCulprits removes culprits from a part until it passes.
func (b *blame) removeCulprits(s model.Static) {
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

// outOfTime blames the only owner of a part that fails. Several owners wait for
// separate tests.
func (b *blame) outOfTime(s model.Static, err error) {
	left := slices.Collect(maps.Keys(owners(s)))
	switch {
	case len(left) > 1:
		b.postpone(left, err)
	case len(left) == 1:
		b.bisect(s, nil, left, err)
	}
}

// postpone leaves objects to separate tests, because it is unknown whether they pass.
func (b *blame) postpone(objects []model.ObjectRef, err error) {
	for _, o := range objects {
		b.culprits = append(b.culprits, culprit{object: o, undecided: true, text: "not tested separately from others that fail: " + err.Error()})
	}
}

// byLine blames the Ingress or the stream that wrote the line that nginx named, and the
// Ingresses that wrote the same line. It does not blame an object that already runs in
// this form: something else makes that fail.
func (b *blame) byLine(file *render.File, err error) bool {
	var refused *nginx.TestError
	if !errors.As(err, &refused) || refused.Line == 0 {
		return false
	}
	origin, ok := file.Origin(refused.Line)
	if !ok || !mayOwn(origin.Object) && origin.Stream == "" || b.runs(origin.Object) {
		return false
	}
	b.culprits = append(b.culprits, culprit{object: origin.Object, stream: origin.Stream, text: refused.Text})
	if origin.Stream == "" {
		b.alike(file, refused, origin.Object)
	}
	return true
}

// wordsOf returns nginx's own message.
func wordsOf(err error) string {
	var refused *nginx.TestError
	if errors.As(err, &refused) {
		return refused.Text
	}
	return err.Error()
}

// part returns a configuration with only some of the servers. It has a catch-all
// server, if necessary without locations, because nginx needs one.
func part(s model.Static, servers []*model.Server) model.Static {
	kept := []*model.Server{}
	if len(servers) == 0 || servers[0].Host != "" || servers[0].AliasesOnly {
		kept = append(kept, &model.Server{})
	}
	if len(servers) == 0 {
		// A snippet for all locations is tested with the settings.
		kept[0].Locations = []*model.Location{{Modifier: model.Prefix, Path: "/", Rule: model.Rule{Kind: model.RuleFallback}, Return: &model.Return{Code: http.StatusNotFound}}}
	}
	return model.Static{Blocks: s.Blocks, Servers: append(kept, servers...)}
}

// without removes the locations and aliases of the culprits.
func without(s model.Static, culprits []culprit) model.Static {
	gone := make(map[model.ObjectRef]bool, len(culprits))
	for _, c := range culprits {
		gone[c.object] = true
	}
	return filter(s, func(o model.ObjectRef) bool { return !gone[o] })
}

// only keeps the locations and aliases of some objects.
func only(s model.Static, objects []model.ObjectRef) model.Static {
	kept := make(map[model.ObjectRef]bool, len(objects))
	for _, o := range objects {
		kept[o] = true
	}
	return filter(s, func(o model.ObjectRef) bool { return kept[o] })
}

// filter copies only the servers that lose something: the others keep their rendered
// text.
func filter(s model.Static, keep func(model.ObjectRef) bool) model.Static {
	out := model.Static{Blocks: s.Blocks}
	for _, server := range s.Servers {
		kept := *server
		kept.Locations = slices.DeleteFunc(slices.Clone(server.Locations), func(l *model.Location) bool { return !keep(l.Rule.Object) })
		kept.Blocks = slices.DeleteFunc(slices.Clone(server.Blocks), func(b model.Block) bool { return !keep(b.Source) })
		if len(server.Aliases) > 0 && !keep(server.AliasesFrom) {
			kept.Aliases = nil
			if server.AliasesOnly {
				continue // it has no name left
			}
		}
		if len(kept.Locations) < len(server.Locations) || len(kept.Blocks) < len(server.Blocks) || len(kept.Aliases) < len(server.Aliases) {
			server = &kept
		}
		out.Servers = append(out.Servers, server)
	}
	return out
}

// mayOwn reports whether an object can be left out of the configuration. Objects of
// other kinds, such as the Service of the default backend, cannot.
func mayOwn(o model.ObjectRef) bool { return snapshot.IsIngress(o) }

// owners returns the objects that have locations in the configuration and can be left
// out.
func owners(s model.Static) map[model.ObjectRef]bool {
	found := map[model.ObjectRef]bool{}
	for _, server := range s.Servers {
		for _, location := range server.Locations {
			if mayOwn(location.Rule.Object) {
				found[location.Rule.Object] = true
			}
		}
	}
	return found
}
