package docs

import (
	"fmt"
	"regexp"
	"strings"

	"sluice/test/pages"
)

// cut is what stands for what is left out: any number of lines if it is a line of
// its own, and any text within a line.
const cut = "…"

// allowances are the parts of what is shown that may be otherwise when the
// command is run again, each with what is allowed in its place. The first that
// fits holds.
var allowances = []struct{ shown, printed string }{
	{cut, `.*`},
	{`<[a-z][a-z0-9 -]*>`, `.+`}, // a placeholder, such as <address>
	{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`, `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`},
	{`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`, `[0-9a-f-]{36}`},
	// The last parts of the names of a Deployment's pods, which have no vowels.
	{`-[b-df-hj-np-tv-z0-9]{1,10}-[b-df-hj-np-tv-z0-9]{5}\b`, `-[b-df-hj-np-tv-z0-9]{1,10}-[b-df-hj-np-tv-z0-9]{5}`},
	// Addresses of pods and of Services, of the cluster of the tests.
	{`\b10\.(244|96)\.\d+\.\d+\b`, `10\.(244|96)\.\d+\.\d+`},
	// Ages in the last column of a table, and times that a log names.
	{` {2,}(\d+[dhms])+$`, `\s+(\d+[dhms])+`},
	{`\btook=[0-9.]+(µs|ms|s)`, `took=[0-9.]+(µs|ms|s)`},
	// The columns of a table are as wide as what is in them.
	{` {2,}`, `\s+`},
}

var allowed = func() *regexp.Regexp {
	var each []string
	for _, a := range allowances {
		each = append(each, "("+strings.ReplaceAll(a.shown, "(", "(?:")+")")
	}
	return regexp.MustCompile(strings.Join(each, "|"))
}()

// pattern makes of a line that is shown what may be printed.
func pattern(shown string) *regexp.Regexp {
	text := strings.TrimLeft(shown, " ")
	var out strings.Builder
	out.WriteString("^" + shown[:len(shown)-len(text)]) // indentation counts
	at := 0
	for _, found := range allowed.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(regexp.QuoteMeta(text[at:found[0]]))
		for i, a := range allowances {
			if found[2+2*i] >= 0 {
				out.WriteString(a.printed)
			}
		}
		at = found[1]
	}
	out.WriteString(regexp.QuoteMeta(text[at:]) + "$")
	return regexp.MustCompile(out.String())
}

// Differs compares what is shown with what was printed, and says where they
// differ; "" where they do not. What may differ is in allowances.
func Differs(shown []string, printed string) string {
	lines := pages.TrimBlank(strings.Split(printed, "\n"))
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	reached := 0
	if matches(shown, lines, 0, &reached) {
		return ""
	}
	if reached >= len(shown) {
		return "more was printed than is shown"
	}
	return fmt.Sprintf("this was not printed in its place: %s", shown[reached])
}

// matches says whether all lines that are shown fit all that were printed.
// reached becomes the index of the furthest line that had to fit.
func matches(shown, printed []string, at int, reached *int) bool {
	*reached = max(*reached, at)
	if at == len(shown) {
		return len(printed) == 0
	}
	if strings.TrimSpace(shown[at]) == cut {
		for skipped := range len(printed) + 1 {
			if matches(shown, printed[skipped:], at+1, reached) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && pattern(strings.TrimRight(shown[at], " ")).MatchString(printed[0]) && matches(shown, printed[1:], at+1, reached)
}

// Holds says whether lines that are shown are somewhere in what was printed, one
// after the other.
func Holds(shown []string, printed string) string {
	return Differs(append(append([]string{cut}, shown...), cut), printed)
}
