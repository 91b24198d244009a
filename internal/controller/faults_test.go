package controller

import (
	"bytes"
	"context"
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
	faults              []fault
	loads, tests, apart int
	// broken is the error of tests that cannot run, from the at-th on.
	broken error
	at     int
}

func (n *fake) Test(_ context.Context, conf io.WriterTo) error {
	n.tests++
	return n.answer(conf.(*render.File))
}

func (n *fake) TestApart(_ context.Context, conf io.WriterTo) error {
	n.apart++
	return n.answer(conf.(*render.File))
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
		switch {
		case bad == nil || !with:
		case f.names == byLine:
			return &nginx.TestError{Text: "invalid value", Line: bad.Number}
		case f.names == byWord:
			words := bytes.Fields(bytes.TrimRight(bad.Text, ";{\n\t "))
			return &nginx.TestError{Text: fmt.Sprintf("unknown %q variable", words[len(words)-1])}
		default:
			return &nginx.TestError{Text: "invalid configuration"}
		}
	}
	return nil
}

// load does what the applier does.
func (n *fake) load(t *testing.T, c *Controller, p *plan) {
	t.Helper()
	n.loads++
	o := outcome{plan: p}
	if err := n.judge(p.file); err != nil {
		s := &search{ctx: t.Context(), process: n, plan: p, runs: p.runsIn(c.lastConfirmed)}
		s.find(&o, p.file, err)
	}
	c.applied(t.Context(), o)
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
		r := c.quarantine.Of(quarantine.Of(o))
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
