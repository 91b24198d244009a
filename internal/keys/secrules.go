package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/model"
)

// SecRules are directives of ModSecurity, each as its lines: a chain of rules has several.
// The lines are written anew from what was understood of the text, so that ModSecurity
// cannot read it in another way. Only directives, operators and actions that are known to
// be harmless are accepted: nothing reads or writes files, runs programs, or keeps state
// that other Ingresses share.
type SecRules [][]string

// longestRule is the most bytes of a directive, with its chain and as nginx.conf quotes it.
const longestRule = model.LongestToken - 100

// UnmarshalText accepts directives on lines of their own. A backslash at the end of a line
// continues it.
func (r *SecRules) UnmarshalText(text []byte) error {
	if len(text) > longestSnippet {
		return &specific{fmt.Sprintf("it has %d bytes, more than %d", len(text), longestSnippet)}
	}
	var reader ruleReader
	for _, line := range logicalLines(string(text)) {
		if err := reader.read(line); err != nil {
			return &specific{fmt.Sprintf("line %d: %v", line.number, err)}
		}
	}
	switch {
	case reader.chained:
		return &specific{"it ends within a chain: want a SecRule after the last action chain"}
	case len(reader.rules) == 0:
		return &specific{"it has no directive"}
	}
	*r = reader.rules
	return nil
}

// ruleLine is a directive, with the number of its first line.
type ruleLine struct {
	number int
	text   string
}

// logicalLines joins continued lines, and drops comments and empty lines.
func logicalLines(text string) []ruleLine {
	var lines []ruleLine
	continues, number := false, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		if !continues && (strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") || strings.TrimSpace(line) == "") {
			continue
		}
		if !continues {
			lines = append(lines, ruleLine{number: number})
		}
		line, continues = strings.CutSuffix(line, `\`)
		lines[len(lines)-1].text += line
	}
	return lines
}

// ruleReader collects the directives of a text.
type ruleReader struct {
	rules SecRules
	// chained is set after a rule with the action chain.
	chained bool
}

// read adds a directive. A rule of a chain joins the rules before it.
func (r *ruleReader) read(line ruleLine) error {
	if strings.ContainsFunc(line.text, isOddInRule) {
		return fmt.Errorf("want text without control characters")
	}
	words, err := ruleWords(line.text)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return fmt.Errorf(`it has only a \ at its end: want a directive before it`)
	}
	written, chained, err := writeDirective(words)
	switch {
	case err != nil:
		return err
	case r.chained && words[0].text != "SecRule":
		return fmt.Errorf("%s within a chain: want a SecRule after the action chain", model.Quoted(words[0].text))
	case r.chained:
		last := len(r.rules) - 1
		r.rules[last] = append(r.rules[last], written)
	default:
		r.replace(words[0].text)
		r.rules = append(r.rules, []string{written})
	}
	r.chained = chained
	bytes := 0
	for _, each := range r.rules[len(r.rules)-1] {
		bytes += len(each) + strings.Count(each, `"`) + strings.Count(each, `\`) + len(`\n`)
	}
	if bytes > longestRule {
		return fmt.Errorf("a rule with its chain has %d bytes, more than %d: split it", bytes, longestRule)
	}
	return nil
}

// replace removes an earlier value of a directive: ModSecurity keeps the last one of a text,
// but the first one of several texts, which these become.
func (r *ruleReader) replace(name string) {
	if simpleDirectives[name] == nil || slices.Contains(repeatedDirectives, name) {
		return
	}
	r.rules = slices.DeleteFunc(r.rules, func(lines []string) bool { return strings.HasPrefix(lines[0]+" ", name+" ") })
}

var repeatedDirectives = []string{"SecRuleRemoveById", "SecRuleRemoveByTag", "SecRuleRemoveByMsg", "SecMarker", "SecResponseBodyMimeType", "SecResponseBodyMimeTypesClear", "SecComponentSignature"}

