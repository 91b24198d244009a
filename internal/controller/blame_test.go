package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
)

// answers are what nginx says to one test after the other; the last one stands
// for all that follow.
type answers struct {
	errs  []error
	asked int
}

func (a *answers) Test(context.Context, io.WriterTo) error {
	err := a.errs[min(a.asked, len(a.errs)-1)]
	a.asked++
	return err
}

// servers are hosts of one Ingress each.
func servers(n int) (all []*model.Server, owners []model.ObjectRef) {
	for i := range n {
		owner := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: fmt.Sprintf("web-%d", i)}
		owners = append(owners, owner)
		all = append(all, &model.Server{
			Host:      fmt.Sprintf("%d.example", i),
			Locations: []*model.Location{{Rule: model.Rule{Object: owner}}},
		})
	}
	return all, owners
}

// TestNobodyIsToBlameForATestThatCouldNotRun has the search for culprits meet a
// machine on which nginx cannot be started any more.
func TestNobodyIsToBlameForATestThatCouldNotRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("run `nginx -t`: cannot allocate memory")
	refusal := &nginx.TestError{Text: "refused"}
	for _, before := range [][]error{{broken}, {nil, broken}, {nil, refusal, broken}, {nil, refusal, refusal, broken}} {
		all, owners := servers(4)
		process := &answers{errs: before}
		b := &blame{
			ctx: t.Context(), process: process, oldest: func() []model.ObjectRef { return owners },
			render: func(model.Static) *render.File { return &render.File{} },
		}
		b.find(model.Static{Servers: all}, all)
		if b.found() || !errors.Is(b.failed, broken) || process.asked != len(before) {
			t.Errorf("%v: got culprits %v, settings %v, failed %v after %d tests", before, b.culprits, b.settings, b.failed, process.asked)
		}
	}
}

// choosy refuses what has the name.
type choosy struct {
	name string
	last model.Static
}

func (c *choosy) Test(context.Context, io.WriterTo) error {
	for _, s := range c.last.Servers {
		if s.AliasesOnly && len(s.Aliases) == 0 {
			return &nginx.TestError{Text: "a server without a name"}
		}
		if slices.Contains(s.Aliases, c.name) {
			return &nginx.TestError{Text: "the name is refused"}
		}
	}
	return nil
}

// TestWhoAskedForAFurtherNameIsBlamedForIt: others have paths on the host, too.
func TestWhoAskedForAFurtherNameIsBlamedForIt(t *testing.T) {
	t.Parallel()
	all, owners := servers(4)
	shared := &model.Location{Rule: model.Rule{Object: owners[3]}}
	all[1].Locations = append(all[1].Locations, shared)
	all[1].Aliases, all[1].AliasesFrom = []string{"~[z-a]"}, owners[1]
	more := *all[1]
	more.AliasesOnly = true
	all = append(all, &more)
	process := &choosy{name: "~[z-a]"}
	b := &blame{
		ctx: t.Context(), process: process, oldest: func() []model.ObjectRef { return owners },
		render: func(s model.Static) *render.File { process.last = s; return &render.File{} },
	}
	b.find(model.Static{Servers: all}, all)
	if len(b.culprits) != 1 || b.culprits[0].object != owners[1] || len(b.settings) > 0 {
		t.Errorf("got culprits %v, settings %v, want %v alone", b.culprits, b.settings, owners[1])
	}
}
