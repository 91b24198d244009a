package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"sluice/internal/model"
)

// SnippetUses are uses of named snippets, in order.
type SnippetUses []SnippetUse

// SnippetUse is a named snippet with arguments.
type SnippetUse struct {
	Name      string
	Arguments []SnippetArgument
}

// SnippetArgument is the value of a parameter, as written.
type SnippetArgument struct {
	Name, Value string
}

const (
	mostUses      = 16
	mostArguments = 32
)

var (
	snippetName   = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$`)
	parameterName = regexp.MustCompile(`^[a-z][a-zA-Z0-9_]{0,40}$`)
)

// IsSnippetName reports whether a named snippet can have a name, and IsParameterName the
// same for a parameter of one.
func IsSnippetName(name string) bool { return snippetName.MatchString(name) }

// IsParameterName reports whether a parameter can have a name.
func IsParameterName(name string) bool { return parameterName.MatchString(name) }

// UnmarshalText accepts uses on lines of their own, or separated by semicolons. Each is a
// name and then NAME=VALUE, where a value with spaces, quotes or semicolons is a string
// of JSON.
func (u *SnippetUses) UnmarshalText(text []byte) error {
	var uses SnippetUses
	for line := range strings.Lines(string(text)) {
		rest := strings.TrimSpace(line)
		for rest != "" {
			use, behind, err := readUse(rest)
			if err != nil {
				return &specific{err.Error()}
			}
			uses, rest = append(uses, use), behind
		}
	}
	switch {
	case len(uses) == 0:
		return &specific{"it names no snippet"}
	case len(uses) > mostUses:
		return &specific{fmt.Sprintf("it names %d snippets, more than %d", len(uses), mostUses)}
	}
	*u = uses
	return nil
}

// readUse reads a use to the end or to a semicolon.
func readUse(text string) (use SnippetUse, rest string, err error) {
	use.Name, rest = word(text, " \t;")
	if !IsSnippetName(use.Name) {
		return use, "", fmt.Errorf("%s is no name of a snippet", model.Quoted(use.Name))
	}
	for {
		rest = strings.TrimLeft(rest, " \t")
		if behind, ends := strings.CutPrefix(rest, ";"); ends || rest == "" {
			return use, strings.TrimLeft(behind, " \t"), nil
		}
		var argument SnippetArgument
		if argument, rest, err = readArgument(rest); err != nil {
			return use, "", fmt.Errorf("snippet %s: %w", use.Name, err)
		}
		for _, other := range use.Arguments {
			if other.Name == argument.Name {
				return use, "", fmt.Errorf("snippet %s: %s is given twice", use.Name, argument.Name)
			}
		}
		if use.Arguments = append(use.Arguments, argument); len(use.Arguments) > mostArguments {
			return use, "", fmt.Errorf("snippet %s: more than %d arguments", use.Name, mostArguments)
		}
	}
}

var errArgument = errors.New(`want NAME=VALUE for each argument, and a value with spaces, quotes or semicolons in double quotes as in JSON`)

func readArgument(text string) (argument SnippetArgument, rest string, err error) {
	argument.Name, rest = word(text, "= \t;")
	rest, valued := strings.CutPrefix(rest, "=")
	if !valued || !IsParameterName(argument.Name) {
		return argument, "", fmt.Errorf("%w (got %s)", errArgument, model.Quoted(text))
	}
	if !strings.HasPrefix(rest, `"`) {
		argument.Value, rest = word(rest, " \t;")
		if strings.ContainsAny(argument.Value, `"'`) || !printable(argument.Value) {
			return argument, "", fmt.Errorf("%w (got %s)", errArgument, model.Quoted(text))
		}
		return argument, rest, nil
	}
	decoder := json.NewDecoder(strings.NewReader(rest))
	if err := decoder.Decode(&argument.Value); err != nil {
		return argument, "", fmt.Errorf("%w (got %s)", errArgument, model.Quoted(text))
	}
	if rest = rest[decoder.InputOffset():]; rest != "" && !strings.ContainsAny(rest[:1], " \t;") {
		return argument, "", fmt.Errorf("%w (got %s)", errArgument, model.Quoted(text))
	}
	return argument, rest, nil
}

// word cuts a text before the first of some characters.
func word(text, ends string) (before, rest string) {
	if at := strings.IndexAny(text, ends); at >= 0 {
		return text[:at], text[at:]
	}
	return text, ""
}
