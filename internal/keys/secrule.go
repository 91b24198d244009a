package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// The ids of the rules of Sluice and of the OWASP core rule set. A rule of the same id
// would collide with them.
const (
	firstRuleOfSluice, lastRuleOfSluice = 899000, 899999
	setupRule                           = 900990
	firstCoreRule, lastCoreRule         = 901000, 999999
)

// writeRule checks the variables, the operator and the actions of a rule, and returns its
// line.
func writeRule(arguments []ruleWord) (line string, chained bool, err error) {
	variables, err := writeVariables(arguments[0])
	if err != nil {
		return "", false, err
	}
	operator, err := writeOperator(arguments[1])
	if err != nil {
		return "", false, err
	}
	line = "SecRule " + variables + " " + operator
	if len(arguments) == 2 {
		return line, false, nil
	}
	actions, chained, err := writeActions(arguments[2])
	return line + " " + actions, chained, err
}

// ruleVariables matches the variables of a rule, such as ARGS|!ARGS:password.
var ruleVariables = regexp.MustCompile(`^[a-zA-Z0-9_|&!:,./*^$()\[\]{}+?\\-]*[a-zA-Z0-9_/*)\]}]$`)

func writeVariables(word ruleWord) (string, error) {
	if !ruleVariables.MatchString(word.text) {
		return "", fmt.Errorf("want variables such as ARGS|!ARGS:password (got %s)", model.Quoted(word.text))
	}
	return word.text, nil
}

// ruleOperators are the accepted operators. The value is set for those with an argument.
var ruleOperators = map[string]bool{
	"rx": true, "rxGlobal": true, "pm": true, "streq": true, "contains": true, "containsWord": true, "beginsWith": true, "endsWith": true, "within": true, "strmatch": true,
	"eq": true, "ge": true, "gt": true, "le": true, "lt": true, "ipMatch": true, "validateByteRange": true, "verifyCC": true, "verifyCPF": true, "verifySSN": true, "verifySVNR": true,
	"detectSQLi": false, "detectXSS": false, "noMatch": false, "unconditionalMatch": false, "validateUrlEncoding": false, "validateUtf8Encoding": false,
}

