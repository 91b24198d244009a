// Package tokens prints values as tokens of nginx.conf. In go values; out comes the text of
// exactly one token each, or a Refusal. Its Walker refuses a template that prints a value in
// any other way, and learns the grammar of the templates. SnippetTemplate is such a template
// that an administrator wrote.
package tokens

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"text/template"
	"unicode"
	"unicode/utf8"

	"sluice/internal/model"
)

// TokenLimit is the longest token, in bytes as printed.
const TokenLimit = model.LongestToken

// Refusal is the error of a printer: the value cannot be written as one token. Want
// describes valid values.
type Refusal struct {
	Want string
	Got  string
}

// Error returns one line, in which the value is shortened and quoted.
func (r *Refusal) Error() string {
	return fmt.Sprintf("want %s (got %s)", r.Want, model.Quoted(r.Got))
}

// TemplateFault returns the text of an error of a template for users, without its name.
func TemplateFault(err error) string {
	var refusal *Refusal
	var exec template.ExecError
	switch {
	case errors.As(err, &refusal):
		return "cannot be written to nginx.conf: " + refusal.Error()
	case errors.As(err, &exec):
		return "template cannot be executed: " + exec.Err.Error()
	}
	return err.Error()
}

// printer turns a value into the text of one token.
type printer func(value any) (string, error)

// Printers are the functions of templates that make one token of a value, by name.
//
//	word         a token without quotes
//	part         a piece of a token without quotes; the walker puts it inside words
//	host         a server name: a DNS name, or "*." and a DNS name
//	alias        a further server name, which may be a pattern
//	onelabel     a server name for all names of a wildcard host
//	str          a quoted token where nginx would read $ as a variable; $ is refused
//	literal      a quoted token where nginx reads $ as itself: a location's path
//	regex        a quoted regular expression
//	bounded      a quoted regular expression of a user, which gets limits, its own or those of names
//	jsonformat   a quoted token with harmless variables, with logs_utf8_ in front unless they are always UTF-8
//	logformat    a quoted token with harmless variables, and those of the access log
//	streamformat a quoted token with variables of the stream level
//	verbatim     a quoted token where nginx reads variables; $ becomes a variable with a $
//	header       a quoted token with harmless variables that never contain a line end
//	argument     an argument for Lua, by its type: see model.Computed
//	url          a header with the URL of a redirect; $uri is the path as the client sent it
//	parameter    a quoted token with harmless variables, which may contain a line end
//	target       a quoted token with captures, and variables that do not change captures
//	mappattern   a key of a map block that is a pattern
//	variables    a quoted token of variables
//	mapkey       a key of a map or geo block, never a pattern or a keyword
//	variable     "$name" of a known variable
//	size         a number of bytes such as 8k
//	duration     a time such as 60s; a bare number is seconds
//	path         an absolute path of a file
//	onoff        "on" or "off" for a bool
//	lines        a quoted token of several lines of headers, of our own making
//	rules        a quoted token of several lines for ModSecurity, whose directives do not read variables
func Printers() map[string]printer {
	return map[string]printer{
		"word": OfText(PrintWord), "part": OfText(printPart), "host": OfText(PrintHost), "alias": printAlias, "onelabel": OfText(printOneLabel),
		"str": OfText(printStr), "literal": printLiteral, "regex": printRegex, "bounded": printBounded, "verbatim": OfText(printVerbatim),
		"logformat": OfText(printLogFormat), "jsonformat": OfText(printJSONFormat), "streamformat": OfText(printStreamFormat), "header": OfText(PrintHeader), "argument": printArgument, "url": printAnyURL, "parameter": OfText(printParameter), "target": OfText(printTarget),
		"mapkey": OfText(printMapKey), "mappattern": printMapPattern, "variables": printVariableList, "variable": OfText(PrintVariable),
		"size": OfText(printSize), "duration": printDuration, "path": OfText(printPath), "onoff": printOnOff, "lines": printLines, "rules": printRules,
	}
}

// OfText returns a printer for values with a text.
func OfText(print func(s string) (string, error)) printer {
	return func(value any) (string, error) {
		s, err := Text(value)
		if err != nil {
			return "", err
		}
		return print(s)
	}
}

// Text returns the text of a string, a whole number or a Stringer.
func Text(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case fmt.Stringer:
		return v.String(), nil
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	}
	return "", &Refusal{Want: "text or a whole number", Got: fmt.Sprintf("%T", value)}
}

// check refuses control characters, such as line ends and NUL, and bytes that are not
// UTF-8.
func check(s string) error {
	if plain(s) {
		return nil
	}
	if !utf8.ValidString(s) {
		return &Refusal{Want: "valid UTF-8", Got: s}
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return &Refusal{Want: "text without line ends and other control characters", Got: s}
		}
	}
	return nil
}

// IsPlain reports whether a printer can quote a text: it has no control characters, and is
// UTF-8.
func IsPlain(s string) bool { return check(s) == nil }

// plain reports whether s is printable ASCII: a fast check for most values.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// limit refuses a token that is too long for nginx.
func limit(token, value string) (string, error) {
	if len(token) > TokenLimit {
		return "", &Refusal{Want: fmt.Sprintf("at most %d bytes", TokenLimit), Got: value}
	}
	return token, nil
}

// allowed is a set of ASCII bytes.
type allowed [256]bool

func bytesOf(s string) *allowed {
	var set allowed
	for i := 0; i < len(s); i++ {
		set[s[i]] = true
	}
	return &set
}

// Holds reports whether s is not empty and all its bytes are in the set.
func (a *allowed) Holds(s string) bool {
	for i := 0; i < len(s); i++ {
		if !a[s[i]] {
			return false
		}
	}
	return s != ""
}
