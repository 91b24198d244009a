package prometheus

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// charts is the folder of the chart.
const charts = "../../charts/sluice"

// dashboard is the part of a Grafana dashboard that these tests read.
type dashboard struct {
	file        string
	UID         string
	Title       string
	Annotations struct{ List []struct{ Name, Expr string } }
	Templating  struct{ List []variable }
	Panels      []panel
}

type variable struct {
	Name, Type string
	Multi      bool
	Query      json.RawMessage
	Current    struct{ Value string }
}

type panel struct {
	ID          int
	Title, Type string
	Datasource  struct{ UID string }
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []target
}

type target struct {
	RefID, Expr, LegendFormat string
	Datasource                struct{ UID string }
}

// readDashboards reads those of the chart.
func readDashboards(t *testing.T) []dashboard {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(charts, "dashboards", "*.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("the dashboards are %q, %v", files, err)
	}
	var all []dashboard
	for _, file := range files {
		d := dashboard{file: filepath.Base(file)}
		content, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(content, &d)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, d)
	}
	return all
}

// expressions returns those of panels and annotations, by where they are.
func (d dashboard) expressions() map[string]string {
	all := map[string]string{}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			all[d.file+": "+p.Title+" "+q.RefID] = q.Expr
		}
	}
	for _, a := range d.Annotations.List {
		all[d.file+": annotation "+a.Name] = a.Expr
	}
	return all
}

// queryOf returns the query of a variable.
func (v variable) queryOf() string {
	var of struct{ Query string }
	_ = json.Unmarshal(v.Query, &of) // other types have a text, without a query for Prometheus
	return of.Query
}

// use is a variable in an expression: $name or ${name}.
var use = regexp.MustCompile(`\$\{?([A-Za-z_]+)\}?`)

// own are the variables that Grafana has.
var own = []string{"__rate_interval", "__range", "__interval"}

// TestDashboardsAreSound: each panel has a title, a unit and targets, no panel covers another,
// and each variable that is used is defined, and the other way round.
func TestDashboardsAreSound(t *testing.T) {
	t.Parallel()
	uids := map[string]string{}
	for _, d := range readDashboards(t) {
		if d.UID == "" || d.Title == "" || uids[d.UID] != "" {
			t.Errorf("%s: uid %q (also of %q), title %q", d.file, d.UID, uids[d.UID], d.Title)
		}
		uids[d.UID] = d.file
		for _, fault := range append(d.faultsOfPanels(), d.faultsOfVariables()...) {
			t.Errorf("%s: %s", d.file, fault)
		}
	}
}

func (d dashboard) faultsOfPanels() (faults []string) {
	var ids []int
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		fault := func(text string) { faults = append(faults, p.Title+": "+text) }
		if p.Title == "" || slices.Contains(ids, p.ID) {
			fault("want a title and an ID of its own")
		}
		ids = append(ids, p.ID)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					fault("it covers " + other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.GridPos.X < 0 || p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W < 1 || p.GridPos.H < 1 {
			fault("want a place within 24 columns")
		}
		if p.Type == "row" {
			continue
		}
		if p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			fault("want a unit, targets, and the data source that is chosen")
		}
		for _, q := range p.Targets {
			if q.Expr == "" || q.RefID == "" || q.Datasource.UID != "${datasource}" {
				fault("want an expression, a refId and the data source that is chosen in each target")
			}
		}
	}
	return faults
}

func (d dashboard) faultsOfVariables() (faults []string) {
	defined, used := map[string]bool{}, map[string]bool{"datasource": true}
	texts := slices.Collect(maps.Values(d.expressions()))
	for _, v := range d.Templating.List {
		if defined[v.Name] {
			faults = append(faults, "$"+v.Name+" is defined twice")
		}
		for _, found := range use.FindAllStringSubmatch(v.queryOf(), -1) {
			if !defined[found[1]] {
				faults = append(faults, "$"+v.Name+" uses $"+found[1]+", which is not defined before it")
			}
		}
		defined[v.Name] = true
	}
	for _, found := range use.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		if used[found[1]] = true; !defined[found[1]] && !slices.Contains(own, found[1]) {
			faults = append(faults, "$"+found[1]+" is not defined")
		}
	}
	for name := range defined {
		if !used[name] {
			faults = append(faults, "$"+name+" is not used")
		}
	}
	return faults
}

// TestUnsoundDashboards: the faults are found.
func TestUnsoundDashboards(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"panels":[{"id":1,"title":"a","gridPos":{"w":12,"h":4}}]}`:                                                                               "a: want a unit",
		`{"panels":[{"id":1,"title":"a","type":"row","gridPos":{"w":12,"h":4}},{"id":2,"title":"b","type":"row","gridPos":{"x":11,"w":1,"h":1}}]}`: "b: it covers a",
		`{"panels":[{"id":1,"title":"a","type":"row","gridPos":{"x":20,"w":12,"h":4}}]}`:                                                           "a: want a place",
		`{"panels":[{"id":1,"title":"","type":"row","gridPos":{"w":1,"h":1}}]}`:                                                                    ": want a title",
		`{"panels":[{"targets":[{"expr":"up{a=\"$b\"}"}]}]}`:                                                                                       "$b is not defined",
		`{"templating":{"list":[{"name":"a"}]}}`:                                                                                                   "$a is not used",
		`{"templating":{"list":[{"name":"a","query":{"query":"label_values(up{a=\"$b\"}, a)"}}]}}`:                                                 "$a uses $b",
	} {
		var d dashboard
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		found := append(d.faultsOfPanels(), d.faultsOfVariables()...)
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, want) }) {
			t.Errorf("%s: want %q (got %q)", text, want, found)
		}
	}
}
