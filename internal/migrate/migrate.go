// Package migrate says how Sluice would serve the Ingresses of an ingress-nginx: which are
// ready, which behave differently, which answer 503 and which are left out. It takes
// objects as package lint does, and the flags and values that are known besides. It returns
// a Report, Ingress by Ingress.
//
//	report := migrate.Look(manifests, options, migrate.Setup{Flags: flags})
//	for _, ingress := range report.Ingresses { ... }
//
// Findings of lint become items of their Ingress. A difference that Sluice makes on purpose
// and without a Problem is recognised by the table of rows, which names each row of
// docs/differences.md.
package migrate

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Status is what becomes of an Ingress.
type Status string

// The statuses, worst first.
const (
	LeftOut     Status = "left-out"  // a path is not served
	Unavailable Status = "503"       // a path answers 503
	Different   Status = "different" // all paths are served, but something differs
	Ready       Status = "ready"     // answers are those of ingress-nginx
)

// Statuses are all statuses, worst first.
var Statuses = []Status{LeftOut, Unavailable, Different, Ready}

// Note is the status of an item after which nothing is answered differently.
const Note Status = "note"

// Setup is the setup of ingress-nginx besides its objects.
type Setup struct {
	// Flags are those of its Deployment. Values are those of its Helm chart.
	Flags  []Argument
	Values []Argument
	// Given are the flags in force by name, whether a Deployment gives them or the chart.
	Given map[string]string
	// Sources are lines about the origin of flags and settings.
	Sources []string
	// Unread are the parts of the setup that could not be read.
	Unread []Item
}

// Argument is a flag, a setting or a value of the chart, and its fate.
type Argument struct {
	Name string `json:"name"`
	Fate Fate   `json:"fate"`
	// Text is the reason. One that is kept has a text only if there is a note about it.
	Text string `json:"text,omitempty"`
}

// Fate is what becomes of an argument.
type Fate string

// The fates, worst first.
const (
	Closes        Fate = "503"            // every path answers 503 with it
	Refused       Fate = "refused"        // the chart fails with it
	Unknown       Fate = "unknown"        // neither controller has it
	Changed       Fate = "changed"        // it has another effect, or an invalid value
	WithoutEffect Fate = "without-effect" // it has no effect in Sluice
	Kept          Fate = "kept"
)

// Fates are all fates, worst first.
var Fates = []Fate{Closes, Refused, Unknown, Changed, WithoutEffect, Kept}

// Report is the result of Look.
type Report struct {
	Counts Counts `json:"counts"`
	// Ingresses are those that this controller serves, the worst first.
	Ingresses []Ingress `json:"ingresses"`
	// Unserved are Ingresses that no known controller serves: they name no class, or one
	// that is not there.
	Unserved []Other `json:"unserved"`
	// Others are Ingresses of other controllers.
	Others []Other `json:"others"`
	// Everywhere are the differences that concern all Ingresses.
	Everywhere []Item `json:"everywhere"`
	// Objects are the items of other objects than Ingresses. Input are those of files
	// that could not be read.
	// Input also has parts of the setup that could not be read, and says if there is no
	// Ingress.
	Objects  []Item     `json:"objects"`
	Settings []Argument `json:"settings"`
	Flags    []Argument `json:"flags"`
	Values   []Argument `json:"values"`
	Input    []Item     `json:"input"`
	// Sources are lines about the origin of flags and settings.
	Sources []string `json:"sources"`
	// Untold are the differences of which no manifest tells whether they matter.
	Untold []Untold `json:"untold"`

	allowEmpty bool
}

// Counts are the numbers of Ingresses by their status.
type Counts struct {
	Ready       int `json:"ready"`
	Different   int `json:"different"`
	Unavailable int `json:"503"`
	LeftOut     int `json:"leftOut"`
	Unserved    int `json:"unserved"`
	Others      int `json:"others"`
	// Paths are those of the Ingresses that are served here.
	Paths PathCounts `json:"paths"`
}

// PathCounts are numbers of paths.
type PathCounts struct {
	All         int `json:"all"`
	Unavailable int `json:"503"`
	LeftOut     int `json:"leftOut"`
}

// Ingress is what becomes of an Ingress.
type Ingress struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	lint.Place
	Status Status     `json:"status"`
	Hosts  []string   `json:"hosts"`
	Paths  PathCounts `json:"paths"`
	Items  []Item     `json:"items"`
}

// Item is one thing to know about an object.
type Item struct {
	Status Status          `json:"status"`
	Object model.ObjectRef `json:"object,omitzero"`
	lint.Place
	Field  string       `json:"field,omitempty"`
	Reason model.Reason `json:"reason,omitempty"`
	Text   string       `json:"text"`
	Remedy string       `json:"remedy,omitempty"`
	// Instead are the annotations to write in place of a snippet.
	Instead    []string    `json:"instead,omitempty"`
	Difference *Difference `json:"difference,omitempty"`
}

// Other is an Ingress that this controller does not serve, with the reason.
type Other struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Text      string `json:"text"`
}

// Untold is a difference that manifests do not show.
type Untold struct {
	Difference
	Reason string `json:"reason"`
}

