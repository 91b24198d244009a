package keys

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/pcre"
)

// DeniedPath are paths that are refused with a status.
type DeniedPath struct {
	// Pattern matches the decoded path of the request, in whatever case.
	Pattern string `json:"pattern"`
	Code    int    `json:"code"`
	// Steps is the number of steps that the pattern may take. Beyond it, nginx returns 500.
	Steps int `json:"steps,omitempty"`
	// Line is the line as written.
	Line string `json:"-"`
}

// Bounds returns the pattern and the steps that it may take.
func (d DeniedPath) Bounds() (pattern string, steps int) { return d.Pattern, d.Steps }

// DeniedPaths are tried in the order of their lines.
type DeniedPaths []DeniedPath

// plainPath matches a path as nginx compares it: decoded, and without what it takes out of
// every request.
var plainPath = regexp.MustCompile(`^/[^\x00-\x20\x7f%*?#]*$`)

// isPlainPath reports whether a request can have a path.
func isPlainPath(path string) bool {
	return plainPath.MatchString(path) && len(path) <= longestPath && !strings.Contains(path, "//") && !strings.Contains(path+"/", "/./") && !strings.Contains(path+"/", "/../")
}

// longestPath is the maximum length of a path of a line, and of a pattern.
const longestPath = 500

// UnmarshalText accepts lines such as "/admin", "/internal/* 404" and "~ \.(git|env)".
func (d *DeniedPaths) UnmarshalText(text []byte) error {
	var list DeniedPaths
	err := readLines(text, func(line string) error {
		path, code := line, 403
		if words := strings.Fields(line); len(words) > 1 && isStatus(words[len(words)-1]) {
			path = strings.TrimSpace(strings.TrimSuffix(line, words[len(words)-1]))
			code, _ = strconv.Atoi(words[len(words)-1])
		}
		if code != 403 && code != 404 {
			return wrongLine(line, "want the status 403 or 404")
		}
		pattern, wrong := deniedPattern(path)
		if wrong != "" {
			return wrongLine(line, "%s", wrong)
		}
		list = append(list, DeniedPath{Pattern: pattern, Code: code, Line: line})
		return nil
	})
	list.shareSteps()
	*d = list
	return err
}

// All reports whether a line refuses all paths.
func (d DeniedPaths) All() bool {
	return slices.ContainsFunc(d, func(line DeniedPath) bool { return strings.Fields(line.Line)[0] == "/*" })
}

// mostHard is the number of hard patterns with the whole limit of steps each.
const mostHard = 10

// shareSteps divides the steps of ten patterns among more hard ones. nginx tries all lines
// on one request, so many of them hold up a worker no longer than ten.
func (d DeniedPaths) shareSteps() {
	hard := 0
	for i := range d {
		d[i].Steps = pcre.LeastSteps
		if pcre.Hard(d[i].Pattern) {
			hard++
		}
	}
	for i := range d {
		if hard > mostHard && pcre.Hard(d[i].Pattern) {
			d[i].Steps = pcre.LeastSteps * mostHard / hard
		}
	}
}

func isStatus(word string) bool {
	n, err := strconv.Atoi(word)
	return err == nil && len(word) == 3 && n >= 100
}

// deniedPattern returns the pattern of a path as written, or what is wrong with it.
func deniedPattern(path string) (pattern, wrong string) {
	if written, ok := strings.CutPrefix(path, "~"); ok {
		return writtenPattern(strings.TrimSpace(written))
	}
	below, isBelow := strings.CutSuffix(path, "/*")
	beginning, isBeginning := strings.CutSuffix(path, "*")
	switch {
	case isBelow && (below == "" || isPlainPath(below)):
		return "^" + pcre.Quote(below) + "(?:/|$)", ""
	case !isBelow && isBeginning && isPlainPath(beginning):
		return "^" + pcre.Quote(beginning), ""
	case isPlainPath(path):
		return "^" + pcre.Quote(path) + "$", ""
	}
	return "", `want a path that begins with /, decoded, with * at its end or not, or "~" and a regular expression`
}

// groupsThatName are the beginnings of named groups, which set variables, and of verbs.
var groupsThatName = []string{"(?<", "(?P<", "(?'", "(*"}

// anyByte lets a point match line ends too, which a client can send as %0a.
const anyByte = "(?s)"

// writtenPattern checks a pattern that a user wrote.
func writtenPattern(pattern string) (checked, wrong string) {
	_, err := pcre.Compile(pattern, pcre.Caseless)
	switch {
	case pattern == "" || len(pattern) > longestPath:
		return "", "want a regular expression of 1 to 500 bytes"
	case slices.ContainsFunc(groupsThatName, func(group string) bool { return strings.Contains(pattern, group) }):
		return "", "want a regular expression without named groups, lookbehind and verbs"
	case err != nil:
		return "", "want a regular expression: " + err.Error()
	}
	return anyByte + pattern, ""
}
