package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/syntax"
)

const (
	customHeaders  = "custom-headers"
	allowedHeaders = "global-allowed-response-headers"
)

// ConfigMapDelegation is the annotation by which a ConfigMap lets Ingresses of other
// namespaces use it: namespaces, separated by commas, or "*" for all.
const ConfigMapDelegation = "sluice.io/delegation"

// customHeadersBlock is the data of the template custom-headers.
type customHeadersBlock struct {
	// HideHSTS repeats a directive that the location would no longer inherit.
	HideHSTS bool           `json:"hideHSTS,omitempty"`
	Headers  []customHeader `json:"headers,omitempty"`
	// Type replaces the Content-Type of backends, in the variable TypeVariable; empty
	// to keep it.
	Type         string `json:"type,omitempty"`
	TypeVariable string `json:"typeVariable,omitempty"`
}

type customHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// readCustomHeaders reads headers for responses from the lines of an annotation and from a
// ConfigMap. Of a header in both, the line counts.
func (t *translation) readCustomHeaders(ing *owner, asked *annotations.CustomHeaders) *claim.Attached {
	block := customHeadersBlock{HideHSTS: ing.Settings.Controller().HSTS.Enabled}
	written := map[string]string{} // names in lower case
	for _, line := range asked.Lines {
		written[strings.ToLower(line.Name)] = line.Name
		block.add(line.Name, line.Value)
	}
	size, text := 0, ""
	if asked.ConfigMap != "" {
		var reason model.Reason
		if size, reason, text = t.configuredHeaders(ing, asked.ConfigMap, written, &block); text != "" {
			return ing.refuse(customHeaders, reason, text)
		}
	}
	if len(written) == 0 {
		return nil
	}
	return &claim.Attached{Size: size, Block: annotations.BlockOf(ing.Ref, customHeaders, block)}
}

// configuredHeaders adds the headers of a ConfigMap that are not written yet. text is the
// reason why they cannot be added, empty if they can.
func (t *translation) configuredHeaders(ing *owner, of string, written map[string]string, block *customHeadersBlock) (size int, reason model.Reason, text string) {
	name, err := snapshot.ParseName(of)
	if err != nil {
		return 0, model.InvalidValue, err.Error()
	}
	configMap, text := t.configMapFor(ing, name)
	if configMap == nil {
		return 0, model.NotFound, text
	}
	inLines := maps.Clone(written)
	for _, header := range slices.Sorted(maps.Keys(configMap.Data)) {
		value := strings.TrimSpace(configMap.Data[header])
		if text := wrongHeader(header, value, ing.Settings.Annotations.ResponseHeaders); text != "" {
			return 0, model.InvalidValue, fmt.Sprintf("ConfigMap %s: %s", name, text)
		}
		folded := strings.ToLower(header)
		if inLines[folded] != "" {
			continue
		}
		if other := written[folded]; other != "" {
			return 0, model.InvalidValue, fmt.Sprintf("ConfigMap %s: want each header once, in whatever case (got %s and %s)", name, other, header)
		}
		written[folded] = header
		block.add(header, value)
		size += len(header) + len(value)
	}
	return size, "", ""
}

// contentType is the header that nginx would repeat on pages of its own.
const contentType = "Content-Type"

func (b *customHeadersBlock) add(name, value string) {
	if strings.EqualFold(name, contentType) {
		b.Type, b.TypeVariable = value, "custom_headers_type_"+model.SHA256(value)[:32]
		return
	}
	b.Headers = append(b.Headers, customHeader{name, value})
}

// Without returns the block without some headers, nil if nothing is left, and the names of
// those that it had.
func (b customHeadersBlock) Without(names []string) (data any, had []string) {
	kept := customHeadersBlock{HideHSTS: b.HideHSTS, Type: b.Type, TypeVariable: b.TypeVariable}
	for _, header := range b.Headers {
		at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, header.Name) })
		if at < 0 {
			kept.Headers = append(kept.Headers, header)
		} else {
			had = append(had, names[at])
		}
	}
	if len(kept.Headers) == 0 && kept.Type == "" {
		return nil, had
	}
	return kept, had
}

// configMapFor reads a ConfigMap that an Ingress names. If the Ingress may not use it,
// configMap is nil and text has the reason. One of another namespace that is not
// delegated is reported like a missing one.
func (t *translation) configMapFor(ing *owner, name snapshot.Name) (configMap *corev1.ConfigMap, text string) {
	configMap = ing.reads.configMap(t.snap, name)
	switch own := name.Namespace == ing.Ref.Namespace || t.settings.Annotations.CrossNamespace; {
	case configMap == nil && t.snap.Forbids(refTo(kindConfigMap, name)):
		return nil, fmt.Sprintf("Sluice has no permission to read ConfigMap %s: name it in rbac.headerConfigMaps of the chart, or grant get on it", claim.Shown(name.String()))
	case own && configMap == nil:
		return nil, fmt.Sprintf("ConfigMap %s does not exist", claim.Shown(name.String()))
	case own:
		return configMap, ""
	case configMap == nil || !claim.Delegates(configMap.Annotations[ConfigMapDelegation], ing.Ref.Namespace):
		return nil, fmt.Sprintf("no ConfigMap %s is delegated to the namespace %s (its annotation %s has to name %s, or *)", claim.Shown(name.String()), ing.Ref.Namespace, ConfigMapDelegation, model.Quoted(ing.Ref.Namespace))
	}
	return configMap, ""
}

// wrongHeader returns the reason why a header cannot be added, empty if it can.
func wrongHeader(name, value string, allowed []string) string {
	same := func(other string) bool { return strings.EqualFold(other, name) }
	switch {
	case !syntax.IsHeaderName(name, syntax.LongestHeaderName):
		return fmt.Sprintf("want names of headers, of at most 46 letters, digits, - and _, as its keys (got %s)", model.Quoted(name))
	case keys.FramesResponse(name):
		return fmt.Sprintf("want no header that nginx writes itself (got %s)", name)
	case !slices.ContainsFunc(allowed, same):
		return fmt.Sprintf("want headers that the setting %s allows (got %s)", allowedHeaders, name)
	case value == "", !syntax.IsHeaderValue(value), syntax.PrintedLength(value) > syntax.LongestHeaderValue:
		return fmt.Sprintf("want 1 to %d printable ASCII characters as the value of %s, where a $ counts as 16 (got %s)", syntax.LongestHeaderValue, name, model.Quoted(value))
	}
	return ""
}
