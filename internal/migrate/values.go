package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"sluice/charts"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

// Values are values of ingress-nginx's Helm chart.
type Values struct {
	// Given are the values at the ends of branches, with their fates. Flags of
	// controller.extraArgs have none.
	Given []Argument
	// Flags are those that the chart gives the controller, and that decide how Ingresses are
	// served.
	Flags map[string]string
	// Extra are the flags of controller.extraArgs.
	Extra map[string]string
	// Settings are those of controller.config, and those that the chart makes of other values.
	Settings map[string]string
	// Objects are those that the chart makes of the values, so far as reports look at them.
	Objects snapshot.Objects
	// Folders are those of controller.extraVolumeMounts that nginx can write to.
	Folders []snapshot.Folder
}

// Arguments are the flags as a command line.
func (v *Values) Arguments() []string {
	all := maps.Clone(v.Flags)
	maps.Copy(all, v.Extra)
	arguments := []string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		argument := "--" + name
		if all[name] != "" {
			argument += "=" + all[name]
		}
		arguments = append(arguments, argument)
	}
	return arguments
}

// MayRead reports whether a ConfigMap can be that of the settings: values do not name the
// release, and they name its namespace only for controller.configMapNamespace.
func (v *Values) MayRead(name snapshot.Name) bool {
	if v.Extra["configmap"] != "" {
		return false
	}
	read, _ := snapshot.ParseName(v.Flags["configmap"])
	made := slices.ContainsFunc(v.Objects.ConfigMaps, func(m *corev1.ConfigMap) bool {
		return m.Namespace == read.Namespace && m.Name == read.Name
	})
	return made || read.Namespace == name.Namespace
}

// ReadValues reads files of values. Later ones override earlier ones, as with Helm.
func ReadValues(files ...[]byte) (*Values, error) {
	all := map[string]any{}
	for _, text := range files {
		one := map[string]any{}
		if err := yaml.UnmarshalStrict(text, &one, withNumbers); err != nil {
			return nil, fmt.Errorf("want values of a Helm chart as YAML: %s", model.OneLine(err.Error(), 300))
		}
		if isEmpty(text) {
			return nil, errors.New("want values of a Helm chart (got none)")
		}
		if one["kind"] != nil && one["apiVersion"] != nil {
			return nil, errors.New("want values of a Helm chart (got an object of Kubernetes): give manifests with -f")
		}
		merge(all, one)
	}
	v := &Values{Flags: map[string]string{}, Extra: tree(all).texts("controller.extraArgs"), Settings: tree(all).texts("controller.config")}
	v.Given = append(judge("", all, chart().names), v.settings()...)
	v.judgeForms(all)
	v.fromChart(tree(all))
	return v, nil
}

// isEmpty reports whether YAML has comments alone.
func isEmpty(text []byte) bool {
	var value any
	return yaml.Unmarshal(text, &value) == nil && value == nil
}

// withNumbers keeps a number as it is written: 31536000 is no 3.1536e+07.
func withNumbers(d *json.Decoder) *json.Decoder {
	d.UseNumber()
	return d
}

// merge puts the values of one tree over those of another.
func merge(into, from map[string]any) {
	for name, value := range from {
		below, isTree := value.(map[string]any)
		if old, was := into[name].(map[string]any); isTree && was {
			merge(old, below)
			continue
		}
		into[name] = value
	}
}

// settings gives the settings of controller.config their fates.
func (v *Values) settings() []Argument {
	_, problems := settings.Read(&corev1.ConfigMap{Data: v.Settings})
	var all []Argument
	for key := range v.Settings {
		a := Argument{Name: "controller.config." + model.OneLine(key, mostName), Fate: Kept}
		for _, p := range problems {
			if p.Field == key {
				a.Fate, a.Text = fateOfProblem(p), p.Message()
			}
		}
		all = append(all, a)
	}
	return all
}