func isOddInRule(r rune) bool {
	return r < ' ' && r != '\t' || r == 0x7f || r == '\uFFFD' || r >= 0x80 && r < 0xa0
}

// ruleWord is an argument without its quotes. Quotes within are \x22, which means the same
// in a pattern.
type ruleWord struct {
	text   string
	quotes bool
}

// ruleWords splits a directive. ModSecurity reads a quote behind two backslashes in
// different ways, so that is an error.
func ruleWords(line string) ([]ruleWord, error) {
	var words []ruleWord
	for rest := strings.Trim(line, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		if rest[0] != '"' {
			end := strings.IndexAny(rest+" ", " \t")
			if strings.ContainsAny(rest[:end], `"'`) {
				return nil, fmt.Errorf("%s has a quote: want arguments in double quotes, or without", model.Quoted(rest[:end]))
			}
			words, rest = append(words, ruleWord{text: rest[:end]}), rest[end:]
			continue
		}
		end := 1
		for end < len(rest) && !(rest[end] == '"' && rest[end-1] != '\\') {
			end++
		}
		if end == len(rest) || strings.Contains(rest[:end], `\\"`) || end+1 < len(rest) && rest[end+1] != ' ' && rest[end+1] != '\t' {
			return nil, fmt.Errorf(`an argument begins with a quote and does not end with one: want "...", in which a quote is \x22`)
		}
		inner := rest[1:end]
		words = append(words, ruleWord{strings.ReplaceAll(inner, `\"`, `\x22`), strings.Contains(inner, `\"`)})
		rest = rest[end+1:]
	}
	return words, nil
}

// simpleDirectives are directives whose arguments one pattern describes, joined by spaces.
// The arguments are printed in quotes if the name is in quotedDirectives.
var simpleDirectives = map[string]*regexp.Regexp{
	"SecRuleEngine": regexp.MustCompile(`^(?:On|Off|DetectionOnly)$`), "SecRequestBodyAccess": onOff, "SecResponseBodyAccess": onOff,
	"SecRequestBodyLimit": count, "SecRequestBodyNoFilesLimit": count, "SecRequestBodyInMemoryLimit": count, "SecResponseBodyLimit": count,
	"SecRequestBodyJsonDepthLimit": count, "SecArgumentsLimit": count, "SecPcreMatchLimit": count, "SecPcreMatchLimitRecursion": count,
	"SecRequestBodyLimitAction": atLimit, "SecResponseBodyLimitAction": atLimit,
	"SecResponseBodyMimeType": regexp.MustCompile(`^[a-zA-Z0-9.+*/-]+(?: [a-zA-Z0-9.+*/-]+)*$`), "SecResponseBodyMimeTypesClear": regexp.MustCompile(`^$`),
	"SecAuditEngine": regexp.MustCompile(`^(?:On|Off|RelevantOnly)$`), "SecAuditLogParts": regexp.MustCompile(`^[A-Z]{1,20}$`),
	"SecAuditLogFormat": regexp.MustCompile(`^(?:JSON|Native)$`), "SecAuditLogType": regexp.MustCompile(`^Serial$`), "SecAuditLog": regexp.MustCompile(`^/dev/stdout$`),
	"SecAuditLogRelevantStatus": regexp.MustCompile(`^[0-9^$?:|()!\[\]-]+$`),
	"SecRuleRemoveById":         regexp.MustCompile(`^[0-9]{1,10}(?:-[0-9]{1,10})?(?: [0-9]{1,10}(?:-[0-9]{1,10})?)*$`),
	"SecRuleRemoveByTag":        plainText, "SecRuleRemoveByMsg": plainText, "SecComponentSignature": plainText,
	"SecMarker": regexp.MustCompile(`^[a-zA-Z0-9_.:-]+$`), "SecArgumentSeparator": regexp.MustCompile(`^[&;]$`), "SecCookieFormat": regexp.MustCompile(`^[01]$`),
	"SecStatusEngine": regexp.MustCompile(`^Off$`),
}

