package chart

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"

	"sluice/test/chart/rendering"
)

// value is one key of values.yaml with its comment.
type value struct {
	// path is where it is, such as controller, image, tag.
	path []string
	// doc is the comment, and kind what it says in braces at its end.
	doc, kind string
	// initial is the default.
	initial any
	// below are the keys of a map that is not empty.
	below []*value
}

func (v *value) name() string { return strings.Join(v.path, ".") }

// open says whether a map may have more keys than the default has.
func (v *value) open() bool { return v.kind == "open" }

// readValues reads values.yaml.
func readValues(t testing.TB) *value {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal(chartFile(t, "values.yaml"), &document); err != nil {
		t.Fatal(err)
	}
	root := &value{}
	root.read(t, document.Content[0])
	return root
}

func chartFile(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(rendering.Folder(), name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func (v *value) read(t testing.TB, node *yaml.Node) {
	t.Helper()
	if err := node.Decode(&v.initial); err != nil {
		t.Fatal(err)
	}
	if node.Kind != yaml.MappingNode || v.kind == "scalars" {
		return
	}
	for i := 0; i < len(node.Content); i += 2 {
		key, content := node.Content[i], node.Content[i+1]
		one := &value{path: append(slices.Clone(v.path), key.Value)}
		// A comment that a blank line parts from its key is not the key's.
		comment := key.HeadComment[strings.LastIndex(key.HeadComment, "\n\n")+1:]
		one.doc = strings.Join(strings.Fields(strings.ReplaceAll(comment, "#", " ")), " ")
		if text, kind, is := strings.Cut(one.doc, " {"); is {
			one.doc, one.kind = text, strings.TrimSuffix(kind, "}")
		}
		one.read(t, content)
		v.below = append(v.below, one)
	}
}

// leaves are the values that have no others below, and open maps.
func (v *value) leaves() []*value {
	if len(v.below) == 0 || v.open() && len(v.path) > 1 {
		return []*value{v}
	}
	var all []*value
	for _, one := range v.below {
		all = append(all, one.leaves()...)
	}
	return all
}

// find gives the value of a path, or the open or free map above it; nil if there
// is none.
func (v *value) find(path []string) *value {
	if len(path) == 0 {
		return v
	}
	for _, one := range v.below {
		if one.path[len(one.path)-1] == path[0] {
			return one.find(path[1:])
		}
	}
	if free, isMap := v.initial.(map[string]any); v.open() || isMap && len(free) == 0 && len(v.path) > 0 {
		return v
	}
	return nil
}

// unused is a group of without-effect.yaml.
type unused struct {
	Reason string            `json:"reason"`
	Values map[string]string `json:"values"`
	// Defaults are those of ingress-nginx's chart by which it does what is without
	// effect here.
	Defaults map[string]any `json:"defaults"`
}

func readUnused(t testing.TB) []unused {
	t.Helper()
	var all []unused
	if err := kyaml.UnmarshalStrict(chartFile(t, "without-effect.yaml"), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// schema is one of values.schema.json.
type schema map[string]any

// patterns are of the kinds of texts that comments name, and of what a map of kind
// streams has.
var patterns = map[string]string{
	// name is the name of an object, or empty for none.
	"name": `^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$`,
	// ending leaves room for the longest that follows it, and one character before.
	"ending": `^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$`,
	// prefix is of the name of a port, which has no two dashes side by side.
	"prefix": `^([a-z0-9]+(-[a-z0-9]+)*)?$`,
	// port is from 1 to 65535.
	"port": `^([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$`,
	// stream is a port of a Service, or has a template that makes one.
	"stream": `^\s*[^\s/:]+/[^\s/:]+:[^\s/:]+(:([Pp][Rr][Oo][Xx][Yy])?){0,2}\s*$|\{\{.*\}\}`,
}

// schemaOf is what a value may be.
func schemaOf(v *value) schema {
	s := schema{}
	if v.doc != "" {
		s["description"] = v.doc
	}
	if len(v.below) > 0 {
		s["type"] = "object"
		below := schema{}
		for _, one := range v.below {
			below[one.path[len(one.path)-1]] = schemaOf(one)
		}
		s["properties"] = below
		return s
	}
	if list, is := strings.CutPrefix(v.kind, "enum "); is {
		var all []any
		for one := range strings.SplitSeq(list, ",") {
			all = append(all, strings.TrimSpace(one))
		}
		if v.initial == nil {
			all = append(all, nil)
		}
		s["enum"] = all
		return s
	}
	if v.kind == "streams" {
		s["type"] = "object"
		s["additionalProperties"] = false
		s["patternProperties"] = schema{patterns["port"]: schema{"type": []string{"string", "null"}, "pattern": patterns["stream"]}}
		return s
	}
	if v.kind == "scalars" {
		s["type"] = "object"
		s["additionalProperties"] = schema{"type": []string{"string", "number", "boolean", "null"}}
		return s
	}
	types := strings.Split(v.kind, "|")
	if pattern, is := patterns[v.kind]; is {
		s["pattern"] = pattern
		types = []string{"string"}
	}
	if v.kind == "" || v.kind == "open" {
		types = []string{typeOf(v.initial)}
	}
	if v.initial == nil {
		types = append(types, "null")
	}
	s["type"] = types
	if len(types) == 1 {
		s["type"] = types[0]
	}
	return s
}

// typeOf is the type of a default, in JSON schema's words.
func typeOf(initial any) string {
	switch initial.(type) {
	case bool:
		return "boolean"
	case int:
		return "integer"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("the comment has to say which type %T is", initial)
}

// wantedSchema is values.schema.json as values.yaml and without-effect.yaml have it.
// It says of which type values are, and not which there are: a name that there is not
// is refused by a template, which names the one that was meant.
func wantedSchema(t testing.TB) string {
	t.Helper()
	root := schemaOf(readValues(t))
	root["$schema"] = "https://json-schema.org/draft-07/schema#"
	root["title"] = "Values of the chart sluice"
	for _, group := range readUnused(t) {
		for name, kind := range group.Values {
			at := root["properties"].(schema)
			path := strings.Split(name, ".")
			for _, part := range path[:len(path)-1] {
				if at[part] == nil {
					at[part] = schema{"type": "object", "properties": schema{}}
				}
				at = at[part].(schema)["properties"].(schema)
			}
			at[path[len(path)-1]] = schema{"type": []string{kind, "null"}, "description": "Without effect. " + group.Reason}
		}
	}
	content, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(content) + "\n"
}

// TestEachValueIsExplained: a comment stands before each value.
func TestEachValueIsExplained(t *testing.T) {
	t.Parallel()
	leaves := readValues(t).leaves()
	if len(leaves) < 250 {
		t.Errorf("values.yaml has %d values only", len(leaves))
	}
	for _, v := range leaves {
		if v.doc == "" || !strings.HasSuffix(v.doc, ".") {
			t.Errorf("values.yaml: %s has no comment that is a sentence (%q)", v.name(), v.doc)
		}
	}
}

// TestValuesOfWrongTypesAreRefused: a value of a wrong type is named in Helm's error.
func TestValuesOfWrongTypesAreRefused(t *testing.T) {
	t.Parallel()
	for values, named := range map[string]string{
		"controller: {replicaCount: many}":                      "'/controller/replicaCount': got string, want integer",
		"controller: {kind: StatefulSet}":                       "'/controller/kind': value must be one of",
		"controller: {config: {proxy-body-size: {size: 8m}}}":   "'/controller/config/proxy-body-size'",
		"controller: {service: {externalTrafficPolicy: Lokal}}": "'/controller/service/externalTrafficPolicy': value must be one of",
		"controller: {kind: Both}":                              "'/controller/kind': value must be one of",
		"controller: {name: \"\"}":                              "'/controller/name'",
		"controller: {name: " + strings.Repeat("a", 53) + "}":   "'/controller/name'",
		"controller: {name: Edge}":                              "'/controller/name'",
		"defaultBackend: {name: a_b}":                           "'/defaultBackend/name'",
		"fullnameOverride: Foo_Bar":                             "'/fullnameOverride'",
		"nameOverride: \"a: b\"":                                "'/nameOverride'",
		"tcp: {abc: shop/a:1}":                                  "'/tcp': additional properties 'abc'",
		"tcp: {\"70000\": shop/a:1}":                            "'/tcp': additional properties '70000'",
		"tcp: {\"0\": shop/a:1}":                                "'/tcp': additional properties '0'",
		"udp: {\"053\": shop/a:1}":                              "'/udp': additional properties '053'",
		"tcp: {\"5432\": nonsense}":                             "'/tcp/5432'",
		"tcp: {\"5432\": shop/a}":                               "'/tcp/5432'",
		"tcp: {\"5432\": \"shop/a:1:PROXI\"}":                   "'/tcp/5432'",
		"udp: {\"53\": 53}":                                     "'/udp/53': got number, want",
		"portNamePrefix: a--b":                                  "'/portNamePrefix'",
	} {
		_, err := rendering.Default().Render(values)
		if err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: want an error that says %s (got %v)", values, named, err)
		}
	}
}

// TestNamesAndStreamsAreTaken: what values of names and streams can be.
func TestNamesAndStreamsAreTaken(t *testing.T) {
	t.Parallel()
	for _, values := range []string{
		"controller: {name: " + strings.Repeat("a", 52) + ", metrics: {enabled: true}, service: {internal: {enabled: true, type: NodePort}}}", "fullnameOverride: edge-1", `fullnameOverride: ""`, `nameOverride: ""`, "portNamePrefix: a-b",
		`tcp: {"1": shop/a:http, "65535": "shop/a:1:PROXY", "9000": "shop/a:1::proxy", "9001": "shop/a:1:PROXY:PROXY"}`,
		`udp: {"53": "{{ .Release.Namespace }}/names:53"}`,
		`tcp: {"5432": "{{ .Release.Namespace }}/database:5432"}`,
	} {
		r, err := rendering.Default().Render(values)
		if err != nil {
			t.Errorf("%s: %v", values, err)
			continue
		}
		for name := range byName(t, r.Objects) {
			if bare := name[strings.LastIndexAny(name, " /")+1:]; len(bare) > 63 || strings.HasPrefix(bare, "-") {
				t.Errorf("%s: an object has the name %q", values, bare)
			}
		}
	}
}
