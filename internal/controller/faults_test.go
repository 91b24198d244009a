package controller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/quarantine"
	"sluice/internal/render"
	"sluice/internal/snapshot"
)

// naming is what nginx says about a fault.
type naming string

const (
	byLine naming = "line"
	byWord naming = "word"
	silent naming = "nothing"
	// elsewhere names a line that is not the cause.
	elsewhere naming = "another line"
	// killed says nothing, and a signal ends the first tests of small files.
	killed naming = "nothing, killed"
	// slow names the line in the end. Small files take too long.
	slow naming = "line, slowly"
)

// fault is something that a fake nginx refuses: the lines of a behaviour of an object, or all
// of its lines. If with is set, it refuses them only beside lines of that object.
type fault struct {
	object    model.ObjectRef
	behaviour string
	with      model.ObjectRef
	names     naming
}

// fake is an nginx in memory. It refuses files for faults, and counts.
type fake struct {
	faults []fault
	// injected are lines that it refuses, whoever wrote them.
	injected map[string]bool
	names    naming
	// nginx is a real one that is asked about files with these lines, nil for none.
	nginx tester
	last  *render.File
	said  error
	// kills is how many tests of small files a signal ends.
	kills               int
	loads, tests, apart int
	// broken is the error of tests that cannot run, from the at-th on.
	broken error
	at     int
}

func (n *fake) Test(_ context.Context, conf io.WriterTo) error {
	n.tests++
	return n.answer(conf.(*render.File))
}

func (n *fake) TestApart(ctx context.Context, conf io.WriterTo) error {
	n.apart++
	file := conf.(*render.File)
	if n.injectedIn(file) != nil {
		switch {
		case n.names == slow:
			return &nginx.TestError{Text: "`nginx -t` did not end within 2s"}
		case n.names == killed && n.kills > 0:
			n.kills--
			return errors.New("run `nginx -t`: signal: killed")
		case n.nginx != nil:
			return n.nginx.TestApart(ctx, injected{file, n})
		}
	}
	return n.answer(file)
}

// Apply is a load. A refusal of it does not tell the line.
func (n *fake) Apply(_ context.Context, conf io.WriterTo) (nginx.Result, error) {
	n.loads++
	if err := n.judge(conf.(*render.File)); err != nil {
		return nginx.Result{}, &nginx.ReloadError{Text: err.Error(), RolledBack: true}
	}
	return nginx.Result{}, nil
}

func (n *fake) WriteUsers([]*model.UserFile) error { return nil }

// injectedIn returns the first line of a file that was injected.
func (n *fake) injectedIn(file *render.File) *render.Line {
	if len(n.injected) == 0 {
		return nil
	}
	for line := range file.Lines() {
		if n.injected[string(line.Text)] {
			return &line
		}
	}
	return nil
}

func (n *fake) answer(file *render.File) error {
	if n.broken != nil && n.tests+n.apart >= n.at {
		return n.broken
	}
	return n.judge(file)
}

// judge returns the first refusal of a file.
func (n *fake) judge(file *render.File) error {
	for _, f := range n.faults {
		var bad *render.Line
		with := f.with == model.ObjectRef{}
		for line := range file.Lines() {
			with = with || line.Object == f.with
			if bad == nil && line.Object == f.object && (f.behaviour == "" || line.Behaviour == f.behaviour) {
				bad = &line
			}
		}
		if bad != nil && with {
			return refusalFor(bad, file, f.names)
		}
	}
	bad := n.injectedIn(file)
	switch {
	case bad == nil:
		return nil
	case n.nginx != nil:
		if n.last != file { // a refused load is explained by a test of the same file
			n.last, n.said = file, n.nginx.Test(context.Background(), injected{file, n})
		}
		return n.said
	}
	return refusalFor(bad, file, n.names)
}

// refusalFor is what nginx says about a line of a file.
func refusalFor(bad *render.Line, file *render.File, names naming) error {
	switch names {
	case byLine, slow:
		return &nginx.TestError{Text: "invalid value", Line: bad.Number}
	case elsewhere:
		return &nginx.TestError{Text: "unexpected end of file", Line: file.LineCount()}
	case byWord:
		words := bytes.Fields(bytes.TrimRight(bad.Text, ";{\n\t "))
		return &nginx.TestError{Text: fmt.Sprintf("unknown %q variable", words[len(words)-1])}
	}
	return &nginx.TestError{Text: "invalid configuration"}
}

// load applies a plan.
func (n *fake) load(t *testing.T, c *Controller, p *plan) {
	t.Helper()
	c.applier.process = n
	c.applied(t.Context(), c.applier.apply(t.Context(), p))
}

// settle loads and tests until nothing is left to do.
func (n *fake) settle(t *testing.T, c *Controller) {
	t.Helper()
	for range 5_000 {
		c.namedBy = time.Time{} // no name is waited for
		c.submitNamed()
		if p := c.submitted(); p != nil {
			n.load(t, c, p)
			continue
		}
		select {
		case next := <-c.trials.due:
			next.test(t.Context(), n)
			c.trialEnded(t.Context(), next)
			continue
		default:
		}
		if c.trials.decided.IsZero() {
			return
		}
		c.trialEnded(t.Context(), nil)
	}
	t.Fatal("there is no end")
}

// check holds what must be true once all is settled: nginx takes the file, whoever is
// blameless is served, who is not is told, and is closed or not served.
func (n *fake) check(t *testing.T, c *Controller, blamed ...model.ObjectRef) {
	t.Helper()
	if c.target == nil || !c.target.confirmed {
		t.Fatalf("nginx serves nothing new: %v", c.refusals())
	}
	for _, ing := range c.latest.snap.Ingresses() {
		o := snapshot.RefOf(ing)
		r := c.refusalOf(o)
		switch guilty := slices.Contains(blamed, o); {
		case !guilty && r != nil:
			t.Errorf("%v is blameless, and refused: %s", o, r.Text)
		case guilty && (r == nil || r.Waits):
			t.Errorf("%v is not refused", o)
		case guilty && r.Stand == quarantine.AsNone && c.protects(ing):
			t.Errorf("%v protects its paths, and is not there", o)
		}
	}
}

// refusalOf returns the refusal of an object or of a stream of it, nil for none.
func (c *Controller) refusalOf(o model.ObjectRef) *quarantine.Refusal {
	for r := range c.quarantine.All() {
		if r.Subject.ObjectRef == o {
			return r
		}
	}
	return nil
}

// plain is an Ingress with annotations of ingress-nginx and one path of a host.
func plain(namespace, name, host string, annotations ...string) *networkingv1.Ingress {
	ing := form(name, host)
	ing.Namespace, ing.Annotations = namespace, map[string]string{}
	ing.Spec.Rules[0].HTTP = servedBy("web")
	ing.Spec.Rules[0].HTTP.Paths[0].Path = "/" + name
	for i := 0; i < len(annotations); i += 2 {
		ing.Annotations["nginx.ingress.kubernetes.io/"+annotations[i]] = annotations[i+1]
	}
	return ing
}

func objectOf(namespace, name string) model.ObjectRef {
	return model.ObjectRef{Kind: "Ingress", Namespace: namespace, Name: name}
}

// allowing are settings that allow snippets.
func allowing() *corev1.ConfigMap {
	cm := settingsOf("")
	cm.Data = map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}
	return cm
}