// writeOperator writes an operator with its name. Without one it is rx.
func writeOperator(word ruleWord) (string, error) {
	text, not := strings.TrimLeft(word.text, " \t"), ""
	if after, ok := strings.CutPrefix(text, "!"); ok {
		text, not = strings.TrimLeft(after, " \t"), "!"
	}
	name := "rx"
	if after, ok := strings.CutPrefix(text, "@"); ok {
		end := strings.IndexAny(after+" ", " \t")
		name, text = after[:end], strings.TrimLeft(after[end:], " \t")
	}
	for known, takes := range ruleOperators {
		if !strings.EqualFold(known, name) {
			continue
		}
		ofPattern, wrong := known == "rx" || known == "rxGlobal", ""
		if ofPattern {
			wrong = badPattern(text)
		}
		switch {
		case wrong != "":
			return "", fmt.Errorf("the pattern of @%s is not valid: %s", known, wrong)
		case word.quotes && !ofPattern:
			return "", fmt.Errorf("the argument of @%s has a quote, which only a pattern can have", known)
		case takes == (text == ""):
			return "", fmt.Errorf("want @%s %s", known, map[bool]string{true: "with an argument", false: "without an argument"}[takes])
		case strings.HasSuffix(strings.TrimRight(text, " \t"), `\`):
			return "", fmt.Errorf("the argument of @%s ends with a backslash", known)
		case !takes:
			return `"` + not + "@" + known + `"`, nil
		}
		return `"` + not + "@" + known + " " + text + `"`, nil
	}
	return "", fmt.Errorf("the operator @%s is not accepted: want one that docs/modsecurity.md lists", model.OneLine(name, 60))
}

// badPattern returns why PCRE rejects the pattern of a rule, "" if it may accept it.
// ModSecurity takes such a rule, which then never matches. Patterns with a macro, such as
// %{tx.a}, are complete only when the rule runs.
func badPattern(pattern string) string {
	if strings.Contains(pattern, "%{") {
		return ""
	}
	return pcre.Rejection(pattern, 0)
}

// ruleAction is the form of an action: the pattern of its value, nil for none. quoted is set
// if the value is printed in single quotes.
type ruleAction struct {
	value  *regexp.Regexp
	quoted bool
}

var (
	actionWord = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)
	// actionText has no quote and no backslash, so that it ends where this package says.
	actionText = regexp.MustCompile(`^[^'"\\]+$`)
	// ofTransaction matches variables that end with the request. Other collections are
	// those of all Ingresses.
	ofTransaction = regexp.MustCompile(`^!?[tT][xX]\.[^'"\\]+$`)
	control       = regexp.MustCompile(`^(?:(?i:ruleEngine)=(?:On|Off|DetectionOnly)|(?i:auditEngine)=(?:On|Off|RelevantOnly)|(?i:ruleRemoveById)=[0-9-]+|(?i:ruleRemoveBy(?:Tag|Msg))=[a-zA-Z0-9_./-]+|` +
		`(?i:ruleRemoveTargetById)=[0-9-]+;[a-zA-Z0-9_:./*^$-]+|(?i:ruleRemoveTargetByTag)=[a-zA-Z0-9_./-]+;[a-zA-Z0-9_:./*^$-]+|` +
		`(?i:(?:request|response)BodyAccess|forceRequestBodyVariable)=(?:On|Off)|(?i:requestBodyProcessor)=(?:XML|JSON|URLENCODED|MULTIPART))$`)
)

var ruleActions = map[string]ruleAction{
	"id": {count, false}, "phase": {regexp.MustCompile(`^(?:[1-5]|request|response|logging)$`), false},
	"msg": {actionText, true}, "logdata": {actionText, true}, "tag": {actionText, true}, "ver": {actionText, true}, "rev": {actionText, true}, "redirect": {actionText, true},
	"severity": {actionWord, true}, "maturity": {actionWord, true}, "accuracy": {actionWord, true}, "t": {actionWord, false}, "skip": {count, false}, "skipAfter": {actionWord, false},
	"status": {regexp.MustCompile(`^[1-5][0-9][0-9]$`), false}, "setvar": {ofTransaction, true}, "ctl": {control, false},
	"deny": {}, "block": {}, "pass": {}, "drop": {}, "chain": {}, "capture": {}, "multiMatch": {}, "log": {}, "nolog": {}, "auditlog": {}, "noauditlog": {}, "allow": {},
}

// writeActions checks the actions of a rule, and writes them in quotes.
func writeActions(word ruleWord) (line string, chained bool, err error) {
	if word.quotes {
		return "", false, fmt.Errorf("the actions have a double quote")
	}
	items, err := splitActions(word.text)
	if err != nil {
		return "", false, err
	}
	for i, item := range items {
		written, err := writeAction(item)
		if err != nil {
			return "", false, err
		}
		items[i] = written
	}
	return `"` + strings.Join(items, ",") + `"`, slices.Contains(items, "chain"), nil
}

// splitActions splits a list at the commas outside of single quotes.
func splitActions(text string) ([]string, error) {
	var items []string
	quoted, start := false, 0
	for i, c := range text + "," {
		switch {
		case c == '\'' && i < len(text):
			quoted = !quoted
		case c == ',' && !quoted:
			items = append(items, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	if quoted {
		return nil, fmt.Errorf("the actions have an open single quote")
	}
	return items, nil
}

func writeAction(item string) (string, error) {
	name, value, hasValue := strings.Cut(item, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if inner, ok := strings.CutPrefix(value, "'"); ok && strings.HasSuffix(inner, "'") {
		value = strings.TrimSuffix(inner, "'")
	}
	for known, form := range ruleActions {
		if !strings.EqualFold(known, name) {
			continue
		}
		switch {
		case form.value == nil && !hasValue:
			return known, nil
		case form.value == nil, !form.value.MatchString(value):
			return "", fmt.Errorf("the action %s is not accepted: see docs/modsecurity.md", model.Quoted(item))
		case known == "id" && isReservedRule(value):
			return "", fmt.Errorf("the id %s is reserved for rules of Sluice and of the OWASP core rule set: want one below %d", value, firstRuleOfSluice)
		case form.quoted:
			return known + ":'" + value + "'", nil
		}
		return known + ":" + value, nil
	}
	return "", fmt.Errorf("the action %s is not accepted: see docs/modsecurity.md", model.Quoted(item))
}

func isReservedRule(id string) bool {
	n, err := strconv.Atoi(id)
	return err != nil || n >= firstRuleOfSluice && n <= lastRuleOfSluice || n == setupRule || n >= firstCoreRule && n <= lastCoreRule
}
