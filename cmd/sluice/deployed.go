package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"

	"sluice/internal/keys"
	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// deployment is a Deployment or DaemonSet that runs a controller.
type deployment struct {
	object model.ObjectRef
	// values are those of the deciding flags that the command line does not give.
	values map[string]string
}

// deployed applies the flags of the controller's Deployment among the manifests, except
// those on the command line. It returns the name of that Deployment, "" for none.
func (f *inputFlags) deployed(in *input) (by string) {
	var all []deployment
	for _, note := range in.Notes {
		if note.Arguments != nil {
			all = append(all, f.deployment(in, note))
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, func(a, b deployment) int { return a.object.Compare(b.object) })
	first := all[0]
	for _, other := range all[1:] {
		if names := differing(first.values, other.values); len(names) > 0 {
			text := fmt.Sprintf("%s runs a controller, too, and their flags differ, so that neither's count: want %s on the command line, or the manifests of one of them", other.object, strings.Join(names, ", "))
			in.controller = fmt.Sprintf("flags: %s: %s", first.object, text)
			in.problems = append(in.problems, model.Problem{Object: first.object, Reason: lint.Several, Text: text})
			return ""
		}
	}
	f.take(in, first)
	return first.object.String()
}

// differing returns the flags with different values, sorted.
func differing(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		valueA, inA := a[name]
		valueB, inB := b[name]
		if inA != inB || valueA != valueB {
			names = append(names, "--"+name)
		}
	}
	return names
}

// deployment parses the arguments of a controller as ingress-nginx's command line, which
// has all flags of Sluice.
func (f *inputFlags) deployment(in *input, note snapshot.Note) deployment {
	d := deployment{object: lint.ParseRef(note.Object), values: map[string]string{}}
	flags := ingressNginxCommand().Flags()
	flags.ParseErrorsAllowlist.UnknownFlags = true
	deciding := decidingFlags(&inputFlags{})
	err := flags.ParseAll(note.Arguments, func(flag *pflag.Flag, value string) error {
		if deciding.Lookup(flag.Name) == nil || f.given.Changed(flag.Name) {
			return nil
		}
		if earlier, is := d.values[flag.Name]; is && flag.Value.Type() == "stringSlice" {
			value = earlier + "," + value
		}
		d.values[flag.Name] = value
		return nil
	})
	if err != nil {
		in.problems = append(in.problems, model.Problem{Object: d.object, Reason: model.InvalidValue, Text: "its arguments: " + err.Error()})
	}
	in.problems = append(in.problems, unknownFlags(flags, d.object, note.Arguments)...)
	return d
}

// unknownFlags reports unknown flags. They are not errors, because another version may have
// them.
func unknownFlags(flags *pflag.FlagSet, object model.ObjectRef, arguments []string) []model.Problem {
	var problems []model.Problem
	for _, argument := range arguments {
		name, isLong := strings.CutPrefix(argument, "--")
		name, _, _ = strings.Cut(name, "=")
		if isLong && name != "" && flags.Lookup(name) == nil {
			problems = append(problems, model.Problem{Object: object, Field: "--" + name, Reason: model.Unread,
				Text: "neither Sluice nor ingress-nginx has this flag" + keys.DidYouMean(meantFlag(flags, name))})
		}
	}
	return problems
}

// decidingFlags returns the flags that affect what is served.
func decidingFlags(of *inputFlags) *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	of.translateFlags.add(flags)
	of.watchFlags.add(flags)
	return flags
}

// take sets the flags of a Deployment. A value that is not valid is a Problem, and does not
// change its flag.
func (f *inputFlags) take(in *input, d deployment) {
	var taken []string
	for _, name := range slices.Sorted(maps.Keys(d.values)) {
		value := d.values[name]
		if err := validFlag(name, value); err != nil {
			text, _ := strings.CutPrefix(err.Error(), "--"+name+": ")
			in.problems = append(in.problems, model.Problem{Object: d.object, Field: "--" + name, Reason: model.InvalidValue, Text: text})
			continue
		}
		_ = f.given.Set(name, value) // it is valid
		taken = append(taken, "--"+name+"="+value)
	}
	if len(taken) > 0 {
		in.controller = fmt.Sprintf("flags: %s, which %s gives", strings.Join(taken, " "), d.object)
	}
	if f.configMap == "" {
		in.settings = fmt.Sprintf("settings: %s names no ConfigMap: all have their defaults", d.object)
	} else if _, named := d.values["configmap"]; named {
		in.settings = fmt.Sprintf("settings: ConfigMap %s, which %s names", f.configMap, d.object)
		if !slices.ContainsFunc(in.Objects.ConfigMaps, func(o *corev1.ConfigMap) bool { return o.Namespace+"/"+o.Name == f.configMap }) {
			in.settings += ", is not among the manifests: " + f.withoutSettings()
		}
	}
	if f.RequireConfigMap && f.configMap == "" {
		field, text, _ := strings.Cut(errRequiredUnnamed.Error(), ": ")
		in.problems = append(in.problems, model.Problem{Object: d.object, Field: field, Reason: model.InvalidValue, Text: text})
	}
}

// withoutSettings describes the effect of a missing ConfigMap.
func (f *inputFlags) withoutSettings() string {
	if f.RequireConfigMap {
		return "every path answers 503"
	}
	return "all have their defaults"
}

// validFlag checks the value of one flag.
func validFlag(name, value string) error {
	if strings.Contains(value, "$(") {
		return fmt.Errorf("want a value that the manifests give (got %q): give it on the command line", value)
	}
	alone := &inputFlags{}
	flags := decidingFlags(alone)
	if flags.Set(name, value) != nil {
		return wrongValue(flags.Lookup(name), value)
	}
	_, err := alone.options()
	return err
}

// decisions returns the deciding flags with their values.
func (f *inputFlags) decisions() map[string]string {
	values := map[string]string{}
	decidingFlags(&inputFlags{}).VisitAll(func(flag *pflag.Flag) {
		now := f.given.Lookup(flag.Name).Value
		if list, is := now.(pflag.SliceValue); is {
			values[flag.Name] = strings.Join(list.GetSlice(), ",")
		} else {
			values[flag.Name] = now.String()
		}
	})
	return values
}
