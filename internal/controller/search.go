package controller

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
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
	o.err, s.until = err, time.Now().Add(longestSearch)
	if s.plan.rounds < mostRounds {
		o.culprits = s.named(file, err)
	}
	if len(o.culprits) == 0 {
		o.settings = s.settings()
	}
	if len(o.culprits)+len(o.settings) == 0 {
		o.culprits = s.streams()
	}
	if len(o.culprits)+len(o.settings) == 0 && !s.baseless && s.running != nil {
		o.stale = refusalOf(s.test(s.running)) != nil
	}
	if o.baseless = s.baseless; s.failed != nil {
		o.err, o.culprits, o.settings = s.failed, nil, nil
	}
}

// test has nginx test a file.
func (s *search) test(file *render.File) error { return s.run(s.process.Test, file) }

// testInTime has nginx test a file unless the search is over.
func (s *search) testInTime(file *render.File) error {
	if time.Now().After(s.until) {
		return errLate
	}
	return s.test(file)
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
	if err != nil && refusalOf(err) == nil {
		s.failed = err
	}
	return err
}

// named returns the owners of what nginx named that fail alone: first of those that it does
// not run yet.
func (s *search) named(file *render.File, err error) []culprit {
	refused := refusalOf(err)
	if refused == nil {
		return nil
	}
	owners, stream := whoWrote(file, refused)
	if stream != nil {
		return []culprit{*stream}
	}
	var fresh, known []model.ObjectRef
	for _, o := range owners {
		if s.runs(o) {
			known = append(known, o)
		} else {
			fresh = append(fresh, o)
		}
	}
	if len(fresh) > mostAlone {
		return waiting(fresh, refused.Text)
	}
	if found := s.alone(fresh); len(found) > 0 || len(known) > mostAlone {
		return found
	}
	return s.alone(known)
}

// waiting are culprits that only separate tests can tell.
func waiting(owners []model.ObjectRef, text string) (all []culprit) {
	for _, o := range owners {
		all = append(all, culprit{object: o, text: text, undecided: true})
	}
	return all
}

// alone returns those that nginx refuses alone, each with those that it runs on its hosts.
func (s *search) alone(owners []model.ObjectRef) (found []culprit) {
	for _, o := range owners {
		form := s.plan.served.IngressOf(o)
		if form == nil {
			continue
		}
		file := s.plan.fileOf([]*networkingv1.Ingress{form}, false, s.runs)
		tried, _ := sift([]model.ObjectRef{o}, 1, atMost(2), func(_, _ []model.ObjectRef) error { return s.apart(file) })
		for _, failed := range tried.refused {
			found = append(found, culprit{object: o, text: wordsOf(failed.err)})
		}
	}
	return found
}

// ofTheLine matches errors of what somebody wrote. Others may be of the machine.
var ofTheLine = regexp.MustCompile(`^(pcre2?_compile\(\) failed|invalid |unknown )`)

// quoted matches the words that nginx quotes: variables, zones, files, ciphers, hosts.
var quoted = regexp.MustCompile(`"([^"]{2,})"`)

// whoWrote returns the Ingresses that wrote the line that nginx named, or that have a word
// that it quoted. It returns the TCP or UDP service if that wrote the line.
func whoWrote(file *render.File, refused *nginx.TestError) (owners []model.ObjectRef, stream *culprit) {
	if refused.Line > 0 {
		line, origin := lineOf(file, refused.Line)
		if origin.Stream != "" {
			return nil, &culprit{object: origin.Object, stream: origin.Stream, text: refused.Text}
		}
		if mayOwn(origin.Object) {
			return ownersOf(file, func(text []byte) bool { return bytes.Equal(text, line) }), nil
		}
	}
	for _, word := range quoted.FindAllStringSubmatch(refused.Text, -1) {
		found := ownersOf(file, func(text []byte) bool { return bytes.Contains(text, []byte(word[1])) })
		if len(found) > 0 && (len(owners) == 0 || len(found) < len(owners)) {
			owners = found
		}
	}
	return owners, nil
}

// lineOf returns the text and the origin of a line.
func lineOf(file *render.File, number int) ([]byte, render.Origin) {
	for line := range file.Lines() {
		if line.Number == number {
			return line.Text, line.Origin
		}
	}
	return nil, render.Origin{}
}

// ownersOf returns the Ingresses with a line that matches, in the order of their lines.
func ownersOf(file *render.File, matches func([]byte) bool) (owners []model.ObjectRef) {
	seen := map[model.ObjectRef]bool{}
	for line := range file.Lines() {
		if o := line.Object; mayOwn(o) && !seen[o] && matches(line.Text) {
			seen[o] = true
			owners = append(owners, o)
		}
	}
	return owners
}

// mayOwn reports whether an object can be left out of the configuration. Objects of
// other kinds, such as the Service of the default backend, cannot.
func mayOwn(o model.ObjectRef) bool { return snapshot.IsIngress(o) }
