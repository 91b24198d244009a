package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sluice/charts"
	"sluice/internal/model"
)

// schema is what values.schema.json says of a value. It has the keywords that the file uses.
type schema struct {
	Type       typeNames          `json:"type"`
	Enum       []any              `json:"enum"`
	Pattern    string             `json:"pattern"`
	Properties map[string]*schema `json:"properties"`
	Patterns   map[string]*schema `json:"patternProperties"`
	Others     *otherNames        `json:"additionalProperties"`
}

// typeNames are one name or several.
type typeNames []string

func (t *typeNames) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "[") {
		return json.Unmarshal(text, (*[]string)(t))
	}
	*t = make([]string, 1)
	return json.Unmarshal(text, &(*t)[0])
}

// otherNames is the schema of further names, nil if there can be none.
type otherNames struct{ *schema }

func (o *otherNames) UnmarshalJSON(text []byte) error {
	if string(text) == "false" {
		return nil
	}
	return json.Unmarshal(text, &o.schema)
}

// ofChart is the schema of the chart.
var ofChart = sync.OnceValue(func() *schema {
	s := new(schema)
	if err := json.Unmarshal(charts.Schema, s); err != nil {
		panic(err) // the file is part of this program
	}
	return s
})

// typeWords are the types in messages.
var typeWords = map[string]string{"object": "an object", "array": "a list", "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}

// faults adds why the chart refuses a value, or values below it. A null removes a default,
// whatever its type is.
func (s *schema) faults(name string, value any, found map[string]string) {
	if s == nil || value == nil {
		return
	}
	if want := s.wants(value); want != "" {
		got, _ := json.Marshal(value) // it was JSON before
		found[name] = fmt.Sprintf("want %s (got %s); Helm refuses it", want, model.OneLine(string(got), mostGot))
		return
	}
	below, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(below)) {
		full := strings.TrimPrefix(name+"."+key, ".")
		if of, taken := s.below(key); taken {
			of.faults(full, below[key], found)
		} else {
			found[full] = "the chart takes no such name here; Helm refuses it"
		}
	}
}

// mostGot limits the shown length of a value.
const mostGot = 60

// wants returns what a value should be, "" if it is.
func (s *schema) wants(value any) string {
	text, isText := value.(string)
	switch {
	case len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(name string) bool { return hasType(value, name) }):
		var words []string
		for _, name := range s.Type {
			if name != "null" {
				words = append(words, typeWords[name])
			}
		}
		return model.OneOf(words)
	case len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(one any) bool { return one == value }):
		var words []string
		for _, one := range s.Enum {
			if word, is := one.(string); is && word != "" {
				words = append(words, word)
			}
		}
		return model.OneOf(words)
	case s.Pattern != "" && isText && !regexp.MustCompile(s.Pattern).MatchString(text):
		return "text of the form " + s.Pattern
	}
	return ""
}

// below returns the schema of a name, and whether there can be one.
func (s *schema) below(key string) (*schema, bool) {
	if of := s.Properties[key]; of != nil {
		return of, true
	}
	for pattern, of := range s.Patterns {
		if regexp.MustCompile(pattern).MatchString(key) {
			return of, true
		}
	}
	if s.Others != nil {
		return s.Others.schema, s.Others.schema != nil
	}
	return nil, true
}

// hasType reports whether a value has a type of JSON Schema.
func hasType(value any, name string) bool {
	switch value := value.(type) {
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case json.Number:
		number, err := strconv.ParseFloat(value.String(), 64)
		return name == "number" || name == "integer" && err == nil && number == float64(int64(number))
	}
	return false
}
