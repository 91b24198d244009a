package migrate

import (
	"encoding/json"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/translate"
)

// The parts of SARIF 2.1.0 that a report needs.
// Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		Results    []sarifResult `json:"results"`
		ColumnKind string        `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
		FullDescription  sarifText `json:"fullDescription"`
		Help             sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// levels are those of SARIF.
var levels = map[Status]string{LeftOut: "error", Unavailable: "error", Different: "warning", Note: "note", Ready: "none"}

// SARIF writes the items of all objects in the format of tools for static analysis.
func (r *Report) SARIF(out io.Writer) error {
	items := slices.Concat(r.Input, r.Objects)
	for _, i := range r.Ingresses {
		items = append(items, i.Items...)
	}
	for _, o := range r.Unserved {
		items = append(items, Item{Status: Different, Object: model.ObjectRef{Kind: "Ingress", Namespace: o.Namespace, Name: o.Name}, Reason: translate.Unserved, Text: o.Text})
	}
	rules, index := rulesOf(items)
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "sluice migrate", Rules: rules}}, Results: []sarifResult{}, ColumnKind: "utf16CodeUnits"}
	for _, item := range items {
		run.Results = append(run.Results, sarifResult{
			RuleID: item.rule(), RuleIndex: index[item.rule()], Level: levels[item.Status], Message: sarifText{item.message()}, Locations: item.sarifLocations(),
		})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// rule is the id of the item's kind: that of its difference, else its reason.
func (i Item) rule() string {
	switch {
	case i.Difference != nil:
		return i.Difference.ID
	case i.Reason != "":
		return string(i.Reason)
	}
	return string(i.Status)
}

func (i Item) message() string {
	parts := slices.DeleteFunc([]string{i.Object.String(), i.Field, i.Text}, func(text string) bool { return strings.TrimSpace(text) == "" })
	text := strings.Join(parts, ": ")
	for _, more := range append(slices.Clone(i.Instead), i.Remedy) {
		if more != "" {
			text += "\n" + more
		}
	}
	return text
}

// rulesOf describes the kinds of items, sorted.
func rulesOf(items []Item) (rules []sarifRule, index map[string]int) {
	first := map[string]Item{}
	for _, item := range items {
		if _, is := first[item.rule()]; !is {
			first[item.rule()] = item
		}
	}
	rules, index = []sarifRule{}, map[string]int{}
	for at, id := range slices.Sorted(maps.Keys(first)) {
		index[id] = at
		rule := sarifRule{ID: id, ShortDescription: sarifText{id}, FullDescription: sarifText{id}, Help: sarifText{firstOf(first[id].Remedy, id)}}
		if d := first[id].Difference; d != nil {
			rule.ShortDescription.Text, rule.FullDescription.Text = d.What, d.text()+" ("+d.Why+")"
			rule.Help.Text = "See " + d.Page + "."
		}
		rules = append(rules, rule)
	}
	return rules, index
}

func (i Item) sarifLocations() []sarifLocation {
	var at sarifLocation
	if i.File != "" && i.File != "-" {
		at.Physical = &sarifPhysical{sarifArtifact{uri(i.File)}, sarifRegion{max(i.Line, 1)}}
	}
	if name := strings.TrimSpace(i.Object.String()); name != "" {
		at.Logical = []sarifLogical{{FullyQualifiedName: name, Kind: "object"}}
	}
	if at.Physical == nil && at.Logical == nil {
		return nil
	}
	return []sarifLocation{at}
}

// uri makes a relative reference of a path.
func uri(path string) string {
	return (&url.URL{Path: filepath.ToSlash(path)}).String()
}
