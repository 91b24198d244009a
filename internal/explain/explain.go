// Package explain gives the reasons for the answer to a request. It takes the results
// of the core. It returns the candidate that takes the request, the reason why each
// other one lost, and the behaviours that apply.
//
//	config, problems := translate.Config(snap, options, nil)
//	r, err := explain.ParseRequest("GET", "https://shop.example/cart?id=1")
//	e := explain.Explain(explain.Input{Snapshot: snap, Options: options, Config: config, Problems: problems}, r)
//	e.WriteText(os.Stdout)
//
// It decides nothing itself: package translate makes locations of objects, and package
// route evaluates nginx's choice. It does not know the facts of a running nginx:
// whether nginx accepts the file, the address of a client, and the answers of endpoints.
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

// Input holds the results of the core.
type Input struct {
	Snapshot *snapshot.Snapshot
	Options  translate.Options
	Config   model.Config
	// Problems are those of the snapshot, of translate and of render.
	Problems []model.Problem
}

// Explain explains the answer to one request.
func Explain(in Input, r Request) *Explanation {
	x := newExplainer(in, r)
	e := &Explanation{Request: r, Path: x.path()}
	if e.Answer = x.refusal(); e.Answer.Kind == "" {
		x.choose(e)
	}
	e.Outcome, e.Summary = e.Answer.otherwise(outcome(e.Answer)), e.Answer.otherwise(summary(e))
	Fit(reflect.ValueOf(e))
	return e
}

// explainer holds the state of one call of Explain.
type explainer struct {
	Input
	request Request
	// settings are those of the controller; ofClass returns those of an Ingress's class.
	settings *settings.Settings
	ofClass  func(*networkingv1.Ingress) *settings.Settings
	servers  []*model.Server
	choice   route.Choice
	// asked is the request as nginx knows it.
	asked route.Request
	// deciding is the server with the locations to choose from.
	deciding *model.Server
	problems map[model.ObjectRef][]model.Problem
	origins  origins
}

func newExplainer(in Input, r Request) *explainer {
	x := &explainer{Input: in, request: r, servers: Printed(in), problems: map[model.ObjectRef][]model.Problem{}}
	x.settings, _ = settings.Read(in.Snapshot.ConfigMap(in.Options.ConfigMap))
	x.ofClass = translate.Settings(in.Snapshot, in.Options)
	x.asked = route.Request{Method: r.Method, Host: r.Host, URI: r.URI, Headers: r.Headers, Underscores: x.settings.Client.TakesUnderscores()}
	x.choice = route.Choose(x.servers, x.asked)
	if x.deciding = x.choice.Server; x.choice.Outcome == route.Missed {
		x.deciding = x.server("")
	}
	for _, p := range model.SortProblems(slices.Clone(in.Problems)) {
		x.problems[p.Object] = append(x.problems[p.Object], p)
	}
	return x
}

// server returns the server of a host, or nil. For a request by an alias, it is the
// server with that alias.
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

// byAlias reports whether an alias led to the deciding server.
func (x *explainer) byAlias() bool {
	return slices.ContainsFunc(x.choice.Servers, func(v route.ServerVerdict) bool {
		return v.Server == x.deciding && v.Name != "" && v.Name != v.Server.Host
	})
}

// choose fills in nginx's choice and its effects.
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
		e.Problems = x.problemsAndCautions(e.Winner.Object)
	}
	e.Answer = x.answer(e)
	if e.Answer.Kind == ToStatus && x.taken() {
		e.Answer = x.inPlaceOf(e.Answer)
	}
	e.Answer.Unless = x.unless(e)
}

// problemsAndCautions returns the Problems of an object, and the surprises of its annotations.
func (x *explainer) problemsAndCautions(object model.ObjectRef) []model.Problem {
	problems := x.problems[object]
	if ing := x.Snapshot.IngressOf(object); ing != nil {
		problems = model.SortProblems(slices.Concat(problems, translate.Cautions(x.Snapshot, x.Options, ing)))
	}
	return problems
}

// taken reports whether a location takes the request.
func (x *explainer) taken() bool {
	return x.choice.Outcome == route.Served || x.choice.Outcome == route.Missed
}

// considered returns the servers and locations with their verdicts.
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

// notation returns a location as in nginx.conf, without quotes.
func notation(modifier model.Modifier, path string) string {
	switch modifier {
	case model.Prefix:
		return path
	case model.Named:
		return "@" + path
	}
	return string(modifier) + " " + path
}

// path returns the steps by which nginx normalizes the URI.
func (x *explainer) path() Path {
	p := Path{Normalized: x.choice.Path, Steps: x.choice.Steps}
	if x.choice.Refusal != nil {
		p.Refusal = x.choice.Refusal.Error()
	}
	return p
}

// ingressOf returns the Ingress of a location. A location without one gets an empty
// Ingress, so that only the settings apply.
func (x *explainer) ingressOf(l *model.Location) *networkingv1.Ingress {
	if ing := x.Snapshot.IngressOf(l.Rule.Object); ing != nil {
		return ing
	}
	return &networkingv1.Ingress{}
}

// annotationsAt returns the annotations that apply at a location.
func (x *explainer) annotationsAt(l *model.Location) *annotations.Annotations {
	ing := x.ingressOf(l)
	return annotations.Read(ing, x.settingsOf(ing), x.Options.AnnotationsPrefix).At(pathOf(l))
}

// pathOf returns the path of a location's rule, "" for a fallback.
func pathOf(l *model.Location) string {
	if l.Rule.Kind == model.RuleFallback {
		return ""
	}
	return l.Rule.Path
}

// settingsOf returns the settings of an Ingress; those of the controller for the empty
// one.
func (x *explainer) settingsOf(ing *networkingv1.Ingress) *settings.Settings {
	if ing.Name == "" {
		return x.settings
	}
	return x.ofClass(ing)
}
