package arch

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// machinePath matches absolute paths that exist on one machine only. The parts
// are joined here so that this file does not hold what it looks for.
var machinePath = regexp.MustCompile(`(^|[^\w/.:*-])/(` + strings.Join([]string{"work", "farm", "root", "home/[a-z]{2,}", "Users/[A-Za-z]{2,}", "tmp/facts", "tmp/sluice/"}, "|") + `)(/|\s|["'` + "`" + `)]|$)`)

// machinePaths finds lines that name a path of one machine.
func machinePaths(path, text string) []string {
	var found []string
	for i, line := range strings.Split(text, "\n") {
		if match := machinePath.FindString(line); match != "" {
			found = append(found, fmt.Sprintf("%s:%d: names a path of one machine: %q", path, i+1, strings.TrimSpace(match)))
		}
	}
	return found
}

func TestNoMachinePaths(t *testing.T) {
	t.Parallel()
	for path, text := range files(t, "") {
		if path != "test/arch/paths_test.go" {
			report(t, machinePaths(path, text))
		}
	}
}

func TestPathRuleRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"cd /work/main", `"/root/go/bin"`, "see /home/jane/notes.txt", "/tmp/facts/x", "(/Users/Jane/x)"} {
		mustRefuse(t, bad, machinePaths("x", bad))
	}
	for _, good := range []string{"/etc/nginx/nginx.conf", "https://example.org/work/x", "test/work/x", "/workers", "/homepage", "/tmp/sluice.XXXXXX"} {
		mustTake(t, good, machinePaths("x", good))
	}
}
