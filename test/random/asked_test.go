package random

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/compare"
	"sluice/internal/explain"
	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/test/recorded"
)

// world is a world, with what the core makes of it.
type world struct {
	*recorded.World
	core     *compare.Core
	problems []model.Problem
}

// objectsOf are the objects of a world and those that all build on.
func objectsOf(w *recorded.World, files map[string]string) snapshot.Objects {
	objects := snapshot.Objects{}
	for _, name := range []string{"base", w.Name} {
		read, _, err := decode.FromYAML(name, []byte(files[name]))
		if err != nil {
			panic(err)
		}
		objects.Append(read)
	}
	return objects
}

// newWorld has what the core makes of the objects of a world.
func newWorld(w *recorded.World, objects snapshot.Objects) *world {
	options := translate.Options{
		ManifestMode: true, IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io",
		HealthPath: "/healthz", ConfigMap: snapshot.Name{Namespace: "ingress-nginx", Name: "controller"},
	}
	if w.Variant == recorded.DefaultBackend {
		options.DefaultBackend = snapshot.Name{Namespace: w.Namespace, Name: recorded.DefaultBackend}
	}
	core := compare.NewCore(objects, options)
	_, problems := translate.Config(core.Snapshot, options, nil)
	return &world{World: w, core: core, problems: problems}
}

// asked is a request with both answers.
type asked struct {
	*recorded.Request
	world     *world
	index     int
	want, got recorded.Answer

	explanation *explain.Explanation
}

// differences are the places where the answers differ, but for what nobody can compare: the
// text of nginx's pages, and copies to a mirror, which come late.
func (a *asked) differences() []string {
	page := func(text string) bool { return strings.HasPrefix(text, "<html>") }
	if page(a.want.Body) && page(a.got.Body) {
		a.want.Body = a.got.Body
	}
	mirrored := func(h recorded.Hit) bool { return strings.HasPrefix(h.By, "mirror-") }
	a.want.Hits = slices.DeleteFunc(a.want.Hits, mirrored)
	a.got.Hits = slices.DeleteFunc(a.got.Hits, mirrored)
	return recorded.Differences(a.want, a.got)
}

// call is the request as it is sent.
func (a *asked) call() *recorded.Call { return a.world.NewCall(a.Request, "") }

func (a *asked) https() bool { return a.call().Scheme == "https" }

// explained is what explain says of the request.
func (a *asked) explained() *explain.Explanation {
	if a.explanation == nil {
		c, core := a.call(), a.world.core
		input := explain.Input{Snapshot: core.Snapshot, Options: core.Options, Config: core.Config, Problems: a.world.problems}
		scheme := c.Scheme
		if a.world.Config["use-forwarded-headers"] == "true" {
			scheme = cmp.Or(a.H["X-Forwarded-Proto"], scheme)
		}
		a.explanation = explain.Explain(input, explain.Request{Method: c.Verb(), Scheme: scheme, Host: c.Host, URI: c.Path, Headers: c.Known()})
	}
	return a.explanation
}

// winner names the path that takes the request here, "" for none.
func (a *asked) winner() string {
	if e := a.explained(); e.Winner != nil {
		return e.Winner.Object.Name + " " + e.Winner.Field
	}
	return ""
}

// cause is the first that holds for a place, nil if none does.
func (a *asked) cause(place string) *cause {
	for i := range causes {
		if causes[i].holds(a, place) {
			return &causes[i]
		}
	}
	return nil
}
