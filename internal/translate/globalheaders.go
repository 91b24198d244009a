package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// mostGlobalHeaders is the maximum number of headers in a ConfigMap of the settings. Each
// location with a header of its own repeats them.
const mostGlobalHeaders = 64

// globalHeaders is a setting that names a ConfigMap with headers.
type globalHeaders struct {
	key string
	// wrong returns the fault of a header, "" for none.
	wrong func(name, value string) string
}

var globalHeaderKeys = []globalHeaders{
	{"add-headers", keys.WrongResponseHeader},
	{"proxy-set-headers", func(name, _ string) string { return keys.WrongRequestHeader(name) }},
}

// HeaderConfigMaps returns the ConfigMaps with headers that a ConfigMap with settings names,
// sorted, each once. It can be nil.
func HeaderConfigMaps(configMap *corev1.ConfigMap) []snapshot.Name {
	if !namesHeaders(configMap) {
		return nil // the settings are large
	}
	values, _ := settings.Read(configMap)
	var names []snapshot.Name
	for _, of := range globalHeaderKeys {
		text, _ := values.Value(of.key)
		if name, err := snapshot.ParseName(text); text != "" && err == nil {
			names = append(names, name)
		}
	}
	return once(names)
}

// namesHeaders reports whether a ConfigMap has a key for headers, in any case.
func namesHeaders(configMap *corev1.ConfigMap) bool {
	if configMap == nil {
		return false
	}
	for name := range configMap.Data {
		for _, of := range globalHeaderKeys {
			if strings.EqualFold(strings.TrimSpace(name), of.key) {
				return true
			}
		}
	}
	return false
}

// readGlobalHeaders adds the headers of the ConfigMaps that the settings name.
func (m *Memo) readGlobalHeaders(s *snapshot.Snapshot) {
	m.named = nil
	var lists [2][]keys.HeaderLine
	for i, of := range globalHeaderKeys {
		text, _ := m.settings.Value(of.key)
		if text == "" {
			continue
		}
		object, _ := m.settings.Origin(of.key)
		var problems []model.Problem
		lists[i], problems = m.headersAt(s, of, text)
		for _, p := range problems {
			if p.Object == (model.ObjectRef{}) {
				p.Object, p.Field = object, of.key
			}
			m.faults = append(m.faults, p)
		}
	}
	m.settings = m.settings.WithHeaders(lists[0], lists[1])
	m.faults = model.SortProblems(m.faults)
}

// headersAt returns the headers of a ConfigMap in the order of their names. One that cannot be
// followed is left out, with a Problem. Problems without an object are of the setting.
func (m *Memo) headersAt(s *snapshot.Snapshot, of globalHeaders, text string) (list []keys.HeaderLine, problems []model.Problem) {
	name, err := snapshot.ParseName(text)
	if err != nil {
		return nil, []model.Problem{{Reason: model.InvalidValue, Text: err.Error()}}
	}
	ref := refTo(kindConfigMap, name)
	configMap := m.named.configMap(s, name)
	switch {
	case configMap == nil && s.Forbids(ref):
		return nil, []model.Problem{{Reason: model.NotFound, Text: fmt.Sprintf("Sluice has no permission to read ConfigMap %s: name it in rbac.headerConfigMaps of the chart, or grant get on it", claim.Shown(name.String()))}}
	case configMap == nil:
		return nil, []model.Problem{{Reason: model.NotFound, Text: fmt.Sprintf("ConfigMap %s does not exist; none of its headers is set", claim.Shown(name.String()))}}
	case len(configMap.Data) > mostGlobalHeaders:
		return nil, []model.Problem{{Object: ref, Reason: model.InvalidValue, Text: fmt.Sprintf("want at most %d headers (got %d); none of them is set", mostGlobalHeaders, len(configMap.Data))}}
	}
	for _, header := range slices.Sorted(maps.Keys(configMap.Data)) {
		line := keys.HeaderLine{Name: header, Value: strings.TrimSpace(configMap.Data[header])}
		if wrong := wrongGlobalHeader(of, list, line); wrong != "" {
			problems = append(problems, model.Problem{Object: ref, Field: header, Reason: model.InvalidValue, Text: wrong + "; the header is left out, and the others are set"})
			continue
		}
		list = append(list, line)
	}
	return list, problems
}

// wrongGlobalHeader returns the reason why a header cannot be set beside others, "" if it can.
func wrongGlobalHeader(of globalHeaders, others []keys.HeaderLine, line keys.HeaderLine) string {
	same := func(other keys.HeaderLine) bool { return strings.EqualFold(other.Name, line.Name) }
	switch wrong := of.wrong(line.Name, line.Value); {
	case wrong != "":
		return wrong
	case slices.ContainsFunc(others, same):
		return "want each header once, in whatever case"
	case !syntax.IsHeaderValue(line.Value), len(line.Value) > syntax.LongestHeaderValue:
		return fmt.Sprintf("want at most %d printable ASCII characters as the value (got %s)", syntax.LongestHeaderValue, model.Quoted(line.Value))
	}
	if _, err := tokens.PrintHeader(line.Value); err != nil {
		return err.Error()
	}
	return ""
}
