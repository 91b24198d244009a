package controller

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/sift"
	"sluice/internal/snapshot"
)

// tester tests files with nginx.
type tester interface {
	// Test tests any file, and keeps reloads waiting.
	Test(ctx context.Context, conf io.WriterTo) error
	// TestApart tests a small file beside everything else.
	TestApart(ctx context.Context, conf io.WriterTo) error
}

// mostAlone is how many Ingresses a search tests at once, for which all changes wait. More
// of them wait for separate tests.
const mostAlone = 8

// longestSearch is how long a search for settings or streams begins tests, for which all changes
// wait. If it found nobody until then, those that may be the cause are refused together.
const longestSearch = 10 * time.Second

// errLate ends a search.
var errLate = errors.New("the search takes too long")

// mostRounds is how often in a row a search follows what nginx names. Then whoever may be
// the cause is left out until a separate test.
const mostRounds = 2

// search looks for those whom nginx names after it refused a plan: Ingresses, groups of
// settings, TCP and UDP services. It need not find anybody; see setAside.
type search struct {
	ctx     context.Context
	process tester
	plan    *plan
	// runs reports whether nginx runs an object in the same form as in the plan.
	runs func(model.ObjectRef) bool
	// running is the file that nginx runs, nil if it is unknown.
	running *render.File
	// baseless is set if nginx refuses the plan without any Ingress.
	baseless bool
	// until is when a search for settings or streams ends, whatever it found.
	until time.Time
	// failed is the error of a test that could not run. After it, nothing is tested and
	// nobody is blamed.
	failed error
}

// find adds to an outcome why nginx refused a file of its plan.
func (s *search) find(o *outcome, file *render.File, err error) {
	o.err = err
	if refused := sift.RefusalOf(err); refused != nil && s.plan.rounds < mostRounds {
		o.culprits = s.named(file, refused)
	}
	s.until = time.Now().Add(longestSearch)
	if len(o.culprits) == 0 {
		o.settings = s.settings()
	}
	if len(o.culprits)+len(o.settings) == 0 && !s.baseless {
		o.culprits = s.streams()
	}
	if len(o.culprits)+len(o.settings) == 0 && !s.baseless && s.running != nil {
		o.stale = sift.RefusalOf(s.test(s.running)) != nil
	}
	if o.baseless = s.baseless; s.failed != nil {
		o.err, o.culprits, o.settings = s.failed, nil, nil
	}
}

// test has nginx test a file.
func (s *search) test(file *render.File) error { return s.run(s.process.Test, file) }

// inTime has nginx test a file unless the search is over.
func (s *search) inTime(file *render.File) (*render.File, error) {
	if time.Now().After(s.until) {
		return file, errLate
	}
	return file, s.test(file)
}

// apart has nginx test a small file.
func (s *search) apart(file *render.File) error { return s.run(s.process.TestApart, file) }

// run runs a test, after writing the files that its file names.
func (s *search) run(test func(context.Context, io.WriterTo) error, file *render.File) error {
	if s.failed != nil {
		return s.failed
	}
	if s.failed = writeTrust(file.Trust()); s.failed != nil {
		return s.failed
	}
	err := test(s.ctx, file)
	if err != nil && sift.RefusalOf(err) == nil {
		s.failed = err
	}
	return err
}

// named returns the Ingresses that nginx named and that fail alone: first of those that it
// does not run yet.
func (s *search) named(file *render.File, refused *nginx.TestError) []culprit {
	var fresh, known []*networkingv1.Ingress
	for _, o := range sift.Named(file, refused, ingressOf) {
		switch form := s.plan.served.IngressOf(o); {
		case form == nil:
		case s.runs(o):
			known = append(known, form)
		default:
			fresh = append(fresh, form)
		}
	}
	if len(fresh) > mostAlone {
		return culpritsOf(refsOf(fresh), refused.Text, true)
	}
	if found := s.alone(fresh); len(found) > 0 || len(known) > mostAlone {
		return found
	}
	return s.alone(known)
}

// culpritsOf returns objects as culprits. If undecided is set, only separate tests can tell.
func culpritsOf(objects []model.ObjectRef, text string, undecided bool) (all []culprit) {
	for _, o := range objects {
		all = append(all, culprit{object: o, text: text, undecided: undecided})
	}
	return all
}

// alone returns those that nginx refuses with what it runs on their hosts. Of those that fail
// only together, the newest is refused.
func (s *search) alone(forms []*networkingv1.Ingress) (found []culprit) {
	slices.SortFunc(forms, snapshot.ByAge)
	tried, _ := s.ingresses(false).Sift(forms, 1)
	for _, refused := range tried.Refused {
		found = append(found, culprit{object: snapshot.RefOf(refused.Suspect), text: refused.Text})
	}
	return found
}

// ingresses are suspects that are tested in small files, with those that nginx runs on their
// hosts. If open is set, their paths that the plan closes are served.
func (s *search) ingresses(open bool) sift.Kind[*networkingv1.Ingress] {
	return sift.Kind[*networkingv1.Ingress]{
		Test: func(forms []*networkingv1.Ingress) (*render.File, error) {
			file := s.plan.fileOf(forms, open, s.runs)
			return file, s.apart(file)
		},
		Wrote: func(ing *networkingv1.Ingress, by render.Origin) bool { return by.Object == snapshot.RefOf(ing) },
	}
}

// ingressOf returns the Ingress that wrote the lines of an origin, false if none did. Objects
// of other kinds, such as the Service of the default backend, cannot be left out.
func ingressOf(by render.Origin) (model.ObjectRef, bool) {
	return by.Object, by.Stream == "" && snapshot.IsIngress(by.Object)
}

func refsOf(forms []*networkingv1.Ingress) (objects []model.ObjectRef) {
	for _, ing := range forms {
		objects = append(objects, snapshot.RefOf(ing))
	}
	return objects
}