// Look makes the report. The result does not depend on the order of the objects.
func Look(m lint.Manifests, o lint.Options, setup Setup) Report {
	examined := lint.Examine(m, o)
	l := newLook(&examined, o, setup)
	r := Report{Ingresses: []Ingress{}, Unserved: []Other{}, Others: []Other{}, Everywhere: l.everywhere(), Objects: []Item{}, Input: []Item{},
		Settings: l.settings(), Flags: sorted(setup.Flags), Values: sorted(setup.Values), Sources: append([]string{}, setup.Sources...), Untold: untoldRows(), allowEmpty: o.AllowEmpty}
	seen := map[*networkingv1.Ingress]bool{}
	for _, object := range examined.Snapshot.Ingresses() {
		seen[object] = true
		fault := l.elsewhere(object)
		nobody := l.unserved(object)
		switch {
		case nobody != "":
			r.Unserved = append(r.Unserved, Other{object.Namespace, object.Name, nobody})
		case fault != "":
			r.Others = append(r.Others, Other{object.Namespace, object.Name, fault})
		default:
			r.Ingresses = append(r.Ingresses, l.ingress(object))
		}
	}
	for _, object := range m.Objects.Ingresses {
		if !seen[object] && o.Watch.Skips(m.Objects, object.Namespace) {
			r.Others = append(r.Others, Other{object.Namespace, object.Name, "its namespace is not watched"})
		}
	}
	r.Input = append(r.Input, setup.Unread...)
	l.rest(&r)
	r.Objects = append(r.Objects, l.ofLayers()...)
	if len(r.Ingresses) == 0 && len(r.Unserved) > 0 && !o.AllowEmpty {
		r.Input = append(r.Input, Item{Status: Different, Reason: lint.Empty, Text: "no known controller serves any of the Ingresses: give their IngressClass with -f, or name it with --ingress-class"})
	}
	r.count()
	slices.SortFunc(r.Unserved, Other.compare)
	slices.SortFunc(r.Others, Other.compare)
	slices.SortStableFunc(r.Ingresses, func(a, b Ingress) int {
		return cmp.Or(rank(a.Status)-rank(b.Status), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return r
}

func (o Other) compare(other Other) int {
	return cmp.Or(strings.Compare(o.Namespace, other.Namespace), strings.Compare(o.Name, other.Name))
}

// rank orders statuses, worst first; notes come last.
func rank(s Status) int {
	if at := slices.Index(Statuses, s); at >= 0 {
		return at
	}
	return len(Statuses)
}

// Has reports whether an Ingress has this status or a worse one, or whether something
// could not be read. An Ingress that nobody serves counts as different, and so does a value
// that the chart refuses. One that closes all paths counts as 503.
func (r *Report) Has(least Status) bool {
	return len(r.Input) > 0 || slices.ContainsFunc(r.Values, func(a Argument) bool { return rank(a.status()) <= rank(least) }) || len(r.Unserved) > 0 && rank(Different) <= rank(least) || slices.ContainsFunc(r.Ingresses, func(i Ingress) bool { return rank(i.Status) <= rank(least) })
}

// status is what a value of the chart counts as. A setting that nobody reads is no difference.
func (a Argument) status() Status {
	switch {
	case a.Fate == Closes:
		return Unavailable
	case a.Fate == Refused, a.Fate == Unknown && !strings.HasPrefix(a.Name, "controller.config."):
		return Different
	}
	return Note
}

func (r *Report) count() {
	r.Counts.Unserved, r.Counts.Others = len(r.Unserved), len(r.Others)
	for _, i := range r.Ingresses {
		switch i.Status {
		case Ready:
			r.Counts.Ready++
		case Different:
			r.Counts.Different++
		case Unavailable:
			r.Counts.Unavailable++
		case LeftOut:
			r.Counts.LeftOut++
		}
		r.Counts.Paths.All += i.Paths.All
		r.Counts.Paths.Unavailable += i.Paths.Unavailable
		r.Counts.Paths.LeftOut += i.Paths.LeftOut
	}
}

// sorted orders arguments, the worst fate first.
func sorted(all []Argument) []Argument {
	all = append([]Argument{}, all...) // a list for JSON even if it is empty
	slices.SortFunc(all, func(a, b Argument) int {
		return cmp.Or(slices.Index(Fates, a.Fate)-slices.Index(Fates, b.Fate), strings.Compare(a.Name, b.Name))
	})
	return all
}

// elsewhere returns why another controller serves an Ingress, "" if this one does, or
// would but for a mistake.
func (l *look) elsewhere(object *networkingv1.Ingress) string {
	ours, remarks := translate.Accepts(l.Snapshot, l.translate, object)
	if ours || len(remarks) > 0 {
		return ""
	}
	return "it " + translate.ClassFault(l.Snapshot, l.translate, object)
}

// unserved returns why no known controller serves an Ingress, "" if one does.
func (l *look) unserved(object *networkingv1.Ingress) string {
	for _, f := range l.findings[snapshot.RefOf(object)] {
		if f.Reason == translate.Unserved || f.Reason == translate.NearClass {
			return f.Text
		}
	}
	return ""
}

// untoldRows are the rows that no manifest shows.
func untoldRows() []Untold {
	all := []Untold{}
	for i, r := range rows {
		if d := differences()[i]; r.untold != "" && d != nil {
			all = append(all, Untold{*d, r.untold})
		}
	}
	return all
}

// Show leaves out the Ingresses and objects of other namespaces, unless the namespace is
// empty.
func (r *Report) Show(namespace string) {
	if namespace == "" {
		return
	}
	r.Ingresses = slices.DeleteFunc(r.Ingresses, func(i Ingress) bool { return i.Namespace != namespace })
	isElsewhere := func(o Other) bool { return o.Namespace != namespace }
	r.Unserved, r.Others = slices.DeleteFunc(r.Unserved, isElsewhere), slices.DeleteFunc(r.Others, isElsewhere)
	r.Counts = Counts{}
	r.count()
	if len(r.Ingresses)+len(r.Unserved) == 0 && !r.allowEmpty {
		r.Input = append(r.Input, Item{Status: Different, Reason: lint.Empty, Text: "no Ingress of the namespace " + model.Quoted(namespace) + " is one of this controller: want another --namespace, or --allow-empty"})
	}
}