// judgeForms gives a fate to values that the chart refuses for their type.
func (v *Values) judgeForms(all map[string]any) {
	faults := map[string]string{}
	ofChart().faults("", all, faults)
	for at, a := range v.Given {
		if faults[a.Name] != "" {
			v.Given[at].Fate, v.Given[at].Text = Refused, faults[a.Name]
			delete(faults, a.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		v.Given = slices.DeleteFunc(v.Given, func(a Argument) bool { return a.Fate == Kept && strings.HasPrefix(name, a.Name+".") })
		v.Given = append(v.Given, Argument{model.OneLine(name, mostName), Refused, faults[name]})
		delete(v.Extra, strings.TrimPrefix(name, "controller.extraArgs."))
	}
}

func fateOfProblem(p model.Problem) Fate {
	switch {
	case p.Denies:
		return Closes
	case p.Reason == model.Unread && !settings.Catalog().Has(p.Field):
		return Unknown
	case p.Reason == model.InvalidValue:
		return Changed
	}
	return WithoutEffect
}

// chartFiles are what Sluice's chart knows of values.
type chartFiles struct {
	names map[string]any
	// withoutEffect are reasons by value.
	withoutEffect map[string]string
}

// chart reads the embedded files of the chart, which a test reads too.
var chart = sync.OnceValue(func() chartFiles {
	c := chartFiles{withoutEffect: map[string]string{}}
	var groups []struct {
		Reason string            `json:"reason"`
		Values map[string]string `json:"values"`
	}
	if err := errors.Join(yaml.Unmarshal(charts.Names, &c.names), yaml.Unmarshal(charts.WithoutEffect, &groups)); err != nil {
		panic(err) // the files are part of this program
	}
	for _, g := range groups {
		for name := range g.Values {
			c.withoutEffect[name] = g.Reason
		}
	}
	return c
})

// refusedValues are those that Sluice's chart refuses, or that name another image.
var refusedValues = map[string]Argument{
	"controller.customTemplate.configMapName": {Fate: Refused, Text: "Sluice's templates are others than nginx.tmpl: leave it out; --template-dir names a folder with templates of Sluice"},
	"controller.image.repository":             {Fate: Changed, Text: "want the repository of Sluice's image"},
	"controller.image.registry":               {Fate: Changed, Text: "want the registry of Sluice's image"},
	"controller.image.tag":                    {Fate: Changed, Text: "want a tag of Sluice's image, or none"},
	"controller.image.digest":                 {Fate: Changed, Text: "want a digest of Sluice's image, or none"},
	"global.image.registry":                   {Fate: Changed, Text: "want the registry of Sluice's image"},
}

// judge gives each value of a tree its fate. names are the names at this place of the
// chart; nil stands for any.
func judge(prefix string, tree, names map[string]any) []Argument {
	var all []Argument
	for name, value := range tree {
		full := prefix + name
		below, known := names[name]
		branch, isTree := value.(map[string]any)
		namesBelow, _ := below.(map[string]any)
		reason := chart().withoutEffect[full]
		switch {
		case full == "controller.config" || full == "controller.extraArgs":
		case reason != "":
			all = append(all, Argument{full, WithoutEffect, reason})
		case names != nil && !known:
			near := keys.NewNames(slices.Sorted(maps.Keys(names))).Nearest(name)
			all = append(all, Argument{model.OneLine(full, mostName), Unknown, "neither chart has this value, so that Helm refuses it" + keys.DidYouMean(near)})
		case isTree && len(namesBelow) > 0:
			all = append(all, judge(full+".", branch, namesBelow)...)
		case refusedValues[full].Fate != "" && fmt.Sprint(value) != "" && value != nil:
			all = append(all, Argument{full, refusedValues[full].Fate, refusedValues[full].Text})
		default:
			all = append(all, Argument{Name: model.OneLine(strings.TrimSuffix(full, "."), mostName), Fate: Kept})
		}
	}
	return all
}
