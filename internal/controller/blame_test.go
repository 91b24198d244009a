package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
)

// answers are the results of one test after the other; the last one is repeated.
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

// TestNobodyIsToBlameForATestThatCouldNotRun: the machine cannot start nginx any more
// during a search.
func TestNobodyIsToBlameForATestThatCouldNotRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("run `nginx -t`: cannot allocate memory")
	refusal := &nginx.TestError{Text: "refused"}
	for _, before := range [][]error{{broken}, {nil, broken}, {nil, refusal, broken}, {nil, refusal, refusal, broken}} {
		all, owners := servers(4)
		process := &answers{errs: before}
		files := distinctFiles(t)
		b := &blame{
			ctx: t.Context(), process: process, oldest: func() []model.ObjectRef { return owners },
			render: func(model.Static) *render.File { return files() },
		}
		b.find(model.Static{Servers: all}, all, files(), refusal)
		if b.found() || !errors.Is(b.failed, broken) || process.asked != len(before) {
			t.Errorf("%v: got culprits %v, settings %v, failed %v after %d tests", before, b.culprits, b.settings, b.failed, process.asked)
		}
	}
}

// passing rejects one test, for a reason of the machine, and what another tester
// rejects. It counts tests from 1.
type passing struct {
	at, asked int
	other     tester
}

func (p *passing) Test(ctx context.Context, conf io.WriterTo) error {
	if p.asked++; p.asked == p.at {
		return &nginx.TestError{Text: `open() "/etc/nginx/mime.types" failed (24: Too many open files)`}
	}
	return p.other.Test(ctx, conf)
}

// TestPassingErrorBlamesNobody: one test fails for a reason of the machine. Only an
// Ingress that nginx rejects otherwise can be blamed, early or late in the search.
func TestPassingErrorBlamesNobody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		ingresses int
		bad       string
		silent    bool
		late      bool
	}{
		{"one Ingress", 1, "none", true, false},
		{"one Ingress, late", 1, "none", true, true},
		{"several namespaces", 4, "none", true, false},
		{"several Ingresses, one rejected with a line", 9, "shop/web-4/", false, false},
		{"several Ingresses, one rejected without a line", 9, "shop/web-4/", true, false},
	} {
		source := &objects{}
		for i := range c.ingresses {
			ing := form(fmt.Sprint("web-", i), fmt.Sprint(i, ".example"))
			ing.Spec.Rules[0].HTTP = servedBy("web")
			if c.name == "several namespaces" {
				ing.Namespace = fmt.Sprint("team-", i%2)
			}
			source.Ingresses = append(source.Ingresses, ing)
		}
		controller := idle(t, source)
		controller.sync(t.Context())
		p := controller.submitted()
		all := p.config.Static
		for at := range 12 {
			process := &passing{at: at, other: &lineRefused{bad: c.bad, silent: c.silent}}
			b := &blame{ctx: t.Context(), process: process, render: p.render, oldest: p.oldest, until: time.Now().Add(time.Minute)}
			if c.late {
				b.until = time.Now().Add(-time.Second)
			}
			file := b.render(part(all, all.Servers[1:]))
			if err := b.read(file); err != nil {
				b.find(all, all.Servers[1:], file, err)
			}
			for _, found := range b.culprits {
				if found.object.Name != "web-4" && (c.bad == "none" || !found.undecided) {
					t.Errorf("%s, test %d fails: blamed %v for %q", c.name, at, found.object, found.text)
				}
			}
			if len(b.settings) > 0 {
				t.Errorf("%s, test %d fails: blamed settings %v", c.name, at, b.settings)
			}
		}
	}
}

// choosy rejects servers with an alias of this name.
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

// TestOwnerOfAnAliasIsBlamedForIt: other Ingresses have paths on the same host.
func TestOwnerOfAnAliasIsBlamedForIt(t *testing.T) {
	t.Parallel()
	all, owners := servers(4)
	shared := &model.Location{Rule: model.Rule{Object: owners[3]}}
	all[1].Locations = append(all[1].Locations, shared)
	all[1].Aliases, all[1].AliasesFrom = []string{"~[z-a]"}, owners[1]
	more := *all[1]
	more.AliasesOnly = true
	all = append(all, &more)
	process := &choosy{name: "~[z-a]"}
	files := distinctFiles(t)
	b := &blame{
		ctx: t.Context(), process: process, oldest: func() []model.ObjectRef { return owners },
		render: func(s model.Static) *render.File { process.last = s; return files() },
	}
	b.find(model.Static{Servers: all}, all, files(), &nginx.TestError{Text: "the name is refused"})
	if len(b.culprits) != 1 || b.culprits[0].object != owners[1] || len(b.settings) > 0 {
		t.Errorf("got culprits %v, settings %v, want %v alone", b.culprits, b.settings, owners[1])
	}
}

// distinctFiles returns a function that returns another file at each call, for tests
// whose nginx does not read it.
func distinctFiles(t *testing.T) func() *render.File {
	t.Helper()
	c := idle(t, &objects{})
	c.sync(t.Context())
	p, made := c.submitted(), 0
	return func() *render.File {
		made++
		return p.render(model.Static{Blocks: p.config.Static.Blocks, Servers: []*model.Server{{}, {Host: fmt.Sprintf("%d.example", made)}}})
	}
}

