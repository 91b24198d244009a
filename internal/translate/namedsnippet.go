package translate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// The contexts of named snippets.
const (
	contextLocation = "location"
	contextServer   = "server"
)

// namedSnippet is a snippet that an administrator wrote. Its text is a template whose
// fields are the parameters.
type namedSnippet struct {
	Description string               `json:"description"`
	Context     string               `json:"context"`
	Parameters  map[string]parameter `json:"parameters"`
	Text        string               `json:"text"`

	template *tokens.SnippetTemplate
}

// parameter is a parameter of a named snippet.
type parameter struct {
	Type string `json:"type"`
	// Default is nil for a parameter that each use has to give.
	Default *string `json:"default"`
	// Minimum and Maximum limit an integer.
	Minimum *int `json:"minimum"`
	Maximum *int `json:"maximum"`
	// MaxLength limits a string, in bytes, and Pattern is what it has to match as a whole.
	MaxLength int    `json:"maxLength"`
	Pattern   string `json:"pattern"`
	// Values are those of an enum.
	Values []string `json:"values"`

	pattern *regexp.Regexp
}

// parameterType is a type of parameters.
type parameterType struct {
	// printer prints its values in nginx.conf.
	printer string
	// read returns the value, false if the text is not valid.
	read func(p *parameter, text string) (any, bool)
	// want describes the valid texts.
	want func(p *parameter) string
}

const (
	usualLength    = 500
	largestInteger = 1_000_000_000
)