var (
	onOff     = regexp.MustCompile(`^(?:On|Off)$`)
	count     = regexp.MustCompile(`^[0-9]{1,10}$`)
	atLimit   = regexp.MustCompile(`^(?:Reject|ProcessPartial)$`)
	plainText = regexp.MustCompile(`^[^"'\\]{1,400}$`)
)

var quotedDirectives = []string{"SecRuleRemoveByTag", "SecRuleRemoveByMsg", "SecComponentSignature", "SecAuditLogRelevantStatus"}

// instead are hints for directives that are not accepted.
var insteadOfDirective = map[string]string{
	"Include":           `write enable-owasp-core-rules: "true" for the OWASP core rule set, and other rules themselves`,
	"IncludeOptional":   `write enable-owasp-core-rules: "true" for the OWASP core rule set, and other rules themselves`,
	"SecAuditLog":       "want /dev/stdout",
	"SecAuditLogType":   "want Serial",
	"SecStatusEngine":   "want Off",
	"SecUnicodeMapFile": "leave it out",
}

// writeDirective checks a directive and returns its line. chained is set if a rule has the
// action chain.
func writeDirective(words []ruleWord) (line string, chained bool, err error) {
	name, arguments := canonical(words[0].text), words[1:]
	words[0].text = name
	texts := make([]string, len(arguments))
	for i, a := range arguments {
		texts[i] = a.text
	}
	joined := strings.Join(texts, " ")
	switch form := simpleDirectives[name]; {
	case form != nil && form.MatchString(joined) && slices.Contains(quotedDirectives, name):
		return name + ` "` + joined + `"`, false, nil
	case form != nil && form.MatchString(joined):
		return strings.TrimSpace(name + " " + joined), false, nil
	case form != nil:
		return "", false, notAccepted(name, " with "+model.Quoted(joined))
	}
	switch {
	case name == "SecRule" && (len(arguments) == 2 || len(arguments) == 3):
		return writeRule(arguments)
	case (name == "SecAction" || name == "SecDefaultAction") && len(arguments) == 1:
		actions, _, err := writeActions(arguments[0])
		return name + " " + actions, false, err
	case name == "SecRuleUpdateActionById" && len(arguments) == 2 && count.MatchString(texts[0]):
		actions, _, err := writeActions(arguments[1])
		return name + " " + texts[0] + " " + actions, false, err
	case name == "SecRuleUpdateTargetById" && len(arguments) == 2 && count.MatchString(texts[0]),
		(name == "SecRuleUpdateTargetByTag" || name == "SecRuleUpdateTargetByMsg") && len(arguments) == 2 && plainText.MatchString(texts[0]):
		targets, err := writeVariables(arguments[1])
		if name != "SecRuleUpdateTargetById" {
			texts[0] = `"` + texts[0] + `"`
		}
		return name + " " + texts[0] + ` "` + targets + `"`, false, err
	}
	return "", false, notAccepted(name, "")
}

func notAccepted(name, with string) error {
	if hint := insteadOfDirective[name]; hint != "" {
		return fmt.Errorf("%s%s is not accepted: %s", model.Quoted(name), with, hint)
	}
	return fmt.Errorf("%s%s is not accepted: want a directive that docs/modsecurity.md lists, with its arguments", model.Quoted(name), with)
}

// canonical returns the name of a directive as this file spells it; ModSecurity ignores its
// case.
func canonical(name string) string {
	for known := range simpleDirectives {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	for _, known := range []string{"SecRule", "SecAction", "SecDefaultAction", "SecRuleUpdateActionById", "SecRuleUpdateTargetById", "SecRuleUpdateTargetByTag", "SecRuleUpdateTargetByMsg", "Include", "IncludeOptional", "SecUnicodeMapFile"} {
		if strings.EqualFold(name, known) {
			return known
		}
	}
	return name
}
