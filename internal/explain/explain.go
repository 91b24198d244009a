// Package explain says why a request goes where it goes. What the objects became
// goes in; out comes the candidate that takes the request, why each other lost, and
// what is done with the request there.
//
//	config, problems := translate.Config(snap, options, nil)
//	r, err := explain.ParseRequest("GET", "https://shop.example/cart?id=1")
//	e := explain.Explain(explain.Input{Snapshot: snap, Options: options, Config: config, Problems: problems}, r)
//	e.WriteText(os.Stdout)
//
// It adds nothing to what is decided elsewhere: package translate says what
// becomes of an object, package route what nginx chooses. It looks at both and says
// so. What only a running nginx knows is not in it: whether nginx takes the file, the
// address of a client, and what endpoints answer.
package explain

import (
	"reflect"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Input is what a request is explained by.
type Input struct {
	Snapshot *snapshot.Snapshot
	Options  translate.Options
	Config   model.Config
	// Problems are those of the snapshot, of translate and of render.
	Problems []model.Problem
}

// Explain says why a request goes where it goes.
func Explain(in Input, r Request) *Explanation {
	x := newExplainer(in, r)
	e := &Explanation{Request: r, Path: x.path()}
	if e.Answer = x.refusal(); e.Answer.Kind == "" {
		x.choose(e)
	}
	e.Outcome, e.Summary = outcome(e.Answer), summary(e)
	fit(reflect.ValueOf(e))
	return e
}

// explainer is one request that is being explained.
type explainer struct {
	Input
	request Request
	// settings are those of the controller, ofClass those of an Ingress by its class.
	settings *settings.Settings
	ofClass  func(*networkingv1.Ingress) *settings.Settings
	servers  []*model.Server
	choice   route.Choice
	// deciding is the server whose locations are chosen among.
	deciding *model.Server
	problems map[model.ObjectRef][]model.Problem
}

func newExplainer(in Input, r Request) *explainer {
	x := &explainer{Input: in, request: r, servers: Printed(in), problems: map[model.ObjectRef][]model.Problem{}}
	x.settings, _ = settings.Read(in.Snapshot.ConfigMap(in.Options.ConfigMap))
	x.ofClass = translate.Settings(in.Snapshot, in.Options)
	x.choice = route.Choose(x.servers, route.Request{Method: r.Method, Host: r.Host, URI: r.URI, Headers: r.Headers})
	if x.deciding = x.choice.Server; x.choice.Outcome == route.Missed {
		x.deciding = x.server("")
	}
	for _, p := range model.SortProblems(slices.Clone(in.Problems)) {
		x.problems[p.Object] = append(x.problems[p.Object], p)
	}
	return x
}

// server gives the server of a host, or nil. If the request came by an alias, it
// is the one that has the alias.
func (x *explainer) server(host string) *model.Server {
	if x.byAlias() && x.deciding.Host == host {
		return x.deciding
	}
	at := slices.IndexFunc(x.servers, func(s *model.Server) bool { return s.Host == host && !s.AliasesOnly })
	if at < 0 {
		return nil
	}
	return x.servers[at]
}

// byAlias says whether the server that decides was found by a further name of its
// host.
func (x *explainer) byAlias() bool {
	return slices.ContainsFunc(x.choice.Servers, func(v route.ServerVerdict) bool {
		return v.Server == x.deciding && v.Name != "" && v.Name != v.Server.Host
	})
}

// choose fills in what nginx chooses and what is done there.
func (x *explainer) choose(e *Explanation) {
	e.Servers, e.Locations = x.considered()
	for _, c := range x.candidates() {
		x.judge(c)
		if c.Verdict == Wins {
			e.Winner = &c.Candidate
			continue
		}
		e.Losers = append(e.Losers, c.Candidate)
	}
	slices.SortStableFunc(e.Losers, func(a, b Candidate) int {
		return slices.Index(verdictOrder, a.Verdict) - slices.Index(verdictOrder, b.Verdict)
	})
	if x.taken() {
		e.Applied = x.applied()
	}
	if e.Winner != nil && e.Winner.Object.Kind != "" {
		e.Problems = x.problems[e.Winner.Object]
	}
	e.Answer = x.answer(e)
}

// taken says whether a location takes the request.
func (x *explainer) taken() bool {
	return x.choice.Outcome == route.Served || x.choice.Outcome == route.Missed
}

// considered lists the servers and locations with their verdicts.
func (x *explainer) considered() (servers []Server, locations []Location) {
	for _, v := range x.choice.Servers {
		s := Server{Host: v.Server.Host, Verdict: v.Verdict}
		if v.Name != v.Server.Host {
			s.Alias = v.Name
		}
		if v.By != nil {
			s.By = v.By.Host
		}
		servers = append(servers, s)
	}
	for _, v := range x.choice.Locations {
		rule := v.Location.Rule
		l := Location{Modifier: v.Location.Modifier, Path: v.Location.Path, Object: rule.Object, Field: rule.Field, Verdict: v.Verdict}
		if v.By != nil {
			l.By = notation(v.By.Modifier, v.By.Path)
		}
		locations = append(locations, l)
	}
	return servers, locations
}

// notation is a location as nginx.conf has it, without quotes.
func notation(modifier model.Modifier, path string) string {
	switch modifier {
	case model.Prefix:
		return path
	case model.Named:
		return "@" + path
	}
	return string(modifier) + " " + path
}

// path says what nginx makes of the URI.
func (x *explainer) path() Path {
	p := Path{Normalized: x.choice.Path}
	for _, step := range x.choice.Steps {
		p.Steps = append(p.Steps, Step(step))
	}
	if x.choice.Refusal != nil {
		p.Refusal = x.choice.Refusal.Error()
	}
	return p
}

// ingressOf gives the Ingress that a location comes from. What comes from none has
// one that says nothing, so that only the settings hold.
func (x *explainer) ingressOf(l *model.Location) *networkingv1.Ingress {
	if ing := x.Snapshot.IngressOf(l.Rule.Object); ing != nil {
		return ing
	}
	return &networkingv1.Ingress{}
}

// annotationsOf is what the annotations of an Ingress say.
func (x *explainer) annotationsOf(ing *networkingv1.Ingress) *annotations.Annotations {
	return annotations.Read(ing, x.settingsOf(ing), x.Options.AnnotationsPrefix)
}

// annotationsAt are those that hold at a location.
func (x *explainer) annotationsAt(l *model.Location) *annotations.Annotations {
	return x.annotationsOf(x.ingressOf(l)).At(pathOf(l))
}

// pathOf is the path of the rules that a location is for, "" for none.
func pathOf(l *model.Location) string {
	if l.Rule.Kind == model.RuleFallback {
		return ""
	}
	return l.Rule.Path
}

// settingsOf gives the settings of an Ingress. One that says nothing stands for
// what no Ingress has, and has those of the controller.
func (x *explainer) settingsOf(ing *networkingv1.Ingress) *settings.Settings {
	if ing.Name == "" {
		return x.settings
	}
	return x.ofClass(ing)
}