var parameterTypes = map[string]parameterType{
	"string":   {"verbatim", readString, wantString},
	"integer":  {tokens.PrinterOfWords, readInteger, wantInteger},
	"duration": {tokens.PrinterOfWords, matching(`^[0-9]{1,8}(?:ms|s|m|h|d)$`), fixed("a number with ms, s, m, h or d, such as 30s")},
	"size":     {tokens.PrinterOfWords, matching(`^[0-9]{1,10}[kKmMgG]?$`), fixed("a number of bytes, such as 512, 8k or 10m")},
	"boolean":  {"onoff", readBoolean, fixed("true or false")},
	"path":     {"path", matching(`^/(?:[A-Za-z0-9_@+=:,~-]|\.[A-Za-z0-9_@+=:,~-]|/)*$`), fixed("a path of letters, digits and _ . / @ + = : , ~ - without ..")},
	"host":     {tokens.PrinterOfWords, matching(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?){0,10}$`), fixed("a host name in lower case")},
	"enum":     {tokens.PrinterOfWords, readEnum, wantEnum},
}

// parseNamed reads the definition of a snippet.
func parseNamed(name, definition string) (*namedSnippet, error) {
	s := &namedSnippet{Context: contextLocation}
	if err := yaml.UnmarshalStrict([]byte(definition), s); err != nil {
		return nil, fmt.Errorf("want a YAML document with context, description, parameters and text%s", yamlFault(err))
	}
	printers := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(s.Parameters)) {
		p := s.Parameters[key]
		if err := p.check(key); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", model.Quoted(key), err)
		}
		printers[key], s.Parameters[key] = parameterTypes[p.Type].printer, p
	}
	switch {
	case !keys.IsSnippetName(name):
		return nil, errors.New("want a name of lower case letters, digits, - and .")
	case s.Context != contextLocation && s.Context != contextServer:
		return nil, fmt.Errorf("want the context location or server (got %s)", model.Quoted(s.Context))
	case strings.TrimSpace(s.Text) == "":
		return nil, errors.New("want directives of nginx as its text (got none)")
	}
	var err error
	if s.template, err = tokens.ParseSnippet(s.Text, printers); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	if len(s.Parameters) > 0 {
		return s, nil // its text depends on the arguments
	}
	text, err := s.fill(keys.SnippetUse{})
	if err == nil {
		_, _, err = checkedTexts(map[string]string{s.Context: text})
	}
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	return s, nil
}

// yamlFault is the rest of a sentence about a definition, without the types of Go.
func yamlFault(err error) string {
	text := err.Error()
	if _, field, ok := strings.Cut(text, "json: unknown field "); ok {
		return fmt.Sprintf(": it has no field %s", model.OneLine(field, 100))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return " (got " + wrong.Value + strings.TrimSuffix(" in "+wrong.Field, " in ") + ")"
	}
	_, text, _ = strings.Cut(": "+text, "error converting YAML to JSON")
	return model.OneLine(text, 300)
}

// check checks the definition of a parameter.
func (p *parameter) check(name string) error {
	if !keys.IsParameterName(name) {
		return errors.New("want a name of letters, digits and _ that begins with a lower case letter")
	}
	if _, known := parameterTypes[p.Type]; !known {
		return fmt.Errorf("want one of these types: %s (got %s)", strings.Join(slices.Sorted(maps.Keys(parameterTypes)), ", "), model.Quoted(p.Type))
	}
	if p.Type == "enum" && len(p.Values) == 0 {
		return errors.New("want the values of the enum (got none)")
	}
	if p.Pattern != "" {
		var err error
		if p.pattern, err = regexp.Compile(`^(?:` + p.Pattern + `)$`); err != nil {
			return fmt.Errorf("pattern: %w", err)
		}
	}
	if p.Default != nil {
		_, err := p.value(name, *p.Default)
		return err
	}
	return nil
}

// fill returns the text of the snippet for a use.
func (s *namedSnippet) fill(use keys.SnippetUse) (string, error) {
	given := map[string]string{}
	for _, argument := range use.Arguments {
		if _, known := s.Parameters[argument.Name]; !known {
			return "", fmt.Errorf("it has no parameter %s: want %s", argument.Name, s.listed())
		}
		given[argument.Name] = argument.Value
	}
	values := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		p := s.Parameters[name]
		text, ok := given[name]
		if !ok && p.Default == nil {
			return "", fmt.Errorf("want the parameter %s: %s", name, parameterTypes[p.Type].want(&p))
		}
		if !ok {
			text = *p.Default
		}
		value, err := p.value(name, text)
		if err != nil {
			return "", err
		}
		values[name] = value
	}
	return s.template.Fill(values)
}

func (s *namedSnippet) listed() string {
	if len(s.Parameters) == 0 {
		return "none"
	}
	return claim.Listed(slices.Sorted(maps.Keys(s.Parameters)))
}

// value returns the value that a text gives a parameter.
func (p *parameter) value(name, text string) (any, error) {
	kind := parameterTypes[p.Type]
	value, ok := kind.read(p, text)
	if !ok {
		return nil, fmt.Errorf("%s: want %s (got %s)", name, kind.want(p), model.Quoted(text))
	}
	return value, nil
}

func readString(p *parameter, text string) (any, bool) {
	return text, syntax.PrintedLength(text) <= syntax.LongestHeaderValue && len(text) <= p.length() && tokens.IsPlain(text) && (p.pattern == nil || p.pattern.MatchString(text))
}

func (p *parameter) length() int {
	if p.MaxLength > 0 {
		return p.MaxLength
	}
	return usualLength
}

func wantString(p *parameter) string {
	want := fmt.Sprintf("at most %d bytes of text without control characters", p.length())
	if p.pattern != nil {
		want += " that match " + p.Pattern
	}
	return want
}

func readInteger(p *parameter, text string) (any, bool) {
	n, err := strconv.Atoi(text)
	low, high := p.limits()
	return n, err == nil && strconv.Itoa(n) == text && low <= n && n <= high
}

func (p *parameter) limits() (low, high int) {
	high = largestInteger
	if p.Minimum != nil {
		low = *p.Minimum
	}
	if p.Maximum != nil {
		high = *p.Maximum
	}
	return low, high
}

func wantInteger(p *parameter) string {
	low, high := p.limits()
	return fmt.Sprintf("a whole number from %d to %d", low, high)
}

func readBoolean(_ *parameter, text string) (any, bool) {
	return text == "true", text == "true" || text == "false"
}

func readEnum(p *parameter, text string) (any, bool) { return text, slices.Contains(p.Values, text) }

func wantEnum(p *parameter) string { return model.OneOf(p.Values) }

func matching(pattern string) func(*parameter, string) (any, bool) {
	valid := regexp.MustCompile(pattern)
	return func(_ *parameter, text string) (any, bool) {
		return text, len(text) <= syntax.LongestHeaderValue && valid.MatchString(text)
	}
}

func fixed(want string) func(*parameter) string { return func(*parameter) string { return want } }
