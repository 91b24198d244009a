package render

import (
	"fmt"
	"reflect"
	"strconv"
	"unicode"
	"unicode/utf8"

	"sluice/internal/model"
)

// tokenLimit is the longest token, in bytes as printed.
const tokenLimit = model.LongestToken

// Refusal is the error of a printer: a value that cannot be written as one
// token. Want says what would be valid.
type Refusal struct {
	Want string
	Got  string
}

// Error gives the refusal as one line; the value is shortened and quoted.
func (r *Refusal) Error() string {
	got := r.Got
	if len(got) > 60 {
		got = got[:60] + "..."
	}
	return fmt.Sprintf("want %s (got %s)", r.Want, strconv.QuoteToASCII(got))
}

// printer turns a value into the text of one token.
type printer func(value any) (string, error)

// printers are what a printed value of a template may pass last. Their names
// are the words that templates use.
//
//	word      a token without quotes
//	part      a piece of a token without quotes; the guard puts it inside words
//	host      a server name: a DNS name, or "*." and a DNS name
//	alias     a further server name, which may be a pattern
//	onelabel  a server name that stands for the names of a wildcard host
//	str       a quoted token in which nginx would read $ as a variable; $ is refused
//	literal   a quoted token in which nginx reads $ as itself: a location's path
//	regex     a quoted regular expression
//	subst     a quoted token with variables, of which only harmless ones are known
//	logformat a subst that may also name what is for the access log only
//	streamformat a quoted token with variables of the stream level
//	verbatim  a quoted token in which nginx reads variables, with each $ as the value of one
//	header    a subst whose variables never hold a line end
//	url       a header that is the URL of a redirect, in which $uri is as the client sent it
//	target    a subst with captures too, whose other variables leave them as they are
//	mappattern a source value of a map block that is a pattern
//	variables a quoted token of variables
//	mapkey    a source value of a map or geo block, never a pattern or a keyword
//	variable  "$name" of a known variable
//	size      a number of bytes such as 8k
//	duration  a time such as 60s; a bare number is seconds
//	path      an absolute path of a file
//	onoff     "on" or "off" for a bool
func printers() map[string]printer {
	return map[string]printer{
		"word": printWord, "part": printPart, "host": printHost, "alias": printAlias, "onelabel": printOneLabel,
		"str": printStr, "literal": printLiteral, "regex": printRegex, "subst": printSubst, "logformat": printLogFormat, "streamformat": printStreamFormat, "verbatim": printVerbatim, "header": printHeader, "url": printURL, "target": printTarget, "mapkey": printMapKey, "mappattern": printMapPattern, "variables": printVariableList,
		"variable": printVariable, "size": printSize, "duration": printDuration, "path": printPath, "onoff": printOnOff,
	}
}

// text gives the string of a value: a string, a whole number or something that
// can describe itself.
func text(value any) (string, error) {
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

// check refuses what no printer may let through: line ends, NUL and the other
// control characters, and bytes that are not UTF-8.
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

// plain reports whether s is printable ASCII, as nearly everything is.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// limit refuses a token that nginx could not read.
func limit(token, value string) (string, error) {
	if len(token) > tokenLimit {
		return "", &Refusal{Want: fmt.Sprintf("at most %d bytes", tokenLimit), Got: value}
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

// holds reports whether s is not empty and made of nothing else than the set.
func (a *allowed) holds(s string) bool {
	for i := 0; i < len(s); i++ {
		if !a[s[i]] {
			return false
		}
	}
	return s != ""
}