// lineRefused rejects the first line that contains a text, and names it unless it is
// silent.
type lineRefused struct {
	bad    string
	silent bool
	tests  int
	// rejected counts the rejections of each file, by its hash.
	rejected map[string]int
}

func (l *lineRefused) Test(_ context.Context, conf io.WriterTo) error {
	l.tests++
	for line := range conf.(*render.File).Lines() {
		if strings.Contains(string(line.Text), l.bad) {
			if l.rejected == nil {
				l.rejected = map[string]int{}
			}
			l.rejected[conf.(*render.File).Hash()]++
			if l.silent {
				return &nginx.TestError{Text: `unknown "x" variable`}
			}
			return &nginx.TestError{Text: "pcre2_compile() failed: missing closing parenthesis", Line: line.Number}
		}
	}
	return nil
}

// TestALateSearchFollowsTheLine: the time for the search is over after the first test.
// The search still follows the line that nginx named, because that needs no further
// test.
func TestALateSearchFollowsTheLine(t *testing.T) {
	t.Parallel()
	source := &objects{}
	source.Ingresses = []*networkingv1.Ingress{form("web", "good.example"), form("slow", "slow.example"), form("next", "next.example")}
	for _, ing := range source.Ingresses {
		ing.Spec.Rules[0].HTTP = servedBy("web")
	}
	c := idle(t, source)
	c.sync(t.Context())
	p := c.submitted()
	process := &lineRefused{bad: "shop/slow/"}
	b := &blame{ctx: t.Context(), process: process, render: p.render, oldest: p.oldest, until: time.Now().Add(-time.Second), patient: true}
	b.find(p.config.Static, p.config.Static.Servers, p.file, b.read(p.file))
	if len(b.culprits) != 1 || b.culprits[0].object.Name != "slow" || b.culprits[0].undecided || process.tests > 3 {
		t.Errorf("found %v with %d tests, want slow alone with 3", b.culprits, process.tests)
	}
}

// TestRejectedFileIsTestedOnce: the test of a large file is slow, and the next change
// waits for it. So no file that nginx has rejected is tested again, and the line that it
// named in the first file is followed. Only if nginx names no line, the file that a
// culprit is blamed for is tested twice.
func TestRejectedFileIsTestedOnce(t *testing.T) {
	t.Parallel()
	source := &objects{}
	for i := range 300 {
		ing := form(fmt.Sprint("web-", i), fmt.Sprint(i, ".example"))
		ing.Namespace = fmt.Sprint("team-", i%3)
		source.Ingresses = append(source.Ingresses, ing)
	}
	bad := form("slow", "slow.example")
	bad.Namespace = "team-1"
	source.Ingresses = append(source.Ingresses, bad)
	for _, ing := range source.Ingresses {
		ing.Spec.Rules[0].HTTP = servedBy("web")
	}
	c := idle(t, source)
	c.sync(t.Context())
	p := c.submitted()
	all := p.config.Static
	slow := slices.IndexFunc(all.Servers, func(s *model.Server) bool { return s.Host == "slow.example" })
	for name, step := range map[string]struct {
		servers []*model.Server
		silent  bool
		// most is the number of rejected files, at most.
		most int
	}{
		"one server":                       {all.Servers[slow : slow+1], false, 1},
		"one server, no line":              {all.Servers[slow : slow+1], true, 1},
		"one small file":                   {all.Servers[slow-99 : slow+1], false, 1},
		"one small file, no line":          {all.Servers[slow-99 : slow+1], true, 10},
		"several small files":              {all.Servers, false, 1},
		"several small files, and no line": {all.Servers, true, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			process := &lineRefused{bad: "team-1/slow/", silent: step.silent}
			b := &blame{ctx: t.Context(), process: process, render: p.render, oldest: p.oldest, until: time.Now().Add(time.Minute), patient: true}
			file := b.render(part(all, step.servers))
			b.find(all, step.servers, file, b.read(file))
			if len(b.culprits) == 0 || !slices.ContainsFunc(b.culprits, func(c culprit) bool { return c.object.Name == "slow" }) {
				t.Fatalf("found %v", b.culprits)
			}
			for _, times := range process.rejected {
				if times > 1 && !step.silent || times > 2 {
					t.Errorf("a file was rejected %d times", times)
				}
			}
			if len(process.rejected) > step.most {
				t.Errorf("%d files were rejected, want at most %d", len(process.rejected), step.most)
			}
		})
	}
}

// TestALateTrialOfOneDecides without a line, too.
func TestALateTrialOfOneDecides(t *testing.T) {
	t.Parallel()
	all, owners := servers(1)
	w := newWordless(t, owners[0])
	b := &blame{ctx: t.Context(), process: w, render: w.render, oldest: func() []model.ObjectRef { return owners }, until: time.Now().Add(-time.Second), patient: true}
	b.removeCulprits(model.Static{Servers: all})
	if len(b.culprits) != 1 || b.culprits[0].undecided || b.stuck || w.tests > 5 { // wordless has another file for each test
		t.Errorf("found %v with %d tests", b.culprits, w.tests)
	}
	broken := &blame{ctx: t.Context(), process: &answers{errs: []error{&nginx.TestError{Text: "refused"}}}, render: w.render, oldest: b.oldest, until: b.until, patient: true}
	if broken.removeCulprits(model.Static{Servers: all}); len(broken.culprits) > 0 || !broken.stuck {
		t.Errorf("found %v, though the rest fails alone", broken.culprits)
	}
}
